import * as z from "zod";
import { type Clock, isoTime } from "../../kernel/clock.ts";
import { readTextIfExists, writeFileAtomic } from "../../kernel/files.ts";
import { PARSED_ONCE } from "../../kernel/json.ts";
import { type PlanRecord, planRecordSchema, RECORD_SCHEMA_VERSION } from "../../plan/record.ts";

/** What tells one version of a file from another without opening it: an atomic write makes a new inode. */
export interface FileMark {
  readonly mtimeMs: number;
  readonly size: number;
  readonly ino: number;
}

export interface CachedPlan extends FileMark {
  readonly record: PlanRecord;
}

/**
 * The keys that a record has in this version. A cache written under the same keys holds records that the schema accepted
 * when they were read; checking a thousand of them again would cost more than all the rest of a start.
 */
const SHAPE = [RECORD_SCHEMA_VERSION, ...Object.keys(planRecordSchema.shape).sort()].join(" ");

const cacheSchema = z.object({
  schemaVersion: z.literal(1),
  shape: z.literal(SHAPE),
  entries: z.custom<Record<string, CachedPlan>>((value) => typeof value === "object" && value !== null),
});

/** Whether the file still is what the mark was taken from. */
export function isSameFile(a: FileMark, b: FileMark): boolean {
  return a.mtimeMs === b.mtimeMs && a.size === b.size && a.ino === b.ino;
}

/** Enough to know a mangled entry; the state file is read in its place. */
function looksWhole(id: string, record: Partial<PlanRecord> | undefined): boolean {
  const texts = [record?.uid, record?.status, record?.createdAt, record?.updatedAt];
  return record?.id === id && texts.every((text) => typeof text === "string") && Number.isInteger(record.revision);
}

/** The cached records by plan id. A cache that is absent, broken or foreign is an empty one: it can be rebuilt. */
export function readPlansCache(path: string): Map<string, CachedPlan> {
  try {
    const text = readTextIfExists(path);
    if (text === undefined) return new Map();
    const { entries } = cacheSchema.parse(JSON.parse(text), PARSED_ONCE);
    return new Map(Object.entries(entries).filter(([id, entry]) => looksWhole(id, entry?.record)));
  } catch {
    return new Map();
  }
}

/** Writes the cache that makes the next start cheap. */
export function writePlansCache(path: string, entries: ReadonlyMap<string, CachedPlan>, clock: Clock): void {
  const cache = { schemaVersion: 1, shape: SHAPE, savedAt: isoTime(clock.now()), entries: Object.fromEntries(entries) };
  writeFileAtomic(path, JSON.stringify(cache));
}
