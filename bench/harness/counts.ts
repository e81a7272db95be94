import childProcess from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** What code asked of the system. Unlike time, it is the same on every machine, so it can be a gate. */
export interface Counts {
  /** Files opened, for reading or writing. */
  opened: number;
  /** Directories read. */
  listed: number;
  /** Files looked at without opening them. */
  looked: number;
  written: number;
  bytesWritten: number;
  /** Syncs that were waited for. */
  synced: number;
  /** Syncs on another thread, while the code went on. */
  syncedAside: number;
  /** Programs started, by their name without its folder. */
  started: Record<string, number>;
}

type AnyFunction = (...args: unknown[]) => unknown;

/** What is being counted, and which descriptors were opened by it: writing to a terminal is not writing a file. */
interface Tally {
  readonly counts: Counts;
  readonly files: Set<unknown>;
  isCounted(path: unknown): boolean;
}

type Note = (tally: Tally, args: readonly unknown[], result: unknown) => void;

const opens: Note = ({ counts, files, isCounted }, [path], result) => {
  if (!isCounted(path)) return;
  counts.opened += 1;
  if (typeof result === "number") files.add(result);
};
const closes: Note = ({ files }, [file]) => {
  files.delete(file);
};
const lists: Note = ({ counts, isCounted }, [path]) => {
  if (isCounted(path)) counts.listed += 1;
};
const looks: Note = ({ counts, isCounted }, [path]) => {
  if (isCounted(path)) counts.looked += 1;
};
const syncs: Note = ({ counts }) => {
  counts.synced += 1;
};
const syncsAside: Note = ({ counts }) => {
  counts.syncedAside += 1;
};
const writes: Note = ({ counts, files }, [file], result) => {
  if (!files.has(file)) return;
  counts.written += 1;
  counts.bytesWritten += Number(result);
};
const writesWhole: Note = ({ counts, isCounted }, [path, data]) => {
  if (!isCounted(path)) return;
  counts.opened += 1;
  counts.written += 1;
  counts.bytesWritten += typeof data === "string" ? Buffer.byteLength(data) : (data as Uint8Array).byteLength;
};
const copies: Note = ({ counts }) => {
  counts.opened += 2;
};
const starts: Note = ({ counts }, [program]) => {
  const name = String(program).split("/").at(-1) ?? "";
  counts.started[name] = (counts.started[name] ?? 0) + 1;
};

const FILES: Readonly<Record<string, Note>> = {
  openSync: opens,
  closeSync: closes,
  open: opens,
  readFileSync: opens,
  readFile: opens,
  createReadStream: opens,
  createWriteStream: opens,
  writeFileSync: writesWhole,
  appendFileSync: writesWhole,
  copyFileSync: copies,
  readdirSync: lists,
  readdir: lists,
  opendirSync: lists,
  statSync: looks,
  lstatSync: looks,
  existsSync: looks,
  accessSync: looks,
  fsyncSync: syncs,
  fdatasyncSync: syncs,
  fsync: syncsAside,
  fdatasync: syncsAside,
  writeSync: writes,
};
const PROCESSES: Readonly<Record<string, Note>> = {
  spawn: starts,
  spawnSync: starts,
  execFile: starts,
  execFileSync: starts,
  fork: starts,
};

export function noCounts(): Counts {
  return { opened: 0, listed: 0, looked: 0, written: 0, bytesWritten: 0, synced: 0, syncedAside: 0, started: {} };
}

/**
 * Counts from now on, in this process, until the returned function is called; it gives what was counted. With `below`
 * only files in that folder count: a program also opens its own modules. `counts` can be read meanwhile.
 */
export function startCounting(below?: string, counts: Counts = noCounts()): () => Counts {
  const isCounted = (path: unknown): boolean =>
    typeof path !== "number" && (below === undefined || String(path).startsWith(below));
  const tally: Tally = { counts, files: new Set(), isCounted };
  // Some of these functions call others of them; only the outermost is what our code asked for.
  let depth = 0;
  const restores: (() => void)[] = [];
  const replace = (module: object, notes: Readonly<Record<string, Note>>): void => {
    const functions = module as Record<string, AnyFunction>;
    for (const [name, note] of Object.entries(notes)) {
      const original = functions[name];
      if (!original) continue;
      functions[name] = (...args) => {
        depth += 1;
        let result: unknown;
        try {
          result = original(...args);
          return result;
        } finally {
          depth -= 1;
          if (depth === 0) note(tally, args, result);
        }
      };
      restores.push(() => {
        functions[name] = original;
      });
    }
  };
  replace(fs, FILES);
  replace(childProcess, PROCESSES);
  const delegates = (program: unknown): void => starts(tally, [program], undefined);
  subscribe("prloom:git-delegated", delegates);
  restores.push(() => void unsubscribe("prloom:git-delegated", delegates));
  // Named imports of built-ins are bindings of their own; this brings them in line with what was replaced.
  syncBuiltinESMExports();
  return () => {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
    return counts;
  };
}

/** What one call asked of the system. */
export async function countCalls(work: () => unknown): Promise<Counts> {
  const stop = startCounting();
  let counts: Counts;
  try {
    await work();
  } finally {
    counts = stop();
  }
  return counts;
}

/** All programs together. */
export function startedCount(counts: Counts): number {
  return Object.values(counts.started).reduce((sum, one) => sum + one, 0);
}
