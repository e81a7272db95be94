import { asFields, type JsonFields, jsonIn } from "../../kernel/json-fields.ts";
import type { AdapterSpec } from "../adapter-spec.ts";
import { asSessionId } from "../dialogue/session-id.ts";
import type { Governed, Invocation, Stage } from "../port.ts";

export interface OpenCodeStart {
  readonly stage: Stage;
  readonly model?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly sandboxed: boolean;
}

/** How OpenCode is started without its interface; the prompt comes on stdin. */
export function openCodeInvocation(spec: AdapterSpec, start: OpenCodeStart): Invocation {
  const sessionId = asSessionId(start.sessionId);
  const options = [
    ...["--format", "json"],
    // It says nothing about a provider that refuses, and tries again in silence: only its log tells.
    ...["--print-logs", "--log-level", "WARN"],
    // In a sandbox no question is needed. Elsewhere what would be asked is refused: writing outside the worktree.
    ...(start.sandboxed ? ["--auto"] : []),
    // Without a title it asks a model for one.
    ...(sessionId === undefined ? ["--title", `prloom ${start.stage}`] : ["--session", sessionId]),
    ...(start.model === undefined ? [] : ["--model", start.model]),
    ...(spec.args ?? []),
  ];
  return { program: spec.command, args: ["run", ...options] };
}

export interface OpenCodeSurroundings {
  readonly projectSettings: boolean;
  /** A file with the repository's instructions, absolute. */
  readonly instructions?: string | undefined;
  /** OPENCODE_CONFIG_CONTENT as the user set it. */
  readonly configContent?: string | undefined;
  /** OPENCODE_PERMISSION as the user set it. */
  readonly permission?: string | undefined;
  readonly governed?: Governed | undefined;
}

/** What OpenCode finds in its environment: it does not change itself, shares nothing, and leaves the repository's settings. */
export function openCodeEnvironment(around: OpenCodeSurroundings): Record<string, string> {
  return {
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_SHARE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_CONFIG_CONTENT: JSON.stringify(configOf(around)),
    // It would count after ours: what is in it is among our rules.
    ...(around.governed ? { ...around.governed.env, OPENCODE_PERMISSION: "" } : {}),
    ...(around.projectSettings ? {} : { OPENCODE_DISABLE_PROJECT_CONFIG: "1", OPENCODE_DISABLE_EXTERNAL_SKILLS: "1" }),
  };
}

function configOf(around: OpenCodeSurroundings): object {
  const { projectSettings, instructions, configContent, governed } = around;
  const given = asFields(jsonIn(configContent ?? "{}"));
  const own = Array.isArray(given.instructions) ? given.instructions : [];
  // The switch for settings takes the instructions with it, which are only read.
  const read = projectSettings || instructions === undefined ? own : [...own, instructions];
  return {
    ...given,
    ...(read.length === 0 ? {} : { instructions: read }),
    ...(governed ? governing(governed, given, around.permission) : {}),
    // Else one refused call ends the whole run, with exit code 0.
    experimental: { continue_loop_on_deny: true, ...asFields(given.experimental) },
  };
}

/** A server whose tools OpenCode would call like ours, `govern_shell` among them, and prefer to ours. */
const NAMESAKE = "govern";

/**
 * Nothing that changes something is allowed until our plugin lifts it: where that is missing, broken or switched off, nothing is
 * written. It comes last, and so sees the arguments that other plugins have changed.
 */
function governing({ plugin, shell, close }: Governed, given: JsonFields, permission = "{}"): object {
  const plugins = Array.isArray(given.plugin) ? given.plugin : [];
  const servers = asFields(given.mcp);
  const mcp = { ...servers, [NAMESAKE]: { ...asFields(servers[NAMESAKE]), enabled: false } };
  return { ...close(given, jsonIn(permission)), shell, mcp, plugin: [...plugins, plugin] };
}
