import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errnoOf, messageOf } from "../../kernel/errors.ts";

/** One git to start. Plain data, because another process may do it (`delegate.ts`). */
export interface GitCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Bytes; a git that says more is ended. */
  readonly maxOutput: number;
}

/** What became of it. */
export type GitEnd =
  | {
      readonly kind: "ended";
      readonly code: number | null;
      readonly signal: string | null;
      readonly stdout: readonly Uint8Array[];
      readonly stderr: string;
    }
  | { readonly kind: "unstarted"; readonly errno: string | undefined; readonly message: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "too-large" };

/** Words for people; the rest of a flood is not read. */
const MAX_WORDS = 1024 * 1024;

function unstarted(error: unknown): GitEnd {
  return { kind: "unstarted", errno: errnoOf(error), message: messageOf(error) };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (errnoOf(error) !== "ESRCH") throw error;
  }
}

/** Collects what a pipe says until it is too much; then it says so once. */
function collect(pipe: Readable | null, most: number, onTooMuch: () => void): readonly Buffer[] {
  const chunks: Buffer[] = [];
  let size = 0;
  pipe?.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= most) chunks.push(chunk);
    else if (size - chunk.length <= most) onTooMuch();
  });
  return chunks;
}

/** Its own process group: Ctrl-C in the terminal must not cut a commit in half, and a timeout must reach filters. */
function start({ program, args, cwd, env }: GitCall, hasInput: boolean): ChildProcess {
  return spawn(program, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    detached: true,
    stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe"],
  });
}

/** Runs one git to its end. Never rejects. */
export function runGit(call: GitCall, input?: AsyncIterable<Uint8Array>): Promise<GitEnd> {
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = start(call, input !== undefined);
    } catch (error) {
      return resolve(unstarted(error));
    }
    let timer: NodeJS.Timeout | undefined;
    child.on("error", (error) => {
      clearTimeout(timer);
      resolve(unstarted(error));
    });
    // Without any files left there are no pipes either; the error comes in a moment.
    if (!child.stdout) return;
    const end = (kind: "timeout" | "too-large"): void => {
      killGroup(child.pid);
      // Something that left the group may still hold the pipes; we do not wait for it.
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ kind });
    };
    timer = setTimeout(() => end("timeout"), call.timeoutMs);
    const stdout = collect(child.stdout, call.maxOutput, () => end("too-large"));
    const stderr = collect(child.stderr, MAX_WORDS, () => undefined);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ kind: "ended", code, signal, stdout, stderr: Buffer.concat(stderr).toString("utf8") });
    });
    // A git that ends before it has read its input closes the pipe; its exit code tells the story.
    if (input && child.stdin) pipeline(input, child.stdin).catch(() => undefined);
  });
}
