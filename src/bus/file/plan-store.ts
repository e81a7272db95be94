import { type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { errnoOf, messageOf, PrloomError } from "../../kernel/errors.ts";
import { ensureDir, listDir, readTextIfExists, writeFileAtomic } from "../../kernel/files.ts";
import { deepFreeze } from "../../kernel/json.ts";
import { newerFormat } from "../../kernel/json-fields.ts";
import { OpenNote } from "../../kernel/open-note.ts";
import { type NewFile, writeTogether } from "../../kernel/write-together.ts";
import { type PlanRecord, planRecordSchema, RECORD_SCHEMA_VERSION } from "../../plan/record.ts";
import { createPlanIndex, type PlanIndex } from "../plan-index.ts";
import type { PlanStore } from "../ports.ts";
import { type CachedPlan, type FileMark, isSameFile, readPlansCache, writePlansCache } from "./plans-cache.ts";

/** A plan whose record cannot be used. Its file is left as it is. */
export interface PlanProblem {
  readonly id: string;
  readonly path: string;
  readonly code: "state-unreadable" | "schema-newer";
  readonly message: string;
  readonly hint: string;
}

export interface FilePlanStore extends PlanStore {
  /** Plans that are not listed, because their record cannot be used. */
  readonly problems: readonly PlanProblem[];
  /** Looks at the directory again; opens only what changed. Returns the ids of plans that changed, came or went. */
  reload(): string[];
  /**
   * What `work` puts and the files that it adds are written in that order when it is over, with one sync for all. Until
   * then the files are as they were. If it throws, nothing of it is kept.
   */
  together<T>(work: (files: NewFile[]) => T): Together<T>;
  /**
   * From now on what is put is safe from a kill at once, and from a power loss after `sync` or a second. For an owner that
   * puts much: it syncs before anything follows from its records outside of them.
   */
  syncLater(onProblem: (error: unknown) => void): void;
  /** Called for files of `together` that are being removed, before something is put that says so. */
  forget(paths: readonly string[]): void;
  /** What was put is safe from a power loss when it returns. */
  sync(): void;
  /** The same when it resolves: others go on meanwhile. */
  synced(): Promise<void>;
  /** Ends `syncLater`; resolves when everything is on the disk. */
  syncAtOnce(): Promise<void>;
  /** Writes the cache that makes the next start cheap, if something changed. */
  saveIndex(): void;
}

export interface Together<T> {
  readonly result: T;
  /** Resolves when everything is safe from a power loss, or may wait for `sync`; before that, it is safe from a killed process. */
  readonly safe: Promise<void>;
}

/** Where files that are about to be written together are noted; see `repairWritten`. */
export function notesOf(plansDir: string): string {
  return join(dirname(plansDir), "writing");
}

export interface FilePlanStoreOptions {
  /** The homes: `<plansDir>/<id>/state.json`. */
  readonly plansDir: string;
  readonly clock: Clock;
}

type Loaded = { readonly record: PlanRecord } | { readonly problem: PlanProblem };

interface Homes {
  readonly plansDir: string;
  readonly index: PlanIndex;
  readonly entries: Map<string, CachedPlan>;
  readonly problems: Map<string, { mark: FileMark; problem: PlanProblem }>;
  /** What is to be written together, while it is being made. */
  gathered?: NewFile[] | undefined;
  /** While syncs wait. */
  note?: OpenNote | undefined;
}

/** Records in the homes of plans. Creating it reads, and never writes. */
export function createFilePlanStore(options: FilePlanStoreOptions): FilePlanStore {
  const { plansDir, clock } = options;
  const cachePath = join(dirname(plansDir), "plans-index.json");
  const index = createPlanIndex();
  const homes: Homes = { plansDir, index, entries: new Map(), problems: new Map() };
  let cached = readPlansCache(cachePath);
  let changedSinceSave = scan(homes, cached).opened || cached.size !== homes.entries.size;
  cached = new Map();

  const put = (uid: string, value: PlanRecord, expectedRevision: number): PlanRecord => {
    // A home that came after the scan is not ours to overwrite.
    if (expectedRevision === -1 && !homes.entries.has(value.id)) look(homes, value.id, cached);
    const problem = homes.problems.get(value.id)?.problem;
    if (problem) throw problemError(problem);
    const record = index.admit(uid, value, expectedRevision);
    const path = statePath(plansDir, record.id);
    const data = `${JSON.stringify(record, null, 2)}\n`;
    const isWritten = (): void => {
      homes.entries.set(record.id, { ...markOf(statSync(path)), record });
      crashPoint("bus.record-written");
    };
    if (!homes.entries.has(record.id)) ensureDir(dirname(path));
    if (homes.gathered) {
      homes.gathered.push({ path, data, onWritten: isWritten });
      homes.entries.set(record.id, { ...NO_MARK, record });
    } else if (homes.note) {
      homes.note.write([{ path, data, onWritten: isWritten }]);
    } else {
      writeFileAtomic(path, data);
      isWritten();
    }
    index.set(record);
    changedSinceSave = true;
    return record;
  };
  return {
    get: index.get,
    byId: index.byId,
    bySource: index.bySource,
    list: index.list,
    put,
    together: (work) => together(homes, work),
    syncLater(onProblem) {
      homes.note ??= new OpenNote(notesOf(plansDir), onProblem);
    },
    forget: (paths) => homes.note?.forget(paths),
    sync: () => homes.note?.sync(),
    synced: async () => homes.note?.synced(),
    async syncAtOnce() {
      const { note } = homes;
      homes.note = undefined;
      await note?.close();
    },
    get problems() {
      return [...homes.problems.values()].map(({ problem }) => problem);
    },
    reload: () => {
      const { changed } = scan(homes, cached);
      if (changed.length > 0) changedSinceSave = true;
      return changed;
    },
    saveIndex: () => {
      if (!changedSinceSave) return;
      ensureDir(dirname(cachePath));
      writePlansCache(cachePath, homes.entries, clock);
      changedSinceSave = false;
    },
  };
}

function together<T>(homes: Homes, work: (files: NewFile[]) => T): Together<T> {
  if (homes.gathered) return { result: work(homes.gathered), safe: Promise.resolve() };
  const files: NewFile[] = [];
  homes.gathered = files;
  try {
    return { result: work(files), safe: writeGathered(homes, files) };
  } catch (error) {
    // What is in memory and not in its file must not count.
    for (const [id, entry] of [...homes.entries]) if (isSameFile(entry, NO_MARK)) look(homes, id, new Map());
    throw error;
  } finally {
    homes.gathered = undefined;
  }
}

function writeGathered({ plansDir, note }: Homes, files: readonly NewFile[]): Promise<void> {
  if (!note) return writeTogether(notesOf(plansDir), files);
  note.write(files);
  return Promise.resolve();
}

function statePath(plansDir: string, id: string): string {
  return `${plansDir}/${id}/state.json`;
}

function markOf(stat: Stats): FileMark {
  return { mtimeMs: stat.mtimeMs, size: stat.size, ino: stat.ino };
}

type Look = "same" | "cached" | "opened" | "gone";

function scan(homes: Homes, cached: ReadonlyMap<string, CachedPlan>): { changed: string[]; opened: boolean } {
  const ids = new Set([...listDir(homes.plansDir), ...homes.entries.keys(), ...homes.problems.keys()]);
  const changed: string[] = [];
  let opened = false;
  for (const id of ids) {
    const result = look(homes, id, cached);
    if (result === "opened") opened = true;
    if (result !== "same") changed.push(id);
  }
  return { changed, opened };
}

/** Brings what is known about one home up to date. */
function look(homes: Homes, id: string, cached: ReadonlyMap<string, CachedPlan>): Look {
  const path = statePath(homes.plansDir, id);
  const known = homes.entries.get(id) ?? homes.problems.get(id)?.mark;
  const stat = statIfThere(path);
  if (stat instanceof Error) {
    if (known === NO_MARK) return "same";
    forget(homes, id);
    homes.problems.set(id, { mark: NO_MARK, problem: unreadable(id, path, messageOf(stat)) });
    return "opened";
  }
  if (!stat) {
    if (known) forget(homes, id);
    return known ? "gone" : "same";
  }
  if (known && isSameFile(known, stat)) return "same";
  forget(homes, id);
  const mark = markOf(stat);
  const entry = cached.get(id);
  const isCached = entry !== undefined && isSameFile(entry, stat) && entry.record.id === id;
  const loaded: Loaded = isCached ? { record: entry.record } : load(path, id);
  if ("record" in loaded && !homes.index.get(loaded.record.uid)) {
    const record = deepFreeze(loaded.record);
    homes.entries.set(id, { ...mark, record });
    homes.index.set(record);
  } else {
    const problem = "problem" in loaded ? loaded.problem : unreadable(id, path, "another plan has the same uid");
    homes.problems.set(id, { mark, problem });
  }
  return isCached ? "cached" : "opened";
}

/** Anything in the place of a record counts, so that something that is not a file is reported and not overlooked. */
function statIfThere(path: string): Stats | Error | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // A home that may not be entered, a link to itself: one plan's, and no reason to know nothing of the others.
    if (error instanceof Error && errnoOf(error) !== undefined) return error;
    throw error;
  }
}

