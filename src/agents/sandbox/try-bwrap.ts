import { type StdioOptions, spawn } from "node:child_process";
import type { Writable } from "node:stream";
import { usedUp, usedUpError, usedUpWords } from "../../kernel/system/used-up.ts";
import { FILTER_FD } from "./seccomp.ts";

export interface TriedBwrap {
  readonly outcome: "ok" | "missing" | "failed";
  readonly stderr: string;
}

/** What it takes on a machine that has other things to do; one that needs longer has not answered. */
const DEADLINE_MS = 15_000;
const LOOKING = "looking what sandbox there is";

/**
 * Tries whether bwrap takes these arguments. Rejects when the machine has nothing left, or bwrap was killed: that is not an answer, and
 * taken for one, all agents would run with less of a sandbox for as long as we live.
 */
export function tryBwrap(program: string, args: readonly string[], filter?: Uint8Array): Promise<TriedBwrap> {
  return new Promise((resolve, reject) => {
    const files: StdioOptions = ["ignore", "ignore", "pipe", "ignore", "ignore", filter ? "pipe" : "ignore"];
    const probe = spawn(program, [...args, "--", "true"], { stdio: files, cwd: "/" });
    // Without any files left it has none of them; the error comes in a moment.
    const to = probe.stdio?.at(FILTER_FD) as Writable | null | undefined;
    to?.on("error", () => to.destroy());
    to?.end(filter);
    let stderr = "";
    probe.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
    // Not spawn's own timeout: where the program is missing, its timer keeps the process alive to the end.
    const timer = setTimeout(() => probe.kill("SIGKILL"), DEADLINE_MS);
    probe.once("error", (error) => {
      clearTimeout(timer);
      const known = usedUpError(error, LOOKING);
      if (known === error) resolve({ outcome: "missing", stderr });
      else reject(known);
    });
    probe.once("close", (code, signal) => {
      clearTimeout(timer);
      const known = usedUpWords(stderr.trimEnd(), LOOKING);
      if (known) reject(known);
      else if (signal === "SIGKILL") reject(usedUp("time or memory", LOOKING, signal));
      else resolve({ outcome: code === 0 ? "ok" : "failed", stderr });
    });
  });
}
