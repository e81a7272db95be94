import type { AdapterSpec } from "../adapter-spec.ts";
import { sessionArgs } from "../dialogue/session-id.ts";
import type { Invocation, Overseer } from "../port.ts";
import { HOOKS_ON, overseenArgs } from "./hooks.ts";

export interface ClaudeStart {
  readonly model?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly sandboxed: boolean;
  /** A file with the repository's instructions, absolute. */
  readonly instructions?: string | undefined;
  readonly overseer?: Overseer | undefined;
}

/** How Claude Code is started without its interface; prompt and messages come on stdin, a line of JSON each. */
export function claudeInvocation(spec: AdapterSpec, start: ClaudeStart): Invocation {
  const { model, instructions, overseer } = start;
  const args = [
    ...["-p", "--output-format", "stream-json", "--verbose", "--input-format", "stream-json"],
    // What it was sent comes back when it becomes a part of the conversation.
    "--replay-user-messages",
    // Without this a repository's hooks and servers run without a question.
    ...["--setting-sources", spec.projectSettings ? "user,project" : "user"],
    ...(overseer ? [] : permissions(start.sandboxed)),
    ...sessionArgs("--resume", start.sessionId),
    ...(model === undefined ? [] : ["--model", model]),
    // They go with the settings, although they are only read.
    ...(instructions === undefined || spec.projectSettings ? [] : ["--append-system-prompt-file", instructions]),
    ...(spec.args ?? []),
    ...(overseer ? overseenArgs(overseer, spec.projectSettings) : []),
  ];
  return { program: spec.command, args };
}

/** In a sandbox no question is needed. Elsewhere what would be asked is refused: writing outside the worktree. */
function permissions(sandboxed: boolean): string[] {
  return sandboxed
    ? ["--dangerously-skip-permissions"]
    : ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"];
}

/** What Claude Code finds in its environment; what the user set for the agent stays as it is, unless it keeps us from judging. */
export function claudeEnvironment(
  given: Readonly<Record<string, string>>,
  { sandboxed, overseer }: Pick<ClaudeStart, "sandboxed" | "overseer">,
): Record<string, string> {
  const wanted = {
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // It waits for what it left running: with a server in the background a run would never end.
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
    // As root it skips questions only when it is told that it is in a sandbox.
    ...(sandboxed ? { IS_SANDBOX: "1" } : {}),
  };
  const missing = Object.entries(wanted).filter(([name]) => given[name] === undefined);
  return { ...Object.fromEntries(missing), ...(overseer ? HOOKS_ON : {}) };
}
