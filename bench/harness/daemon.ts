import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Note } from "./note-process.ts";
import type { Project } from "./project.ts";

const noting = fileURLToPath(new URL("./note-process.ts", import.meta.url));

/** How often files of others are looked at. */
const LOOK_MS = 10;

/** A dispatcher in a process of its own: the CLI as users start it. */
export interface Daemon {
  readonly pid: number;
  /** Waits until `ready` gives something; fails when the dispatcher ends or complains meanwhile. */
  until<T>(ready: () => T | undefined): Promise<T>;
  /** The records that it has written of a plan so far, if it was told to note them. */
  notes(plan: string): Note[];
}

/** Runs a dispatcher over the project while `work` goes on. */
export async function withDaemon<T>(
  project: Project,
  options: { readonly cli: string; readonly notes: boolean },
  work: (daemon: Daemon) => Promise<T>,
): Promise<T> {
  const notesFile = join(project.root, "..", "notes.jsonl");
  const notesArgs = options.notes ? ["--import", noting] : [];
  const child = spawn(process.execPath, [...notesArgs, options.cli, "start", "--json"], {
    cwd: project.root,
    env: { ...project.env, ...(options.notes ? { PRLOOM_BENCH_NOTES: notesFile } : {}) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const complaint = complaintOf(child);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (data: string) => (stderr += data));
  const daemon: Daemon = {
    pid: child.pid ?? 0,
    async until(ready) {
      for (;;) {
        if (complaint.text !== undefined) throw new Error(`the dispatcher of a benchmark: ${complaint.text}`);
        if (child.exitCode !== null) throw new Error(`the dispatcher of a benchmark ended by itself:\n${stderr}`);
        const found = ready();
        if (found !== undefined) return found;
        await sleep(LOOK_MS);
      }
    },
    notes: (plan) => (existsSync(notesFile) ? readNotes(notesFile).filter((note) => note.plan === plan) : []),
  };
  try {
    await daemon.until(() => (existsSync(project.paths.daemonFile) ? true : undefined));
    return await work(daemon);
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

/** Nothing in a benchmark is meant to go wrong, and a benchmark that waits for it would wait forever. */
function complaintOf(child: ChildProcess): { text?: string } {
  const complaint: { text?: string } = {};
  let rest = "";
  child.stdout?.setEncoding("utf8").on("data", (data: string) => {
    const lines = (rest + data).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { level, text } = JSON.parse(line) as { level?: string; text?: string };
      if (level === "bad" || level === "warn") complaint.text ??= text ?? line;
    }
  });
  return complaint;
}

/** The last line may be half written. */
function readNotes(file: string): Note[] {
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Note);
}
