import { PrloomError } from "../kernel/errors.ts";
import { deepFreeze } from "../kernel/json.ts";
import { type PlanRecord, type PlanSource, planRecordSchema, type StoredStatus, sourceKey } from "../plan/record.ts";
import type { Page, PlanFilter, PlanStore } from "./ports.ts";

/** The records in memory, found by uid, id and source at a cost that does not depend on how many there are. */
export interface PlanIndex extends Omit<PlanStore, "put"> {
  /** The value as it may be stored, with its new revision; throws when another plan or revision is in the way. */
  admit(uid: string, value: PlanRecord, expectedRevision: number): PlanRecord;
  set(record: PlanRecord): void;
  remove(uid: string): void;
}

const ALL: Page = { limit: Number.MAX_SAFE_INTEGER };

/** A plan that was deleted before any work on it began: its id may be used again, nothing else speaks of it. */
function isForgettable(record: PlanRecord): boolean {
  return record.deleted !== undefined && record.branch === undefined;
}

/** Makes an empty index; both plan stores keep their records in one. */
export function createPlanIndex(): PlanIndex {
  const records = new Map<string, PlanRecord>();
  const ids = new Map<string, string>();
  const sources = createGroups<string>();
  const statuses = createGroups<StoredStatus>();
  let order: string[] = [];
  let stale = false;

  const remove = (uid: string): void => {
    const record = records.get(uid);
    if (!record) return;
    records.delete(uid);
    ids.delete(record.id);
    statuses.delete(record.status, uid);
    if (record.source) sources.delete(sourceKey(record.source), uid);
    stale = true;
  };
  const set = (record: PlanRecord): void => {
    const old = records.get(record.uid);
    const namesake = ids.get(record.id);
    if (namesake !== undefined && namesake !== record.uid) remove(namesake);
    if (old?.source) sources.delete(sourceKey(old.source), record.uid);
    if (old) statuses.delete(old.status, record.uid);
    records.set(record.uid, record);
    ids.set(record.id, record.uid);
    statuses.add(record.status, record.uid);
    if (record.source && !record.deleted) sources.add(sourceKey(record.source), record.uid);
    if (old) return;
    if (record.uid < (order.at(-1) ?? "")) stale = true;
    order.push(record.uid);
  };
  const bySource = (source: PlanSource): PlanRecord | undefined => {
    let newest: PlanRecord | undefined;
    for (const uid of sources.get(sourceKey(source))) {
      const record = records.get(uid);
      if (!record) continue;
      if (record.status !== "done") return record;
      if (!newest || newest.uid < uid) newest = record;
    }
    return newest;
  };
  const byId = (id: string): PlanRecord | undefined => records.get(ids.get(id) ?? "");
  /** Sorted. A few active plans among thousands that are done must not cost thousands. */
  const among = (status: PlanFilter["status"]): readonly string[] => {
    if (status !== undefined) return [...new Set([status].flat())].flatMap((one) => [...statuses.get(one)]).sort();
    if (stale) order = [...records.keys()].sort();
    stale = false;
    return order;
  };
  const list = (filter: PlanFilter = {}, page: Page = ALL): { records: PlanRecord[]; next?: string } =>
    pageOf({ records, uids: among(filter.status) }, filter, page);
  const admit = (uid: string, value: PlanRecord, expectedRevision: number): PlanRecord => {
    const old = records.get(uid);
    if (value.uid !== uid || (old && old.id !== value.id)) throw new Error("a plan's uid and id never change");
    if ((old?.revision ?? -1) !== expectedRevision) throw revisionConflict(value.id, expectedRevision, old?.revision);
    const sameId = byId(value.id);
    if (sameId && sameId.uid !== uid && !isForgettable(sameId)) throw idTaken(value.id);
    if (value.source && value.status !== "done" && !value.deleted) {
      const holder = bySource(value.source);
      if (holder && holder.uid !== uid && holder.status !== "done") throw sourceTaken(value.source, holder.id);
    }
    return freezeRecord({ ...value, revision: expectedRevision + 1 });
  };
  return { get: (uid) => records.get(uid), byId, bySource, list, admit, set, remove };
}

interface Sorted {
  readonly records: ReadonlyMap<string, PlanRecord>;
  readonly uids: readonly string[];
}

function pageOf({ records, uids }: Sorted, filter: PlanFilter, page: Page): { records: PlanRecord[]; next?: string } {
  const found: PlanRecord[] = [];
  for (let at = page.after === undefined ? 0 : firstAfter(uids, page.after); at < uids.length; at += 1) {
    const record = records.get(uids[at] ?? "");
    if (!record || !matches(record, filter)) continue;
    const last = found.at(-1);
    if (last && found.length >= page.limit) return { records: found, next: last.uid };
    found.push(record);
  }
  return { records: found };
}

/** Uids by something they have in common. */
function createGroups<Key>() {
  const groups = new Map<Key, Set<string>>();
  return {
    get: (key: Key): Iterable<string> => groups.get(key) ?? [],
    add: (key: Key, uid: string): unknown => groups.set(key, (groups.get(key) ?? new Set()).add(uid)),
    delete(key: Key, uid: string): void {
      const group = groups.get(key);
      group?.delete(uid);
      if (group?.size === 0) groups.delete(key);
    },
  };
}

/** A deep copy that cannot be changed, exactly as a file would give it back. */
function freezeRecord(value: PlanRecord): PlanRecord {
  return deepFreeze(planRecordSchema.parse(JSON.parse(JSON.stringify(value))));
}

/** Index of the first element that is greater than `after`. */
function firstAfter(order: readonly string[], after: string): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((order[middle] ?? "") <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Everything but the status, which chose where to look. */
function matches(record: PlanRecord, filter: PlanFilter): boolean {
  if (filter.hidden !== undefined && record.hidden !== filter.hidden) return false;
  if (!filter.source) return true;
  const { system, kind, id } = filter.source;
  if (!record.source) return system === undefined && kind === undefined && id === undefined;
  return (
    (system === undefined || system === record.source.system) &&
    (kind === undefined || kind === record.source.kind) &&
    (id === undefined || id === record.source.id)
  );
}

function revisionConflict(id: string, expected: number, found: number | undefined): PrloomError {
  const state = found === undefined ? "does not exist" : `is at revision ${found}`;
  return new PrloomError(
    "revision-conflict",
    `Plan ${id} ${state}; the change was made for revision ${expected}.`,
    `It was changed in between. Look with \`prloom show ${id}\` and do it again.`,
  );
}

function idTaken(id: string): PrloomError {
  return new PrloomError(
    "id-taken",
    `There is already a plan called ${id}.`,
    `Choose another name; \`prloom show ${id}\` prints the plan that has it.`,
  );
}

function sourceTaken(source: PlanSource, id: string): PrloomError {
  return new PrloomError(
    "source-taken",
    `Plan ${id} already stands for ${source.system} ${source.kind} ${source.id}.`,
    `Change that plan instead: \`prloom show ${id}\`.`,
  );
}
