import { isoTime } from "../../kernel/clock.ts";
import { lstatIfThere } from "../../kernel/lstat.ts";
import { type PlanRecord, RECORD_SCHEMA_VERSION } from "../../plan/record.ts";
import type { Timing } from "../capabilities.ts";
import type { InboxEntry } from "../intake/inbox.ts";
import { hasVanished, ownsInboxFile } from "../intake/intake.ts";
import { inboxOf, type Located } from "../paths.ts";
import type { Records } from "../records.ts";

/** The records as they would be if the dispatcher looked now: a file dropped a moment ago counts. */
export function currentRecords(loom: Located & Records, entries: ReadonlyMap<string, InboxEntry>): PlanRecord[] {
  const { records } = loom.store.list();
  const there = records.filter((record) => !record.deleted && (entries.has(record.id) || !hasVanished(record)));
  const known = there.map((record) => withInbox(record, entries.get(record.id)));
  const fresh = [...entries.values()].filter((entry) => {
    const record = loom.store.byId(entry.id);
    return !record || (record.deleted && ownsInboxFile(record));
  });
  return [...known, ...fresh.map((entry) => unseenRecord(loom, entry))];
}

function withInbox(record: PlanRecord, entry: InboxEntry | undefined): PlanRecord {
  if (!entry || (record.status !== "draft" && record.status !== "queued") || entry.problem !== undefined) return record;
  const { status = "draft", hidden = false, source, metadata = {} } = entry.meta;
  return { ...record, status, hidden, metadata, ...(source ? { source } : {}) };
}

/** No record says when it came: what its own files say is the best that is known. */
function writtenInInbox(loom: Located & Timing, entry: InboxEntry): number {
  const { text, meta } = inboxOf(loom.paths, entry.id);
  // Not of what a link leads to: one that leads in a circle leads nowhere.
  const times = [text, meta].flatMap((path) => lstatIfThere(path)?.mtimeMs ?? []);
  return times.length === 0 ? loom.clock.now() : Math.max(...times);
}

function unseenRecord(loom: Located & Timing, entry: InboxEntry): PlanRecord {
  const at = isoTime(writtenInInbox(loom, entry));
  const { status = "draft", hidden = false, source, metadata = {} } = entry.meta;
  return {
    schemaVersion: RECORD_SCHEMA_VERSION,
    uid: "",
    id: entry.id,
    status,
    hidden,
    source,
    metadata,
    paused: false,
    worktreeReady: false,
    inInbox: true,
    runs: 0,
    createdAt: at,
    updatedAt: at,
    revision: -1,
    ...(entry.problem === undefined
      ? {}
      : {
          blocked: {
            reason: entry.problem.reason,
            at,
            hint: `Fix prloom/.local/inbox/${entry.problem.file}.`,
            cause: "inbox" as const,
          },
        }),
  };
}
