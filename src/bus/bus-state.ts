import { dirname } from "node:path";
import * as z from "zod";
import { ensureDir, existsNoFollow, readTextIfExists, writeFileAtomic } from "../kernel/files.ts";
import { isJson, type JsonValue } from "../kernel/json.ts";
import { newerFormat, ownJsonIn } from "../kernel/json-fields.ts";
import { waitKindSchema } from "./marks.ts";
import { START } from "./ports.ts";

/** Settled ids and their handlers are remembered for this many records of each kind. */
export const MAX_PROCESSED = 1000;

const waitSchema = z.strictObject({
  reason: z.string(),
  /** Milliseconds since the epoch. */
  deferredUntil: z.number(),
  /** Calls that threw, or ended the process. */
  attempts: z.int().min(0),
  /** Explicit deferrals in a row; these never count as attempts. */
  deferrals: z.int().min(0),
  /** When it was first put off. */
  since: z.number(),
  /** What became of an earlier call is not known. */
  uncertain: z.literal(true).optional(),
  kind: waitKindSchema.optional(),
});
/** One handler's wait for its next call with a record. */
export type Wait = z.infer<typeof waitSchema>;

const deferredSchema = z.strictObject({
  reason: z.string(),
  deferredUntil: z.number(),
  attempts: z.int().min(0),
  /** Reading one record from here gives the record. */
  at: z.string().optional(),
  handlers: z.record(z.string(), waitSchema),
});
export type Deferred = z.infer<typeof deferredSchema>;

const deadLetterSchema = z.strictObject({
  record: z.string(),
  handler: z.string(),
  reason: z.string(),
  attempts: z.int().min(0),
  since: z.number(),
  about: z.enum(["event", "action"]),
  at: z.string().optional(),
  uncertain: z.literal(true).optional(),
  /** It only follows from another letter of the same record, which says why. */
  follows: z.literal(true).optional(),
  /** An item of a poll that is judged again at the next one. */
  revived: z.literal(true).optional(),
});
export type DeadLetter = z.infer<typeof deadLetterSchema>;

const resultsSchema = z.strictObject({
  about: z.enum(["event", "action"]),
  handlers: z.record(
    z.string(),
    z.custom<JsonValue>((value) => isJson(value)),
  ),
});

const aheadSchema = z.strictObject({
  about: z.enum(["event", "action"]),
  at: z.string(),
  /** Every handler was offered it; only an older one keeps the cursor before it. */
  done: z.literal(true).optional(),
});

const pendingSchema = z.strictObject({ since: z.number(), at: z.string().optional() });

/** What follows from the settlements of a scope, up to `settledOffset`. Stored as bus/state/dispatcher.json. */
export const busStateSchema = z.strictObject({
  schemaVersion: z.literal(1),
  eventsOffset: z.string(),
  actionsOffset: z.string(),
  settledOffset: z.string(),
  /** Newest last. */
  processedEventIds: z.array(z.string()),
  processedActionIds: z.array(z.string()),
  /** Handlers that are done with a record, for the records that are remembered. */
  settled: z.record(z.string(), z.array(z.string())),
  deferredEventIds: z.record(z.string(), deferredSchema),
  deferredActionIds: z.record(z.string(), deferredSchema),
  /** Calls under way, by `callKey`: counted, and not settled yet. */
  attempts: z.record(z.string(), z.int().min(1)),
  /** When the last of them was counted, by record. */
  calledAt: z.record(z.string(), z.string()).default({}),
  pendingTriage: z.record(z.string(), pendingSchema),
  /** What handlers decided about records that are not closed yet. */
  results: z.record(z.string(), resultsSchema).default({}),
  /** Records beyond the cursor of which something was settled: never forgotten. */
  ahead: z.record(z.string(), aheadSchema).default({}),
  dead: z.strictObject({ count: z.int().min(0), letters: z.array(deadLetterSchema) }),
});
export type BusState = z.infer<typeof busStateSchema>;

/** The state of a scope in which nothing was settled yet. */
export function emptyBusState(): BusState {
  return {
    schemaVersion: 1,
    eventsOffset: START,
    actionsOffset: START,
    settledOffset: START,
    processedEventIds: [],
    processedActionIds: [],
    settled: {},
    deferredEventIds: {},
    deferredActionIds: {},
    attempts: {},
    calledAt: {},
    pendingTriage: {},
    results: {},
    ahead: {},
    dead: { count: 0, letters: [] },
  };
}

/** The snapshot, or undefined when there is none that can be used: then it is rebuilt from the journals. */
export function readStateFile(path: string): BusState | undefined {
  const text = readTextIfExists(path);
  if (text === undefined) return undefined;
  const value = ownJsonIn(text);
  const newer = newerFormat(path, value, 1);
  if (newer) throw newer;
  const result = busStateSchema.safeParse(value);
  return result.success ? result.data : undefined;
}

/** Replaces the snapshot, where its bus still is: a repository may be moved away under its dispatcher, and its old place stays free. */
export function writeStateFile(path: string, state: BusState): void {
  const dir = dirname(path);
  if (!existsNoFollow(dirname(dir))) return;
  ensureDir(dir);
  writeFileAtomic(path, `${JSON.stringify(state, null, 2)}\n`);
}