/** Of a file that cannot even be looked at; it is looked at again each time. */
const NO_MARK: FileMark = { mtimeMs: -1, size: -1, ino: -1 };

function forget(homes: Homes, id: string): void {
  const entry = homes.entries.get(id);
  if (entry) homes.index.remove(entry.record.uid);
  homes.entries.delete(id);
  homes.problems.delete(id);
}

function load(path: string, id: string): Loaded {
  try {
    const value: unknown = JSON.parse(readTextIfExists(path) ?? "");
    const newer = newerFormat(path, value, RECORD_SCHEMA_VERSION);
    if (newer) return { problem: { id, path, code: "schema-newer", message: newer.message, hint: newer.hint } };
    const { data: record, error } = planRecordSchema.safeParse(value);
    const [issue] = error?.issues ?? [];
    // In one line: zod's own words are JSON over many.
    if (!record) return { problem: unreadable(id, path, `${issue?.path.join(".") || "it"}: ${issue?.message}`) };
    if (record.id !== id) return { problem: unreadable(id, path, `it is the record of plan ${record.id}`) };
    return { record };
  } catch (error) {
    return { problem: unreadable(id, path, messageOf(error)) };
  }
}

function unreadable(id: string, path: string, why: string): PlanProblem {
  const hint = "The file was left as it is. Repair it, or move it away, and run `prloom status` again.";
  return { id, path, code: "state-unreadable", message: `${path} cannot be used: ${why}`, hint };
}

/** What is thrown where such a plan is asked for. */
export function problemError({ code, message, hint }: PlanProblem): PrloomError {
  return new PrloomError(code, message, hint);
}
