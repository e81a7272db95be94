import { isDeepStrictEqual } from "node:util";
import { type FilePlanStore, problemError } from "../bus/file/plan-store.ts";
import { isoTime } from "../kernel/clock.ts";
import { PrloomError } from "../kernel/errors.ts";
import type { Todo } from "../plan/markdown/markdown.ts";
import { type PlanRecord, RECORD_SCHEMA_VERSION } from "../plan/record.ts";
import { type PlanEvent, transition } from "../plan/transition.ts";
import type { Reporting, Timing } from "./capabilities.ts";
import type { PlanText, Texts } from "./intake/plan-texts.ts";
import { type Located, textPath } from "./paths.ts";
import type { AtWork } from "./runs/occupancy.ts";

/** What is known about the plans, and their texts. Whatever is written says when. */
export interface Records extends Timing {
  readonly store: FilePlanStore;
  readonly texts: Texts;
}

/** The record of a plan, or an error that tells how to find the right name. */
export function requireRecord(loom: Records, id: string): PlanRecord {
  const record = loom.store.byId(id);
  if (record && !record.deleted) return record;
  // It is there, and a hint at another plan would mislead.
  const problem = loom.store.problems.find((one) => one.id === id);
  if (problem) throw problemError(problem);
  throw new PrloomError("plan-not-found", `There is no plan "${id}".`, "`prloom status` lists all plans.");
}

/** Throws while processes of an earlier run may be alive: nothing else gets into that worktree. */
export function refuseUnrecovered(loom: AtWork, id: string): void {
  if (!loom.unrecovered.has(id)) return;
  const hint = `\`prloom unblock ${id}\` tries again; \`prloom show ${id}\` tells what failed.`;
  throw new PrloomError("recovery-failed", `What an interrupted run of ${id} left could not be dealt with.`, hint);
}

/**
 * The one setter of a record. Reading, changing and writing happen without a pause in between, so what a command wrote
 * is never overwritten by a step that looked earlier.
 */
export function updateRecord(
  loom: Records,
  id: string,
  change: (record: PlanRecord) => Partial<PlanRecord>,
): PlanRecord {
  const record = requireRecord(loom, id);
  const changes = change(record);
  const updatedAt = isSeen(record, changes) ? isoTime(loom.clock.now()) : record.updatedAt;
  const next: PlanRecord = { ...record, ...changes, schemaVersion: RECORD_SCHEMA_VERSION, updatedAt };
  return loom.store.put(record.uid, next, record.revision);
}

/** What prloom notes for itself: a plan has not changed by it. */
const NOTES: ReadonlySet<string> = new Set<keyof PlanRecord>([
  ...(["observed", "toldPhase", "toldBlocked", "writtenBack"] as const),
  ...(["rebase", "kept", "opened", "merge", "held", "checked"] as const),
  ...(["redHeads", "greenHead", "published", "behind", "stack", "doneFor", "comments", "issueGone"] as const),
]);

/** Whether people would say that the plan has changed. */
function isSeen(record: PlanRecord, changes: Partial<PlanRecord>): boolean {
  return Object.entries(changes).some(
    ([key, value]) => !(NOTES.has(key) || isDeepStrictEqual(value, record[key as keyof PlanRecord])),
  );
}

interface Pausing {
  readonly paused: boolean;
  readonly now?: boolean;
  /** The comment that asks for it, and when it was written. */
  readonly by?: { readonly event: string; readonly at: number };
}

/** A pause that ended what was at work stays one until the plan goes on, whatever kind of pause comes after it. */
export function setPaused(loom: Records, id: string, { paused, now, by }: Pausing): void {
  const asked = by?.at ?? loom.clock.now();
  updateRecord(loom, id, (record) => {
    // One that is heard late is no reason to forget a later one.
    const at = record.paused && record.held ? Math.max(asked, Date.parse(record.held.at)) : asked;
    const event = by?.event ?? record.held?.event;
    const held = { at: isoTime(at), ...(event === undefined ? {} : { event }) };
    return { paused, halted: paused ? now || record.halted : undefined, held };
  });
}

/** The one setter of a status: what the table of transitions does not allow fails here, for every caller. */
export function changeStatus(loom: Records, id: string, event: PlanEvent, also: Partial<PlanRecord> = {}): PlanRecord {
  return updateRecord(loom, id, ({ status }) => {
    // A person may hide or pause a plan in the middle of a step; the step still ends.
    const next = transition({ status, hidden: false, paused: false, blocked: false }, event);
    if (!next.ok) throw new PrloomError("plan-state", `${id}: ${next.why}`, `\`prloom show ${id}\` tells more.`);
    return { ...also, status: next.status };
  });
}

export interface BlockReason {
  readonly reason: string;
  readonly hint: string;
  readonly cause: NonNullable<NonNullable<PlanRecord["blocked"]>["cause"]>;
}

/** Blocks a plan with a reason that people read and a hint they can type; `also` changes in the same write. */
export function blockPlan(
  loom: Records & Reporting,
  id: string,
  blocked: BlockReason,
  also?: (record: PlanRecord) => Partial<PlanRecord>,
): void {
  const at = isoTime(loom.clock.now());
  updateRecord(loom, id, (record) => ({ ...also?.(record), blocked: { ...blocked, at } }));
  loom.report({ planId: id, level: "bad", text: `blocked: ${blocked.reason}` });
}

/** The text of a plan: the inbox file before activation, the home's plan.md after it. */
export function planText(loom: Located & Records, record: PlanRecord): PlanText | undefined {
  return loom.texts.read(textPath(loom, record));
}

/** The TODO that the plan is at, as its text has it now. */
export function currentTodo(loom: Located & Records, record: PlanRecord): Todo | undefined {
  return planText(loom, record)?.doc.todos.find(({ id }) => id === record.current?.todoId);
}
