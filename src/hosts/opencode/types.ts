import type { Helpers } from "./closing.ts";

/** What of OpenCode's plugin interface is used, as it was seen in the program. It is not ours to trust: fields may be missing. */
export interface PluginInput {
  readonly directory?: string;
  readonly client: OpenCodeClient;
}

export interface OpenCodeClient {
  readonly session: {
    get(options: { path: { id: string } }): Promise<{ data?: { id?: string; parentID?: string } }>;
    messages?(options: { path: { id: string }; query: { limit: number } }): Promise<{ data?: readonly Message[] }>;
    abort(options: { path: { id: string } }): Promise<unknown>;
    update(options: { path: { id: string }; body: { permission: readonly PermissionRule[] } }): Promise<unknown>;
  };
  readonly app?: { log?(options: { body: { service: string; level: string; message: string } }): Promise<unknown> };
  readonly tui?: {
    showToast?(options: { body: { title: string; message: string; variant: string } }): Promise<unknown>;
  };
}

export interface PermissionRule {
  readonly permission: string;
  readonly pattern: string;
  readonly action: "allow" | "deny" | "ask";
}

export interface ToolContext {
  readonly sessionID: string;
  readonly callID?: string;
  readonly messageID: string;
  readonly abort?: AbortSignal;
}

export interface ToolDefinition {
  readonly description: string;
  readonly args: Readonly<Record<string, unknown>>;
  execute(args: unknown, context: ToolContext): Promise<string>;
}

export interface Message {
  readonly info: { readonly role: string; readonly sessionID: string };
  parts: MessagePart[];
}

export interface MessagePart {
  readonly id?: string;
  readonly type: string;
  text?: string;
  readonly tool?: string;
  readonly callID?: string;
  readonly state?: { readonly status?: string; output?: string };
  readonly [more: string]: unknown;
}

interface ToolHookInput {
  readonly tool: string;
  readonly sessionID: string;
  readonly callID: string;
}

/** What a tool brought. That of an MCP server is a list, which the program makes words of later. */
export interface ToolOutput {
  output?: string;
  readonly content?: unknown;
  readonly metadata?: unknown;
}

/** The hooks that we fill. */
export interface OpenCodeHooks {
  config?(config: { permission?: unknown; readonly agent?: unknown } & Helpers): Promise<void>;
  event?(input: { event: { type: string; properties?: unknown } }): Promise<void>;
  tool?: Readonly<Record<string, ToolDefinition>>;
  "chat.message"?(input: { sessionID: string }, output: unknown): Promise<void>;
  "tool.execute.before"?(input: ToolHookInput, output: { args: unknown }): Promise<void>;
  "tool.execute.after"?(input: ToolHookInput & { readonly args?: unknown }, output: ToolOutput): Promise<void>;
  "experimental.chat.messages.transform"?(input: unknown, output: { messages: Message[] }): Promise<void>;
  "experimental.session.compacting"?(input: { sessionID: string }, output: { context: string[] }): Promise<void>;
}
