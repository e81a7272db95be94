import { rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import * as z from "zod";
import { PrloomError } from "../../kernel/errors.ts";
import { readChecked } from "../../kernel/json-files.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import { type WatchdogData, watchdogProgram } from "./watchdog-program.ts";
import { type WatchedWork, type WorkEntry, watchWork } from "./watched-work.ts";

const DEFAULT_LIMIT_MS = 30_000;
const LIMIT_VARIABLE = "PRLOOM_WATCHDOG_MS";
const MAX_LABEL_BYTES = 200;
const MAX_PLAN_BYTES = 64;

const noteSchema = z.object({
  schemaVersion: z.literal(1),
  at: z.string(),
  label: z.string(),
  plan: z.string().exactOptional(),
  blockedMs: z.number(),
});

/** What the watchdog left behind: what blocked the dispatcher, and when it was ended. */
export interface WatchdogNote {
  readonly at: string;
  /** Empty: nothing that has a name was under way. */
  readonly label: string;
  /** The plan that it was done for. */
  readonly plan?: string;
  readonly blockedMs: number;
}

export interface WatchdogOptions {
  /** How long the loop may be blocked; PRLOOM_WATCHDOG_MS in the environment wins, 0 there is no watchdog at all. */
  readonly limitMs?: number;
  readonly noteFile: string;
  readonly environment?: Environment;
  /** The thread runs. */
  readonly onStart?: () => void;
  /** The thread could not be started, or ended by itself: the dispatcher goes on unwatched. */
  readonly onFailure?: (error: unknown) => void;
}

export type Watchdog = WatchedWork;

/**
 * Watches from a thread of its own whether the event loop still turns, and ends the process with SIGKILL when it has not
 * for `limitMs`. Time is counted in wake-ups of that thread, so a stopped process or a sleeping laptop is not blamed.
 * Keeps no process alive. Start it when the long synchronous work of a start is done: that would count as well.
 */
export function startWatchdog(options: WatchdogOptions): Watchdog {
  const limitMs = limitOf(options);
  const shared = sharedMemory();
  const work = watchWork((entry) => writeEntry(shared, entry));
  if (limitMs === 0) return work;
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
    work.stop();
  };
  return { ...work, stop };
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
const PLAN_BYTES = 3;
const SIGNALS = 4;
const SIGNALS_BYTES = SIGNALS * Int32Array.BYTES_PER_ELEMENT;

interface SharedMemory {
  readonly memory: SharedArrayBuffer;
  readonly signals: Int32Array<SharedArrayBuffer>;
  readonly label: Uint8Array<SharedArrayBuffer>;
  readonly plan: Uint8Array<SharedArrayBuffer>;
}

function sharedMemory(): SharedMemory {
  const memory = new SharedArrayBuffer(SIGNALS_BYTES + MAX_PLAN_BYTES + MAX_LABEL_BYTES);
  return {
    memory,
    signals: new Int32Array(memory, 0, SIGNALS),
    plan: new Uint8Array(memory, SIGNALS_BYTES, MAX_PLAN_BYTES),
    label: new Uint8Array(memory, SIGNALS_BYTES + MAX_PLAN_BYTES),
  };
}

const encoder = new TextEncoder();

/** Keeps what is under way where the thread can read it while our loop is blocked. */
function writeEntry({ signals, label, plan }: SharedMemory, entry: WorkEntry | undefined): void {
  Atomics.store(signals, LABEL_BYTES, entry ? encoder.encodeInto(entry.label, label).written : 0);
  Atomics.store(signals, PLAN_BYTES, entry?.plan === undefined ? 0 : encoder.encodeInto(entry.plan, plan).written);
}

/** What a watchdog wrote before it ended the dispatcher, if it did; one that cannot be read tells nothing. */
export function readNote(noteFile: string): WatchdogNote | undefined {
  const note = readChecked(noteFile, noteSchema);
  if (!note) return undefined;
  const { schemaVersion: _, ...told } = note;
  return told;
}

/** What blocked the dispatcher, for people. */
export function blockerOf({ label, plan }: Pick<WatchdogNote, "label" | "plan">): string {
  if (plan === undefined) return label || "something";
  return label === "" ? `plan ${plan}` : `plan ${plan} (${label})`;
}

/** Removes the note, once it was told. */
export function clearNote(noteFile: string): void {
  rmSync(noteFile, { force: true });
}
