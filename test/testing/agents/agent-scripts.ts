import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, watch, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Says who it is, so that the suite can look for it afterwards; `$1` is what to call the file. */
const SAY_PID = 'say() { echo "$2" > "$PRLOOM_RUN_DIR/.$1"; mv "$PRLOOM_RUN_DIR/.$1" "$PRLOOM_RUN_DIR/$1"; }\n';

/** The programs. Each is a shell script; `say name pid` writes a file in the agent's folder, `prompt` prints the prompt. */
export const SCRIPTS = {
  works: 'prompt > prompt.txt; echo "$PRLOOM_STAGE" > stage.txt',
  prints: "echo one; echo two >&2; echo three > /dev/stderr; echo four",
  readsDevStdin: "cat /dev/stdin > prompt.txt",
  fails: "echo sorry; exit 7",
  killsItself: "kill -KILL $$",
  hangs: 'say agent $$; while :; do echo "still here"; sleep 0.02; done',
  silent: "say agent $$; sleep 600",
  floods: "head -c 52428800 /dev/zero; echo done > flooded.txt",
  ignoresTerm: "trap '' TERM; say agent $$; while :; do sleep 0.05; done",
  endsInOrder: "trap 'say bye $$; exit 0' TERM; sleep 600 & say child $!; say agent $$; wait",
  leavesChild: "sleep 600 & say child $!; exit 0",
  leavesSession: "setsid sh -c 'sleep 600 & wait' & say child $!; exit 0",
  leavesStubborn: "(trap '' TERM; say child \"$(sh -c 'echo $PPID')\"; while :; do sleep 0.05; done) & wait_for child",
  countsPrompt: "prompt | wc -c > count.txt",
  neverReads: "exit 0",
  escapes: 'setsid env -i sh -c \'sleep 600 & echo $! > "$0"; wait\' "$PRLOOM_RUN_DIR/child" & wait_for child',
} as const;

/** Writes one of the programs as an executable; `readPrompt` is how it gets at its prompt. */
export function writeProgram(path: string, body: string, readPrompt = "cat"): string {
  const wait = 'wait_for() { while [ ! -s "$PRLOOM_RUN_DIR/$1" ]; do sleep 0.01; done; }\n';
  writeFileSync(path, `#!/bin/sh\n${SAY_PID}${wait}prompt() { ${readPrompt}; }\n${body}\n`, { mode: 0o755 });
  return path;
}

/** Resolves when the file is there. */
export async function appears(path: string): Promise<void> {
  await until(dirname(path), () => existsSync(path) && statSync(path).size > 0);
}

/** Resolves when a look says so; looks again whenever something in the folder changes. */
export async function until(folder: string, isSo: () => boolean): Promise<void> {
  const watcher = watch(folder);
  try {
    while (!isSo()) await once(watcher, "change");
  } finally {
    watcher.close();
  }
}

/** The pid of a run's shim, as it wrote it. */
export function shimOf(runDir: string): number {
  const { pid } = JSON.parse(readFileSync(join(runDir, "process.json"), "utf8")) as { pid: unknown };
  assert(typeof pid === "number" && pid > 1);
  return pid;
}

/** Processes by working directory: what escaped has neither the run's id nor its group. */
export function processesIn(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  });
}
