import { isDeepStrictEqual } from "node:util";
import { isoTime } from "../../kernel/clock.ts";
import { messageOf } from "../../kernel/errors.ts";
import { type PlanRecord, RECORD_SCHEMA_VERSION } from "../../plan/record.ts";
import type { Naming, Reporting, Timing } from "../capabilities.ts";
import { inboxOf, isInboxRecord, type Located } from "../paths.ts";
import { type Records, updateRecord } from "../records.ts";
import type { Watched } from "../watchdog/stalls.ts";
import type { FileProblem, Inbox, InboxEntry, InboxProblem, InboxScan } from "./inbox.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** What lies in the inbox, and what is told of plans. */
export interface Intake {
  readonly inbox: Inbox;
  lifecycle(): Lifecycle;
}

/** A file dropped under the id of a plan that has left the inbox. */
export function idInUse(id: string): InboxProblem {
  return {
    file: `${id}.md`,
    reason: `id in use: another plan is already called ${id}`,
    hint: `Rename prloom/.local/inbox/${id}.md; ids are never used twice.`,
  };
}

/** Whether a file in the inbox may stand for this record: it does until the plan has left the inbox. */
export function ownsInboxFile(record: PlanRecord | undefined): boolean {
  if (!record) return true;
  if (record.deleted) return record.branch === undefined;
  return isInboxRecord(record) || record.inInbox;
}

/** What of an inbox intake needs: a whole scan, or a look at one plan. */
export type InboxLook = Pick<InboxScan, "entries">;

/** What a look at one plan finds once its files say this. */
export function lookOf(entry: InboxEntry): InboxLook {
  return { entries: new Map([[entry.id, entry]]) };
}

/**
 * Brings the records in line with what lies in the inbox for these ids; returns the plans whose record changed. One that
 * cannot be taken is reported, found again at the next look at everything, and keeps no other from being taken.
 */
export function takeInbox(
  loom: Located & Naming & Records & Intake & Watched & Reporting,
  scan: InboxLook,
  ids: Iterable<string>,
): string[] {
  const touched: string[] = [];
  for (const id of ids) {
    if (loom.stalls.isHeld(id)) continue;
    try {
      if (loom.watch.about(id, "taking it from the inbox", () => takePlan(loom, scan, id))) touched.push(id);
    } catch (error) {
      loom.report({ planId: id, level: "bad", text: `taking it from the inbox failed: ${messageOf(error)}` });
    }
  }
  return touched;
}

/** The same for one plan; throws when it cannot be taken. */
export function takePlan(loom: Located & Naming & Records & Intake & Reporting, scan: InboxLook, id: string): boolean {
  const entry = scan.entries.get(id);
  const record = loom.store.byId(id);
  forgetRemoved(loom, id, entry);
  if (!entry) return takeVanished(loom, record);
  return ownsInboxFile(record) && takeEntry(loom, entry, record);
}

/** What a person took out of the inbox is not put there again after a power loss. */
function forgetRemoved({ paths, store }: Located & Records, id: string, entry: InboxEntry | undefined): void {
  const { text, meta } = inboxOf(paths, id);
  store.forget([...(entry?.hasText ? [] : [text]), ...(entry?.hasMeta ? [] : [meta])]);
}

/** The same for everything: what lies in the inbox, and what should and does not. */
export function takeWholeInbox(
  loom: Located & Naming & Records & Intake & Watched & Reporting,
  scan: InboxLook,
): string[] {
  return takeInbox(loom, scan, inboxIds(loom, scan));
}

/** Plans that lie in the inbox, and those that should. */
export function inboxIds(loom: Records, scan: InboxLook): Set<string> {
  const { records } = loom.store.list({ status: ["draft", "queued"] });
  return new Set([...scan.entries.keys(), ...records.map((record) => record.id)]);
}

/** A plan whose files are gone before it was activated: a person removed it. */
export function hasVanished(record: PlanRecord | undefined): record is PlanRecord {
  return record !== undefined && !record.deleted && isInboxRecord(record) && !record.worktreeReady;
}

