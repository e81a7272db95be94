import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import {
  isEndTold,
  type LifecycleEvent,
  type LifecycleFacts,
  nextLifecycleEvent,
  observedFrom,
} from "../../bridges/core/lifecycle.ts";
import type { Bus } from "../../bus/bus.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf } from "../../kernel/errors.ts";
import { ensureDir, rewriteFile } from "../../kernel/files.ts";
import { readChecked } from "../../kernel/json-files.ts";
import { planDigest } from "../../plan/digest.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { readsComments } from "../../plan/summary.ts";
import type { Buses } from "../buses/buses.ts";
import type { Reporting } from "../capabilities.ts";
import { homeOf, isInboxRecord, type Located, textPath } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Watched } from "../watchdog/stalls.ts";

/** Reports on the global bus what happened to plans, whatever caused it: each change once and in order, across kills too. */
export interface Lifecycle {
  /** Looks at one plan; returns how many events it appended. Opens nothing when neither record nor text changed. */
  look(planId: string): number;
  /** Looks at these plans, for a stat each; returns those that there was something to tell about. */
  lookAt(planIds: readonly string[]): string[];
}

interface Planned {
  readonly record: PlanRecord;
  readonly next: LifecycleEvent;
}

/** Events that one append takes. */
const BATCH = 500;

export function createLifecycle(loom: Located & Records & Buses & Watched & Reporting, bus: Bus): Lifecycle {
  /** What was said about plans that cannot be looked at, so that it is said once. */
  const failures = new Map<string, string>();
  /** True while every event that was appended is in its record too. */
  let isRecorded = false;
  const guarded = <T>(planId: string, act: () => T): T | undefined => {
    try {
      const result = loom.watch.about(planId, "reporting its changes", act);
      failures.delete(planId);
      return result;
    } catch (error) {
      const text = `reporting its changes failed: ${messageOf(error)}`;
      if (failures.get(planId) !== text) loom.report({ planId, level: "bad", text });
      failures.set(planId, text);
      return undefined;
    }
  };
  const recordAll = (batch: readonly Planned[], repeated: ReadonlySet<string>): Planned[] => {
    const recorded = ({ record, next }: Planned): boolean => {
      const isFresh = !repeated.has(next.event.id);
      return guarded(record.id, () => recordTold(loom, bus, { record, next, isFresh })) === true;
    };
    try {
      const { result, safe } = loom.store.together(() => batch.filter(recorded));
      crashPoint("lifecycle:observed");
      // A power loss before that only makes the events come up again, as those that were told already.
      safe.catch((error) => loom.report({ level: "bad", text: `records could not be synced: ${messageOf(error)}` }));
      return result;
    } catch {
      // The record of one plan may be what cannot be written: each by itself, and that one is told.
      return batch.filter((planned) => isObserved(loom, planned) || recorded(planned));
    }
  };
  const tell = (batch: readonly Planned[]): { told: string[]; fresh: string[] } => {
    noteTelling(loom, batch);
    crashPoint("lifecycle:noted");
    isRecorded = false;
    const repeated = appendPlanned(bus, batch);
    crashPoint("lifecycle:appended");
    const told = recordAll(batch, repeated);
    isRecorded = told.length === batch.length;
    const fresh = batch.filter(({ next }) => !repeated.has(next.event.id));
    return { told: told.map(({ record }) => record.id), fresh: fresh.map(({ record }) => record.id) };
  };
  /** One event per plan and round: the next one depends on what the record says after it. */
  const tellAll = (ids: readonly string[]): string[] => {
    for (const telling of isRecorded ? [] : readNote(loom)) {
      guarded(loom.store.get(telling.uid)?.id ?? "", () => recordInterrupted(loom, bus, telling));
    }
    isRecorded = true;
    const fresh: string[] = [];
    for (let open = ids; open.length > 0; ) {
      const planned = open.flatMap((id) => guarded(id, () => plan(loom, id)) ?? []);
      open = [];
      for (let at = 0; at < planned.length; at += BATCH) {
        const result = tell(planned.slice(at, at + BATCH));
        open = [...open, ...result.told];
        fresh.push(...result.fresh);
      }
    }
    return fresh;
  };
  return {
    look: (planId) => tellAll([planId]).length,
    lookAt: (ids) => [...new Set(tellAll(ids))],
  };
}

