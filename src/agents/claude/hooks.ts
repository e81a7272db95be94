import { asFields, asFieldsList, asString, type JsonFields } from "../../kernel/json-fields.ts";
import { asCallId } from "../dialogue/call-ids.ts";
import type { Heard, Tell } from "../dialogue/dialogue.ts";
import type { Overseer, Permission, SubAgent, Told } from "../port.ts";
import { successLine } from "./messages.ts";

const EVENTS = ["PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "PreCompact", "UserPromptSubmit"];

/** Longer than any answer of ours takes. A call that no hook answered for is not made by 2.1.325; other versions would have to ask. */
const TIMEOUT_SECONDS = 60;

/** Has the program ask before each call and tell what came of it. What settings say about hooks does not concern these. */
export function initializeLine(): string {
  const hooks = EVENTS.map((event) => [event, [{ hookCallbackIds: [event], timeout: TIMEOUT_SECONDS }]]);
  const request = { subtype: "initialize", hooks: Object.fromEntries(hooks) };
  return JSON.stringify({ type: "control_request", request_id: "prloom-initialize", request });
}

/**
 * Settings that count before those of the user: whatever these allow, each call is asked about once more, with its final
 * arguments. So one that no hook answered for is judged all the same, and one that another hook rewrote is judged as it then is.
 */
const PERMISSIONS = { ask: ["*"], disableBypassPermissionsMode: "disable" };

/** The one variable that switches hooks off, those on the pipe as well: a script of the agent can write it into settings, which count at once. */
export const HOOKS_ON = { CLAUDE_CODE_SIMPLE: "0" } as const;

/** The hook that is asked before the model is. */
const FIRST = '"callback_id":"UserPromptSubmit"';

/** The model of answers that the program itself gives. */
export const NO_MODEL = "<synthetic>";

/**
 * Whether our hooks were asked before the model answered; undefined while it has not. What an agent makes the program print
 * comes later: what comes first decides.
 */
export function hooksInForce(lines: Iterable<string>): boolean | undefined {
  for (const line of lines) {
    if (line.startsWith('{"type":"control_request"') && line.includes(FIRST)) return true;
    if (line.startsWith('{"type":"assistant"') && !line.includes(`"model":"${NO_MODEL}"`)) return false;
  }
  return undefined;
}

/**
 * A file that a CLAUDE.md names is read by the program itself, also where the agent wrote that CLAUDE.md a moment ago. Of a
 * repository whose settings count, only what can be instructions is read: no keys, no tokens.
 */
const NOT_INSTRUCTIONS = ["**/!(*.md|*.mdc|*.markdown)"];

/** Arguments with which the program asks us. Behind those of the user, who may have others of the same name. */
export function overseenArgs({ server, shell }: Overseer, projectSettings: boolean): string[] {
  // As variables of settings, which count before those of the user's settings and of the environment.
  const env = {
    ...{ SHELL: shell, CLAUDE_CODE_SHELL: shell },
    ...HOOKS_ON,
    // A path behind an `@` would be read by the program itself, without a call that we judge, and issues and comments are in prompts.
    CLAUDE_CODE_DISABLE_FILE_MENTIONS: "1",
  };
  const imports = projectSettings ? { claudeMdExcludes: NOT_INSTRUCTIONS } : {};
  return [
    ...["--permission-mode", "default", "--permission-prompt-tool", "stdio"],
    ...["--mcp-config", JSON.stringify({ mcpServers: { prloom: { type: "stdio", ...server } } })],
    ...["--settings", JSON.stringify({ permissions: PERMISSIONS, env, ...imports })],
  ];
}

/** Which call started which sub-agent, as the program tells it. */
export type Starts = ReadonlyMap<string, string>;

export function subAgentIn(fields: JsonFields, starts: Starts): { readonly by?: SubAgent } {
  const session = asCallId(fields.agent_id);
  if (session === undefined) return {};
  const startedBy = starts.get(session);
  return { by: { session, ...(startedBy === undefined ? {} : { startedBy }) } };
}

/** What a hook says; undefined for one that we do not know. */
export function heardHook(id: string, request: JsonFields, starts: Starts): Heard | undefined {
  const input = asFields(request.input);
  const event = asString(input.hook_event_name) ?? "";
  const tool = asString(input.tool_name);
  const callId = asCallId(input.tool_use_id);
  if (event === "PreToolUse") {
    const asked = { tool: tool ?? "", input: input.tool_input ?? {}, reads: false, question: `May ${tool} be used?` };
    const folder = asString(input.cwd);
    const call = { ...(callId === undefined ? {} : { callId }), ...(folder === undefined ? {} : { folder }) };
    return {
      events: [],
      ask: {
        request: { ...asked, ...call, ...subAgentIn(input, starts) },
        answer: (permission) => ({ events: [], write: [successLine(id, decision(permission))] }),
      },
    };
  }
  const response = asFields(input.tool_response);
  const said = asString(input.prompt) ?? reportIn(response);
  const who = { ...subAgentIn(input, starts), ...(said === undefined ? {} : { said }) };
  const told = event === "PostToolUse" ? ended(callId, hasPassed(response), who) : toldBy(event, callId, who);
  return told && { events: [], tell: { told, answer: answering(id, event) } };
}

interface Who {
  readonly by?: SubAgent;
  readonly said?: string;
}

const ended = (callId: string | undefined, ok: boolean, who: Who): Told | undefined =>
  callId === undefined ? undefined : { kind: "ended", callId, ok, ...who };

/**
 * For Claude Code no error is a command that ends with 1 behind a `grep` or `diff`, whichever of its parts did: then it says what that
 * means. Nor is one that goes on in the background.
 */
const hasPassed = ({ returnCodeInterpretation: meaning, backgroundTaskId: left }: JsonFields): boolean =>
  [meaning, left].every((said) => (asString(said) ?? "") === "");

function toldBy(event: string, callId: string | undefined, who: Who): Told | undefined {
  switch (event) {
    case "PostToolUseFailure":
      return ended(callId, false, who);
    case "SubagentStart":
      return who.by && { kind: "sub-agent", by: who.by };
    case "UserPromptSubmit":
      return { kind: "prompt", ...who };
    case "PreCompact":
      return { kind: "compaction", ...who };
    default:
      return undefined;
  }
}

/** The program puts it in front of what a sub-agent said. */
const USED_TOOLS = /<tools-used-before-summary>[^<]*<\/tools-used-before-summary>\s*/;

/** What a sub-agent said at its end; undefined for other tools. */
function reportIn({ agentId, content }: JsonFields): string | undefined {
  if (asString(agentId) === undefined) return undefined;
  const texts = asFieldsList(content).map(({ text }) => (asString(text) ?? "").replace(USED_TOOLS, ""));
  return texts.join("\n").trim() || undefined;
}

function decision(permission: Permission): JsonFields {
  const { allow } = permission;
  const why = allow ? permission.note : permission.reason;
  return specific("PreToolUse", {
    permissionDecision: allow ? "allow" : "deny",
    ...(why === undefined ? {} : allow ? { additionalContext: why } : { permissionDecisionReason: why }),
  });
}

const answering =
  (id: string, event: string): Tell["answer"] =>
  ({ text, note, ends }) => {
    const said =
      note === undefined
        ? text === undefined
          ? {}
          : saying(event, text)
        : specific(event, { additionalContext: note });
    return { events: [], write: [successLine(id, said), ...(ends === undefined ? [] : [stopLine(ends)])] };
  };

function saying(event: string, text: string): JsonFields {
  if (event === "PostToolUse") return specific(event, { updatedMCPToolOutput: [{ type: "text", text }] });
  // The only words of a callback that the summary is made with.
  if (event === "PreCompact") return { systemMessage: text };
  return specific(event, { additionalContext: text });
}

const specific = (hookEventName: string, fields: JsonFields): JsonFields => ({
  hookSpecificOutput: { hookEventName, ...fields },
});

/** Ends a sub-agent. */
function stopLine(task_id: string): string {
  const request = { subtype: "stop_task", task_id };
  return JSON.stringify({ type: "control_request", request_id: `prloom-stop-${task_id}`, request });
}
