import { join } from "node:path";
import * as z from "zod";
import type { DeadLetter } from "../../bus/bus-state.ts";
import { type Scope, scopeOf } from "../../bus/types.ts";
import { isoTime } from "../../kernel/clock.ts";
import { errnoOf, PrloomError } from "../../kernel/errors.ts";
import { readChecked } from "../../kernel/json-files.ts";
import type { Buses } from "../buses/buses.ts";
import { type FailingBridge, healthFile } from "../buses/health.ts";
import type { InboxProblem } from "../intake/inbox.ts";
import { hasBus, type Located } from "../paths.ts";
import type { Records } from "../records.ts";
import { stallWords, type Watched } from "../watchdog/stalls.ts";
import { blockerOf, readNote } from "../watchdog/watchdog.ts";

/** A record that one handler gave up, and whose bus it lies on. Times are ISO, as in all that programs read. */
export interface FoundLetter {
  readonly record: string;
  readonly handler: string;
  readonly planId?: string;
  readonly reason: string;
  readonly attempts: number;
  readonly since: string;
}

/** A record that one handler is called with again at `until`. */
export interface FoundWait extends FoundLetter {
  readonly until: string;
}

export interface BusReport {
  readonly deferred: {
    readonly count: number;
    readonly oldestMs: number;
    /** The soonest, not all. */
    readonly records: readonly FoundWait[];
  };
  /** `count` is of records; several handlers may have given up the same one. */
  readonly dead: { readonly count: number; readonly letters: readonly FoundLetter[] };
}

const MAX_WAITS = 50;

/** What waits and what was given up, on the global bus and on those of the plans; a bus at rest is not opened. */
export function readBuses(loom: Buses, plans: readonly FoundBus[]): BusReport {
  const all = [busOf(loom, {}), ...plans].map((bus) => readBus(loom, bus));
  const letters = all.flatMap((one) => one.letters);
  const records = all
    .flatMap((one) => one.waits)
    .sort((a, b) => a.until - b.until)
    .slice(0, MAX_WAITS)
    .map(({ until, ...wait }) => ({ ...wait, until: isoTime(until) }));
  return {
    deferred: {
      count: all.reduce((sum, one) => sum + one.count, 0),
      oldestMs: Math.max(0, ...all.map((one) => one.oldestMs)),
      records,
    },
    dead: { count: new Set(letters.map(({ planId, record }) => JSON.stringify([planId, record]))).size, letters },
  };
}

/** A bus, and its dead letters if it is at rest. */
export interface FoundBus extends Scope {
  readonly resting: readonly DeadLetter[] | undefined;
}

/** What is known about a bus without opening it. */
function busOf(loom: Buses, scope: Scope): FoundBus {
  return { ...scope, resting: ifReadable(() => loom.restingLetters(scope)) };
}

/** The same about the bus of a plan. A plan without a bus is at rest. */
export function planBus(loom: Located & Buses, planId: string): FoundBus {
  return hasBus(loom, planId) ? busOf(loom, { planId }) : { planId, resting: [] };
}

interface OneBus {
  readonly count: number;
  readonly oldestMs: number;
  readonly waits: readonly (FoundLetter & { readonly until: number })[];
  readonly letters: readonly FoundLetter[];
}

const NOTHING: OneBus = { count: 0, oldestMs: 0, waits: [], letters: [] };

function readBus(loom: Buses, { planId, resting }: FoundBus): OneBus {
  if (resting) return { ...NOTHING, letters: ownLetters(resting, planId) };
  const bus = ifReadable(() => (planId === undefined ? loom.globalBus() : loom.bus(planId)));
  if (!bus) return NOTHING;
  return {
    ...bus.deferredSummary(),
    waits: bus.deferredList(MAX_WAITS).map((wait) => ({ ...foundLetter(wait, planId), until: wait.until })),
    letters: ownLetters(bus.deadLetters(), planId),
  };
}

/** Letters that only followed are revived and dropped with the one that tells why, so they are not shown. */
function ownLetters(letters: readonly DeadLetter[], planId: string | undefined): FoundLetter[] {
  return letters.filter(({ follows }) => !follows).map((letter) => foundLetter(letter, planId));
}

/** A dead letter, or a wait, as people and programs are told of it. */
export function foundLetter(
  {
    record,
    handler,
    reason,
    attempts,
    since,
  }: Pick<DeadLetter, "record" | "handler" | "reason" | "attempts" | "since">,
  planId: string | undefined,
): FoundLetter {
  return { record, handler, ...scopeOf(planId), reason, attempts, since: isoTime(since) };
}

function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    // Told with its summary; anything but a file that cannot be read is ours.
    if (error instanceof PrloomError || errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}

const bridgesSchema = z.object({
  schemaVersion: z.literal(1),
  failing: z.array(
    z.object({ bridge: z.string(), planId: z.string().optional(), since: z.string(), error: z.string() }),
  ),
});

/** The bridges whose last polls failed, as the dispatcher left word; a file that cannot be read tells of none. */
export function failingBridges(loom: Located): FailingBridge[] {
  const { failing = [] } = readChecked(healthFile(loom.paths), bridgesSchema) ?? {};
  return failing.map(({ planId, ...rest }) => ({ ...rest, ...scopeOf(planId) }));
}

/** That the last dispatcher was ended because something blocked it; the next start tells it too, and removes the note. */
export function watchdogProblem(loom: Located): InboxProblem[] {
  const file = join(loom.paths.authority, "watchdog.json");
  const note = readNote(file);
  if (!note) return [];
  const what = blockerOf(note);
  const seconds = Math.round(note.blockedMs / 1000);
  return [
    {
      file,
      reason: `the last dispatcher was ended by its watchdog (${note.at}): ${what} blocked it for ${seconds} s`,
      hint: "Fix it: a plugin or bridge must not work for long without an await. `prloom start` goes on.",
    },
  ];
}

/** Drafts that blocked the dispatcher before they became plans; a plan is shown blocked itself. */
export function stallProblems(loom: Records & Watched): InboxProblem[] {
  const drafts = [...loom.stalls.held()].filter(([planId]) => !loom.store.byId(planId));
  return drafts.map(([planId, stall]) => ({ file: `${planId}.md`, ...stallWords(planId, stall) }));
}
