import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Policy } from "../governance/policy/policy-file.ts";
import type { ShellRun } from "../governance/tools/govern.ts";
import { messageOf } from "../kernel/errors.ts";

const DEADLINE_MS = 10 * 60_000;
const MAX_PRINTED = 30_000;

export interface ShellEnd {
  /** What it printed last, and how it ended. */
  readonly printed: string;
  readonly ok: boolean;
}

/** Runs a command; its host goes on meanwhile. */
export async function runShell(
  { command, folder }: ShellRun,
  { root, shell = "/bin/sh" }: Pick<Policy, "root" | "shell">,
  signal?: AbortSignal,
): Promise<ShellEnd> {
  const { promise, resolve: done } = Promise.withResolvers<ShellEnd>();
  const cwd = folder === undefined ? root : resolve(root, folder);
  // The system would name the shell as what is missing.
  if (!existsSync(cwd)) return { printed: `It could not be started: there is no folder ${cwd}.`, ok: false };
  const child = start(shell, command, cwd);
  if (child instanceof Error) return { printed: `It could not be started: ${child.message}`, ok: false };
  let printed = "";
  const take = (data: string): void => {
    printed = (printed + data).slice(-MAX_PRINTED);
  };
  child.stdout.setEncoding("utf8").on("data", take);
  child.stderr.setEncoding("utf8").on("data", take);
  const end = (): void => {
    if (child.pid !== undefined) endGroup(child.pid);
    // What left the group may have its output open for ever.
    for (const output of [child.stdout, child.stderr]) output.destroy();
  };
  const timer = setTimeout(end, DEADLINE_MS);
  signal?.addEventListener("abort", end, { once: true });
  child.once("error", (error) => done({ printed: `It could not be started: ${error.message}`, ok: false }));
  child.once("close", (code, ended) => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    const how = code === null ? `ended by ${ended}` : `exit code ${code}`;
    // What is kept of it may begin in the middle of a character.
    done({ printed: `${printed.toWellFormed()}\n[${how}]`, ok: code === 0 });
  });
  return promise;
}

/** What is longer than the system takes is thrown at once, and not told as an event. */
function start(shell: string, command: string, cwd: string) {
  try {
    return spawn(shell, ["-c", command], { cwd, stdio: ["ignore", "pipe", "pipe"], detached: true });
  } catch (error) {
    return new Error(messageOf(error));
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It is gone.
  }
}
