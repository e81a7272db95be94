import { basename } from "node:path";
import type { AdapterSpec } from "../adapter-spec.ts";
import { firstFile } from "../instruction-file.ts";
import { INSTRUCTION_FILES, openCodeEnvironment } from "../opencode/invocation.ts";
import type { Invocation } from "../port.ts";
import { withInstructions } from "../repository-instructions.ts";

export interface AcpPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly projectSettings: boolean;
}

/** What is particular to a program that speaks ACP. */
interface KnownAgent {
  /** What makes it speak ACP, when the config has no `args`. */
  readonly args: readonly string[];
  /** Keeps it from changing itself, and from the repository's own settings unless these are allowed. */
  env(place: AcpPlace): Readonly<Record<string, string>>;
  /** Goes with the request for a session. */
  meta?(place: AcpPlace): unknown;
  /** A repository's instructions that it leaves out together with its settings. */
  readonly unread?: readonly string[];
}

const KNOWN: Readonly<Record<string, KnownAgent>> = {
  gemini: {
    args: ["--acp"],
    env: ({ projectSettings }) => ({ GEMINI_CLI_TRUST_WORKSPACE: String(projectSettings) }),
    unread: ["GEMINI.md", "AGENTS.md"],
  },
  opencode: {
    args: ["acp"],
    env: ({ cwd, env, projectSettings }) =>
      openCodeEnvironment({
        cwd,
        projectSettings,
        instructions: firstFile(cwd, INSTRUCTION_FILES),
        configContent: env.OPENCODE_CONFIG_CONTENT,
      }),
  },
  "claude-agent-acp": {
    args: [],
    env: () => ({ DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", DISABLE_ERROR_REPORTING: "1" }),
    meta: ({ projectSettings }) => ({
      claudeCode: { options: { settingSources: projectSettings ? ["user", "project"] : ["user"] } },
    }),
  },
  "codex-acp": {
    args: [],
    env: ({ cwd, env, projectSettings }) => ({ CODEX_CONFIG: codexConfig(cwd, env.CODEX_CONFIG, projectSettings) }),
    unread: ["AGENTS.md"],
  },
};

/** Said in so many words: a project that Codex knows nothing about may start programs. */
function codexConfig(cwd: string, given: string | undefined, projectSettings: boolean): string {
  const projects = { [cwd]: { trust_level: projectSettings ? "trusted" : "untrusted" } };
  return JSON.stringify({ ...parsed(given ?? "{}"), check_for_update_on_startup: false, projects });
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function knownAgent(command: string): KnownAgent | undefined {
  const name = basename(command);
  return Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
}

/** How an agent that speaks ACP is started. */
export function acpInvocation(spec: Pick<AdapterSpec, "command" | "args">): Invocation {
  return { program: spec.command, args: spec.args ?? knownAgent(spec.command)?.args ?? [] };
}

/** What a program that prloom knows is to find in its environment. */
export function acpEnvironment(command: string, place: AcpPlace): Readonly<Record<string, string>> {
  return knownAgent(command)?.env(place) ?? {};
}

/** What a program that prloom knows is told with the request for a session. */
export function acpSessionMeta(command: string, place: AcpPlace): unknown {
  return knownAgent(command)?.meta?.(place);
}

/** The prompt of a new conversation, with the instructions that the program would leave out. */
export function acpPrompt(command: string, place: AcpPlace, prompt: string): string {
  const unread = place.projectSettings ? [] : (knownAgent(command)?.unread ?? []);
  return withInstructions(prompt, place.cwd, unread);
}
