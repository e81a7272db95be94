import { basename } from "node:path";
import { asFields, jsonIn } from "../../kernel/json-fields.ts";
import type { AdapterSpec } from "../adapter-spec.ts";
import { withInstructions } from "../dialogue/repository-instructions.ts";
import { openCodeEnvironment } from "../opencode/invocation.ts";
import type { Instructions, Invocation } from "../port.ts";

export interface AcpPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly projectSettings: boolean;
  readonly instructions?: Instructions | undefined;
}

/** What is particular to a program that speaks ACP. */
interface KnownAgent {
  /** What makes it speak ACP, when the config has no `args`. */
  readonly args: readonly string[];
  /** Keeps it from changing itself, and from the repository's own settings unless these are allowed. */
  env(place: AcpPlace): Readonly<Record<string, string>>;
  /** Goes with the request for a session. */
  meta?(place: AcpPlace): unknown;
  /** It gets the repository's instructions as a file; others get them with the prompt. */
  readonly readsFile?: true;
}

const KNOWN: Readonly<Record<string, KnownAgent>> = {
  gemini: {
    args: ["--acp"],
    env: ({ projectSettings }) => ({ GEMINI_CLI_TRUST_WORKSPACE: String(projectSettings) }),
  },
  opencode: {
    args: ["acp"],
    env: ({ env, projectSettings, instructions }) =>
      openCodeEnvironment({
        projectSettings,
        instructions: instructions?.file,
        configContent: env.OPENCODE_CONFIG_CONTENT,
      }),
    readsFile: true,
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
  },
};

/** Said explicitly: a project that Codex knows nothing about may start programs. */
function codexConfig(cwd: string, given: string | undefined, projectSettings: boolean): string {
  const projects = { [cwd]: { trust_level: projectSettings ? "trusted" : "untrusted" } };
  // What the worktree says to agents is told even of a project that is not trusted.
  const untold = projectSettings ? {} : { project_doc_max_bytes: 0, skills: { include_instructions: false } };
  return JSON.stringify({
    ...asFields(jsonIn(given ?? "{}")),
    check_for_update_on_startup: false,
    projects,
    ...untold,
  });
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
  const known = knownAgent(command);
  const hasThem = known === undefined || known.readsFile || place.projectSettings;
  return hasThem ? prompt : withInstructions(prompt, place.instructions);
}
