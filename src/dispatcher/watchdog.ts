import { rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import * as z from "zod";
import { PrloomError } from "../kernel/errors.ts";
import { readTextIfExists } from "../kernel/files.ts";
import { type WatchdogData, watchdogProgram } from "./watchdog-program.ts";

const DEFAULT_LIMIT_MS = 30_000;
const LIMIT_VARIABLE = "PRLOOM_WATCHDOG_MS";
const LONGEST_LABEL_BYTES = 200;

const noteSchema = z.object({
  schemaVersion: z.literal(1),
  at: z.string(),
  label: z.string(),
  blockedMs: z.number(),
});

/** What the watchdog left behind: which call blocked the dispatcher, and when it was ended. */
export interface WatchdogNote {
  readonly at: string;
  /** Empty: no call of user code was under way. */
  readonly label: string;
  readonly blockedMs: number;
}

export interface WatchdogOptions {
  /** How long the loop may be blocked; PRLOOM_WATCHDOG_MS in the environment wins, 0 there is no watchdog at all. */
  readonly limitMs?: number;
  readonly noteFile: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The thread runs. */
  readonly onStart?: () => void;
  /** The thread could not be started, or ended by itself: the dispatcher goes on unwatched. */
  readonly onFailure?: (error: unknown) => void;
}

/** What `entering` gives and `left` takes. */
export type WatchdogEntry = { readonly label: string };

export interface Watchdog {
  /** A call of user code begins; if the loop blocks, the newest one that has not ended is named. */
  entering(label: string): WatchdogEntry;
  /** That call is over. Calls overlap, so they end in any order. */
  left(entry: WatchdogEntry): void;
  stop(): void;
}

/**
 * Watches from a thread of its own whether the event loop still turns, and ends the process with SIGKILL when it has not
 * for `limitMs`. Time is counted in wake-ups of that thread, so a stopped process or a sleeping laptop is not blamed.
 * Keeps no process alive. Start it when the long synchronous work of a start is done: that would count as well.
 */
export function startWatchdog(options: WatchdogOptions): Watchdog {
  const limitMs = limitOf(options);
  const shared = sharedMemory();
  const labels = trackLabels(shared);
  if (limitMs === 0) return { ...labels, stop: () => undefined };
  const stepMs = Math.max(1, Math.min(1000, Math.floor(limitMs / 10)));
  const beat = setInterval(() => Atomics.add(shared.signals, BEAT, 1), stepMs).unref();
  const data: WatchdogData = {
    memory: shared.memory,
    limitMs,
    stepMs,
    noteFile: options.noteFile,
    temporaryFile: join(dirname(options.noteFile), `.${basename(options.noteFile)}.${process.pid}-0.0.tmp`),
  };
  // Text instead of a file, because the bundle has no file for it; none of our flags, because they are for our code.
  const worker = new Worker(watchdogProgram, { eval: true, workerData: data, execArgv: [], name: "prloom-watchdog" });
  worker.once("online", () => options.onStart?.());
  worker.on("error", (error) => {
    clearInterval(beat);
    options.onFailure?.(error);
  });
  worker.unref();
  const stop = (): void => {
    clearInterval(beat);
    Atomics.store(shared.signals, STOPPED, 1);
    Atomics.notify(shared.signals, STOPPED);
  };
  return { ...labels, stop };
}

function limitOf({ limitMs = DEFAULT_LIMIT_MS, environment = process.env }: WatchdogOptions): number {
  const text = environment[LIMIT_VARIABLE];
  if (text === undefined || text === "") return limitMs;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const hint = `Set it to a number like 30000, or remove it: unset ${LIMIT_VARIABLE}`;
  throw new PrloomError("usage", `${LIMIT_VARIABLE} is "${text}", not a number of milliseconds.`, hint);
}

/** Places in the signals that both threads see. */
const BEAT = 0;
const STOPPED = 1;
const LABEL_BYTES = 2;
const SIGNALS_BYTES = 3 * Int32Array.BYTES_PER_ELEMENT;

interface SharedMemory {
  readonly memory: SharedArrayBuffer;
  readonly signals: Int32Array<SharedArrayBuffer>;
  readonly label: Uint8Array<SharedArrayBuffer>;
}

function sharedMemory(): SharedMemory {
  const memory = new SharedArrayBuffer(SIGNALS_BYTES + LONGEST_LABEL_BYTES);
  return { memory, signals: new Int32Array(memory, 0, 3), label: new Uint8Array(memory, SIGNALS_BYTES) };
}

/** Keeps the newest open label where the thread can read it while our loop is blocked. */
function trackLabels({ signals, label }: SharedMemory): Pick<Watchdog, "entering" | "left"> {
  const open = new Set<WatchdogEntry>();
  const encoder = new TextEncoder();
  let shown: WatchdogEntry | undefined;
  const show = (entry: WatchdogEntry | undefined): void => {
    shown = entry;
    Atomics.store(signals, LABEL_BYTES, entry ? encoder.encodeInto(entry.label, label).written : 0);
  };
  return {
    entering(text) {
      const entry = { label: text };
      open.add(entry);
      show(entry);
      return entry;
    },
    left(entry) {
      open.delete(entry);
      if (entry === shown) show([...open].at(-1));
    },
  };
}

/** What a watchdog wrote before it ended the dispatcher, if it did; one that cannot be read tells nothing. */
export function readNote(noteFile: string): WatchdogNote | undefined {
  const text = readTextIfExists(noteFile);
  if (text === undefined) return undefined;
  try {
    const { at, label, blockedMs } = noteSchema.parse(JSON.parse(text));
    return { at, label, blockedMs };
  } catch {
    return undefined;
  }
}

/** Removes the note, once it was told. */
export function clearNote(noteFile: string): void {
  rmSync(noteFile, { force: true });
}
