import type { PlanRecord, PlanSource, StoredStatus } from "../plan/record.ts";
import type { Scope } from "./scope.ts";

/** The journals of a scope. `thread` is the local conversation as it was delivered. */
export const LOG_NAMES = ["events", "actions", "settled", "dead", "quarantine", "thread"] as const;
export type LogName = (typeof LOG_NAMES)[number];

/** Opaque position in a log: after the record it came with. `START` reads from the beginning. */
export type Cursor = string;
export const START: Cursor = "";

/** One line of a journal. File order decides, `ts` informs. */
export interface Envelope {
  readonly ts: string;
  readonly kind: string;
  readonly schemaVersion: 1;
  /** Same id in the recent past of the log: one record. */
  readonly id?: string;
  readonly data: unknown;
}

export interface NewRecord {
  readonly kind: string;
  /** Same id in the recent past of the log: one record. Absent: never a duplicate. */
  readonly id?: string;
  readonly data: unknown;
}

export interface LogItem {
  readonly cursor: Cursor;
  readonly record: Envelope;
}

export interface AppendOptions {
  /** False: safe from a killed process, and from a power loss only after `sync`. Default true. */
  readonly sync?: boolean;
}

export interface AppendResult {
  /** Position before what was appended: a reader that was here has missed nothing. */
  readonly from: Cursor;
  /** Position after the newest record. */
  readonly cursor: Cursor;
  /** The time in the envelopes. */
  readonly ts: string;
  /** Ids that were there already and were not appended again. */
  readonly duplicates: readonly string[];
}

export interface LogAddress {
  readonly scope: Scope;
  readonly log: LogName;
}

/** Append-only journals. Reading costs what is new, never what is old. */
export interface Log {
  append(address: LogAddress, records: readonly NewRecord[], options?: AppendOptions): AppendResult;
  /** Makes what was appended without `sync` safe from a power loss. Nothing to do costs nothing. */
  sync(address: LogAddress): void;
  read(address: LogAddress, after: Cursor, limit: number): { items: LogItem[]; next: Cursor };
  /**
   * Calls `visit` with each record after the cursor, one at a time, and with what tells its position, which a reader of
   * millions need not know of each; returns the position after the last.
   */
  readAll(address: LogAddress, after: Cursor, visit: (record: Envelope, cursor: () => Cursor) => void): Cursor;
  /** Resolves when there is something after the cursor, or when the signal aborts. */
  wait(address: LogAddress, after: Cursor, signal: AbortSignal): Promise<void>;
  /** The newest record with this id; with `recent`, only of the part in which an id is one record. */
  find(address: LogAddress, id: string, options?: { readonly recent?: boolean }): LogItem | undefined;
  /** Position after the newest record, without reading the records. */
  end(address: LogAddress): Cursor;
  /** Frees descriptors and watchers. */
  close(): void;
}

export interface PlanFilter {
  readonly status?: StoredStatus | readonly StoredStatus[];
  readonly hidden?: boolean;
  readonly source?: Partial<PlanSource>;
}

export interface Page {
  readonly after?: string;
  readonly limit: number;
}

/** Where records live. Values are immutable; a put names the revision it is based on. */
export interface PlanStore {
  get(uid: string): PlanRecord | undefined;
  /**
   * Stores `value` with revision `expectedRevision + 1` and returns it; `expectedRevision` -1 creates. Throws
   * PrloomError `revision-conflict` when the stored revision is another, `source-taken` when another plan has that
   * source, `id-taken` when another uid has that id and is more than a draft that was deleted.
   */
  put(uid: string, value: PlanRecord, expectedRevision: number): PlanRecord;
  byId(id: string): PlanRecord | undefined;
  bySource(source: PlanSource): PlanRecord | undefined;
  /** Ordered by uid, so by creation; all that fit where no page is asked for. */
  list(filter?: PlanFilter, page?: Page): { records: PlanRecord[]; next?: string };
}