function takeVanished(loom: Records & Reporting, record: PlanRecord | undefined): boolean {
  if (!hasVanished(record)) return false;
  const deleted = { at: isoTime(loom.clock.now()), reason: "file_removed" as const };
  updateRecord(loom, record.id, () => ({ deleted, inInbox: false }));
  loom.report({ planId: record.id, level: "warn", text: "its file was removed from the inbox" });
  return true;
}

/** What the inbox says about a plan, and what is wrong with it. */
function readWish(loom: Records, entry: InboxEntry, record: PlanRecord | undefined) {
  const { status = "draft" as const, hidden = false, source, metadata = {} } = entry.meta;
  const owner = source ? loom.store.bySource(source) : undefined;
  const taken = owner !== undefined && owner.id !== entry.id && owner.status !== "done";
  if (entry.problem !== undefined) {
    const kept = record ?? { status: "draft" as const, hidden: false, source: undefined, metadata: {} };
    return { fields: pick(kept), problem: entry.problem };
  }
  if (!taken) return { fields: { status, hidden, source, metadata }, problem: undefined };
  const reason = `source in use: ${owner.id} is already the plan for ${source?.system} ${source?.kind} ${source?.id}`;
  const problem = { file: `${entry.id}.json`, reason };
  return { fields: { status, hidden, source: record?.source, metadata }, problem };
}

function pick(record: Pick<PlanRecord, "status" | "hidden" | "source" | "metadata">) {
  const { status, hidden, source, metadata } = record;
  return { status, hidden, source, metadata };
}

function takeEntry(
  loom: Naming & Records & Intake & Reporting,
  entry: InboxEntry,
  before: PlanRecord | undefined,
): boolean {
  if (loom.store.problems.some((problem) => problem.id === entry.id)) return false;
  const record = before?.deleted ? undefined : before;
  if (record && !isInboxRecord(record)) return false;
  const { fields, problem } = readWish(loom, entry, record);
  if (!record) {
    // Another takes its id, home and record: the last moment to tell that it was deleted.
    if (before) loom.lifecycle().look(before.id);
    createRecord(loom, { ...fields, id: entry.id, blocked: inboxBlock(loom, problem) }, before);
    return true;
  }
  const blockedBefore = record.blocked?.cause === "inbox" ? record.blocked.reason : undefined;
  if (isDeepStrictEqual(fields, pick(record)) && problem?.reason === blockedBefore) return false;
  const block = inboxBlock(loom, problem);
  const cleared = record.blocked?.cause === "inbox" ? undefined : record.blocked;
  updateRecord(loom, entry.id, () => ({ ...fields, blocked: block ?? cleared }));
  return true;
}

function inboxBlock(loom: Timing, problem: FileProblem | undefined): PlanRecord["blocked"] {
  if (problem === undefined) return undefined;
  const { file, reason } = problem;
  const hint = `Fix prloom/.local/inbox/${file}; prloom notices by itself.`;
  return { reason, at: isoTime(loom.clock.now()), hint, cause: "inbox" };
}

type Fresh = Pick<PlanRecord, "id" | "status" | "hidden" | "source" | "metadata" | "blocked">;

/** `before` is a deleted plan that never left the inbox: its home goes on with a new uid. */
function createRecord(loom: Naming & Records & Reporting, fresh: Fresh, before: PlanRecord | undefined): void {
  const now = loom.clock.now();
  const at = isoTime(now);
  const uid = loom.ids.ulid(now);
  const record: PlanRecord = {
    schemaVersion: RECORD_SCHEMA_VERSION,
    uid,
    ...fresh,
    paused: false,
    worktreeReady: false,
    inInbox: true,
    runs: before?.runs ?? 0,
    createdAt: at,
    updatedAt: at,
    revision: 0,
  };
  loom.store.put(uid, record, -1);
  loom.report({ planId: fresh.id, level: "info", text: `found in the inbox, ${fresh.status}` });
}
