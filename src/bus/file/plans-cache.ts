import { type Clock, isoTime } from "../../kernel/clock.ts";
import { readTextIfExists, writeFileAtomic } from "../../kernel/files.ts";
import { asFields, type JsonFields } from "../../kernel/json-fields.ts";
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

/** A plan is a list: the three of its mark, then its record as it is, since nothing makes objects faster than the parser. */
type Row = [mtimeMs: number, size: number, ino: number, record: PlanRecord];

const SCHEMA_VERSION = 3;

/** What every record has. */
const TEXTS = ["id", "uid", "status", "createdAt", "updatedAt"] as const satisfies (keyof PlanRecord)[];

/** Whether the file still is what the mark was taken from. */
export function isSameFile(a: FileMark, b: FileMark): boolean {
  return a.mtimeMs === b.mtimeMs && a.size === b.size && a.ino === b.ino;
}

/** Undefined for a mangled entry; the state file is read in its place. */
function planIn(row: unknown): CachedPlan | undefined {
  if (!Array.isArray(row)) return undefined;
  const [mtimeMs, size, ino, record] = row as Row;
  if (typeof record !== "object" || record === null || !Number.isInteger(record.revision)) return undefined;
  for (const key of TEXTS) if (typeof record[key] !== "string") return undefined;
  return { mtimeMs, size, ino, record };
}

function rowsIn({ schemaVersion, shape, plans }: JsonFields): readonly unknown[] {
  return schemaVersion === SCHEMA_VERSION && shape === SHAPE && Array.isArray(plans) ? plans : [];
}

/** The cached records by plan id. A cache that is absent, broken or foreign is an empty one: it can be rebuilt. */
export function readPlansCache(path: string): Map<string, CachedPlan> {
  const plans = new Map<string, CachedPlan>();
  try {
    const text = readTextIfExists(path);
    for (const row of text === undefined ? [] : rowsIn(asFields(JSON.parse(text)))) {
      const plan = planIn(row);
      if (plan) plans.set(plan.record.id, plan);
    }
    return plans;
  } catch {
    return new Map();
  }
}

/** Writes the cache that makes the next start cheap. */
export function writePlansCache(path: string, entries: ReadonlyMap<string, CachedPlan>, clock: Clock): void {
  const rowOf = ({ mtimeMs, size, ino, record }: CachedPlan): Row => [mtimeMs, size, ino, record];
  const plans = [...entries.values()].map(rowOf);
  writeFileAtomic(
    path,
    JSON.stringify({ schemaVersion: SCHEMA_VERSION, shape: SHAPE, savedAt: isoTime(clock.now()), plans }),
  );
}
