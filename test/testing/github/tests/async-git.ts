import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { gitEnvironment } from "../git.ts";

/** Git against a server in this process, which has to go on meanwhile. */
export async function tryGitAsync(
  folder: string,
  args: readonly string[],
): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
  const child = spawn("git", ["-C", folder, ...args], {
    env: { ...gitEnvironment, GIT_TERMINAL_PROMPT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { status, stdout: stdout.trimEnd(), stderr };
}
