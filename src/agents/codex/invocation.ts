import type { AdapterSpec } from "../adapter-spec.ts";
import { asSessionId } from "../dialogue/session-id.ts";
import type { Invocation } from "../port.ts";

export interface CodexStart {
  /** The working directory under every name that it has: as given, and with links resolved. */
  readonly folders: readonly string[];
  readonly model?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly sandboxed: boolean;
}

/**
 * What keeps the model from being told what stands in the worktree: skills are told even of a project that is not
 * trusted, and have no switch of their own; instructions are, where Codex runs as a server.
 */
const UNTOLD = ["skills.include_instructions=false", "project_doc_max_bytes=0"] as const;

/** How Codex is started without its interface; the prompt comes on stdin. */
export function codexInvocation(spec: AdapterSpec, start: CodexStart): Invocation {
  const options = [
    // Without this every start waits some seconds for a list of plugins.
    ...["--disable", "plugins"],
    ...["-c", "check_for_update_on_startup=false"],
    ...["-c", `projects=${trust(start.folders, spec.projectSettings)}`],
    ...(spec.projectSettings ? [] : UNTOLD.flatMap((setting) => ["-c", setting])),
    // Its own sandbox can do nothing inside ours, and refuses every command.
    ...(start.sandboxed ? ["--dangerously-bypass-approvals-and-sandbox"] : ["--sandbox", "workspace-write"]),
    ...(start.model === undefined ? [] : ["--model", start.model]),
    ...(spec.args ?? []),
  ];
  const sessionId = asSessionId(start.sessionId);
  const task = sessionId === undefined ? ["-"] : ["resume", sessionId, "-"];
  return { program: spec.command, args: ["exec", "--json", ...options, ...task] };
}

/**
 * A project that Codex knows nothing about counts as trusted in a run without questions: it starts the programs that the
 * repository's `.codex/config.toml` names. Only an explicit word stops that. Dotted keys cannot hold a path, so a table.
 */
function trust(folders: readonly string[], trusted: boolean): string {
  const level = trusted ? "trusted" : "untrusted";
  const entries = [...new Set(folders)].map((folder) => `${JSON.stringify(folder)}={trust_level="${level}"}`);
  return `{${entries.join(",")}}`;
}
