import { isDeepStrictEqual } from "node:util";
import { isoTime } from "../kernel/clock.ts";
import { PrloomError } from "../kernel/errors.ts";
import { type PlanRecord, RECORD_SCHEMA_VERSION } from "../plan/record.ts";
import type { InboxEntry, InboxProblem, InboxScan } from "./inbox.ts";
import { type Loom, updateRecord } from "./loom.ts";

/** True while the text of the plan is the inbox file. */
export function isInboxRecord(record: PlanRecord): boolean {
  return record.status === "draft" || record.status === "queued";
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

/** Brings the records in line with what lies in the inbox; returns the plans whose record changed. */
export function takeInbox(loom: Loom, scan: InboxScan, ids: Iterable<string>): string[] {
  const touched: string[] = [];
  for (const id of ids) {
    const entry = scan.entries.get(id);
    const record = loom.store.byId(id);
    if (entry && ownsInboxFile(record)) {
      if (takeEntry(loom, entry, record)) touched.push(id);
    } else if (!entry && record && !record.deleted && isInboxRecord(record) && !record.worktreeReady) {
      updateRecord(loom, id, () => ({
        deleted: { at: isoTime(loom.clock.now()), reason: "file_removed" },
        inInbox: false,
      }));
      loom.report({ planId: id, level: "warn", text: "its file was removed from the inbox" });
      touched.push(id);
    }
  }
  return touched;
}

function takeEntry(loom: Loom, entry: InboxEntry, record: PlanRecord | undefined): boolean {
  if (loom.store.problems.some((problem) => problem.id === entry.id)) return false;
  if (record && !record.deleted && !isInboxRecord(record)) return false;
  const wanted = wantedFields(entry);
  if (!record || record.deleted) {
    createRecord(loom, entry, record);
    return true;
  }
  const same = isDeepStrictEqual(wanted, {
    status: record.status,
    hidden: record.hidden,
    source: record.source,
    metadata: record.metadata,
  });
  const problemNow = entry.problem;
  const blockedByInbox = record.blocked?.cause === "inbox";
  if (
    same &&
    (problemNow === undefined) === !blockedByInbox &&
    record.blocked?.reason === (problemNow ?? record.blocked?.reason)
  ) {
    return false;
  }
  putWithSource(loom, record.id, () => ({
    ...(problemNow === undefined ? wanted : {}),
    ...blockedFields(loom, entry, record),
  }));
  return true;
}

function wantedFields(entry: InboxEntry) {
  return {
    status: entry.meta.status ?? ("draft" as const),
    hidden: entry.meta.hidden ?? false,
    source: entry.meta.source,
    metadata: entry.meta.metadata ?? {},
  };
}

function blockedFields(loom: Loom, entry: InboxEntry, record: PlanRecord | undefined): Partial<PlanRecord> {
  if (entry.problem !== undefined) return { blocked: inboxBlock(loom, entry.problem, entry.id) };
  return record?.blocked?.cause === "inbox" ? { blocked: undefined } : {};
}

function inboxBlock(loom: Loom, reason: string, id: string) {
  return {
    reason,
    at: isoTime(loom.clock.now()),
    hint: `Mend prloom/.local/inbox/${id}.json; prloom notices by itself.`,
    cause: "inbox" as const,
  };
}

function createRecord(loom: Loom, entry: InboxEntry, before: PlanRecord | undefined): void {
  const now = loom.clock.now();
  const at = isoTime(now);
  const fresh: PlanRecord = {
    schemaVersion: RECORD_SCHEMA_VERSION,
    uid: loom.ids.ulid(now),
    id: entry.id,
    ...wantedFields(entry),
    ...blockedFields(loom, entry, undefined),
    paused: false,
    worktreeReady: false,
    inInbox: true,
    runs: 0,
    createdAt: at,
    updatedAt: at,
    revision: 0,
  };
  const revision = before ? before.revision : -1;
  try {
    loom.store.put(fresh.uid, fresh, revision);
  } catch (error) {
    if (!isSourceTaken(error)) throw error;
    loom.store.put(
      fresh.uid,
      { ...fresh, source: undefined, blocked: inboxBlock(loom, error.message, entry.id) },
      revision,
    );
  }
  loom.report({ planId: entry.id, level: "info", text: `found in the inbox, ${fresh.status}` });
}

function putWithSource(loom: Loom, id: string, change: (record: PlanRecord) => Partial<PlanRecord>): void {
  try {
    updateRecord(loom, id, change);
  } catch (error) {
    if (!isSourceTaken(error)) throw error;
    updateRecord(loom, id, (record) => ({
      ...change(record),
      source: record.source,
      blocked: inboxBlock(loom, error.message, id),
    }));
  }
}

function isSourceTaken(error: unknown): error is PrloomError {
  return error instanceof PrloomError && error.code === "source-taken";
}