function plan(loom: Located & Records & Buses & Watched, planId: string): Planned | undefined {
  const record = loom.store.byId(planId);
  if (!record || isEndTold(record.observed) || (record.deleted && !record.observed)) return undefined;
  if (loom.stalls.isHeld(planId)) return undefined;
  const next = nextLifecycleEvent(record, factsOf(loom, record));
  return next && { record, next };
}

function factsOf(loom: Located & Records & Buses, record: PlanRecord): LifecycleFacts {
  const path = textPath(loom, record);
  // What lies in the inbox under the name of a deleted plan is another plan's.
  const isGone = record.deleted !== undefined && isInboxRecord(record);
  const sha256 = isGone ? undefined : loom.texts.sha256(path);
  return {
    ...(sha256 === undefined ? {} : { sha256 }),
    triaging: isTriaging(loom, record),
    text() {
      const read = isGone ? undefined : loom.texts.read(path);
      if (!read) return undefined;
      const { title } = read.doc;
      return { digest: planDigest(read.text), ...(title === undefined ? {} : { title }) };
    },
  };
}

function isTriaging(loom: Located & Buses, record: PlanRecord): boolean {
  if (record.deleted || !readsComments(record)) return false;
  return existsSync(homeOf(loom.paths, record.id).bus) && loom.bus(record.id).pendingTriage().length > 0;
}

/** Appends the events; returns the ids of those that were there already. */
function appendPlanned(bus: Bus, planned: readonly Planned[]): Set<string> {
  const { duplicates, refused } = bus.appendEvents(planned.map(({ next }) => next.event));
  const [first] = refused;
  if (first) throw new Error(`a lifecycle event was refused: ${first.message}`);
  return new Set(duplicates);
}

/** Written by itself and not by `updateRecord`: nothing about the plan changed, and a deleted one is told of too. */
function recordTold(
  loom: Located & Records & Buses,
  bus: Bus,
  { record, next, isFresh }: Planned & { isFresh: boolean },
): true {
  const earlier = isFresh ? undefined : bus.findEvent(next.event.id);
  const observed = earlier ? observedFrom(earlier, record.observed, factsOf(loom, record)) : next.observed;
  loom.store.put(record.uid, { ...record, observed }, record.revision);
  return true;
}

function isObserved(loom: Records, { record, next }: Planned): boolean {
  return (loom.store.get(record.uid)?.observed?.seq ?? 0) >= next.observed.seq;
}

const noteSchema = z.object({
  schemaVersion: z.literal(1),
  telling: z.array(z.object({ uid: z.string(), seq: z.int(), event: z.string() })),
});

type Telling = z.infer<typeof noteSchema>["telling"][number];

function noteFile(loom: Located): string {
  return join(loom.paths.bus, "state", "lifecycle.json");
}

/**
 * Which events are about to be appended. After a kill it is the only thing that leads to them when the plan was changed
 * back meanwhile: looking at the plan alone, there would be nothing to tell, and outside systems would keep the wrong news.
 */
function noteTelling(loom: Located, planned: readonly Planned[]): void {
  const telling = planned.map(({ record, next }) => ({
    uid: record.uid,
    seq: next.observed.seq,
    event: next.event.id,
  }));
  ensureDir(join(loom.paths.bus, "state"));
  // Torn, it says nothing, and nothing was appended yet.
  rewriteFile(noteFile(loom), JSON.stringify({ schemaVersion: 1, telling }));
}

/** Brings a record in line with an event that was appended right before a kill. */
function recordInterrupted(loom: Located & Records & Buses, bus: Bus, { uid, seq, event }: Telling): void {
  const record = loom.store.get(uid);
  if (!record || (record.observed?.seq ?? 0) + 1 !== seq) return;
  const told = bus.findEvent(event);
  if (!told) return;
  const observed = observedFrom(told, record.observed, factsOf(loom, record));
  loom.store.put(uid, { ...record, observed }, record.revision);
  crashPoint("lifecycle:recovered");
}

/** A note that cannot be read says nothing; the events themselves are found again as duplicates. */
function readNote(loom: Located): Telling[] {
  return readChecked(noteFile(loom), noteSchema)?.telling ?? [];
}
