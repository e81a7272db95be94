import type { Clock } from "../../kernel/clock.ts";
import { isoTime } from "../../kernel/clock.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { shortHash } from "../../kernel/ids.ts";
import { formatCursor } from "../cursor.ts";
import type { AppendOptions, AppendResult, Cursor, Log, LogAddress, LogItem, LogName, NewRecord } from "../ports.ts";
import type { Scope } from "../types.ts";
import { findRecord } from "./find.ts";
import { type ForeignLine, type ReadRequest, readJournal } from "./reader.ts";
import { type JournalPlace, refreshLayout, type SegmentLayout } from "./segments.ts";
import { watchDirectory } from "./watch.ts";
import { appendBatch, syncJournal, type WrittenJournal } from "./writer.ts";

const SEGMENT_BYTES = 8 * 1024 * 1024;
/** Ids of all journals together that are kept in memory; beyond it the least recently written journals reload theirs. */
const MAX_IDS = 500_000;
const KEPT_OF_LINE = 2048;

/** What the quarantine log says about a line that is not a record. */
export interface QuarantineEntry {
  readonly log: LogName;
  readonly segment: number;
  readonly offset: number;
  /** The line, or its beginning. */
  readonly line: string;
}

export interface FileLogOptions {
  /** The directory of a scope's journals. */
  readonly root: (scope: Scope) => string;
  readonly clock: Clock;
  /** Whether an append is on the disk when it returns (default) or only safe from a killed process. */
  readonly fsync?: boolean;
  readonly segmentBytes?: number;
  /** For readers beside a daemon: nothing is written, foreign lines are skipped. */
  readonly readOnly?: boolean;
  /** Told once about each line that was put into quarantine. */
  readonly onQuarantine?: (entry: QuarantineEntry, scope: Scope) => void;
}

interface KnownJournal extends WrittenJournal {
  layout: SegmentLayout | undefined;
}

/** Journals as files: `<root>/<log>.jsonl`, in segments. No descriptor stays open between calls. */
export function createFileLog(options: FileLogOptions): Log {
  const journals = createJournals();
  const settings = { segmentBytes: options.segmentBytes ?? SEGMENT_BYTES, fsync: options.fsync ?? true };
  const waiting = new Map<string, Set<() => void>>();
  const place = (address: LogAddress): JournalPlace => ({ dir: options.root(address.scope), log: address.log });

  const append = (address: LogAddress, records: readonly NewRecord[], how: AppendOptions = {}): AppendResult => {
    if (options.readOnly) throw new Error(`append to ${address.log} through a log that was opened for reading`);
    const ts = isoTime(options.clock.now());
    if (records.length === 0) return { from: end(address), cursor: end(address), ts, duplicates: [] };
    const journal = journals.get(place(address));
    const written = appendBatch(journal, { records, ts, sync: how.sync !== false }, settings);
    journals.used(journal);
    if (written.duplicates.length < records.length) for (const wake of waiting.get(keyOf(journal.place)) ?? []) wake();
    const from = formatCursor({ segment: written.segment, offset: written.from });
    return { from, cursor: formatCursor(written), ts, duplicates: written.duplicates };
  };
  const sync = (address: LogAddress): void => {
    if (!options.readOnly) syncJournal(journals.get(place(address)), settings);
  };
  const look = (journal: KnownJournal, anew = false): SegmentLayout => {
    journal.layout = refreshLayout(journal.place, anew ? undefined : journal.layout);
    return journal.layout;
  };
  const visitSome = (address: LogAddress, request: Pick<ReadRequest, "after" | "limit" | "visit">): Cursor => {
    const journal = journals.get(place(address));
    const onForeign = (line: ForeignLine): void => quarantine(address, line);
    return readJournal({ ...request, place: journal.place, look: (anew) => look(journal, anew), onForeign });
  };
  const read = (address: LogAddress, after: Cursor, limit: number): { items: LogItem[]; next: Cursor } => {
    const items: LogItem[] = [];
    const visit: ReadRequest["visit"] = (record, cursor) => items.push({ cursor: cursor(), record });
    return { items, next: visitSome(address, { after, limit, visit }) };
  };
  const readAll: Log["readAll"] = (address, after, visit) => visitSome(address, { after, limit: Infinity, visit });
  const find = (address: LogAddress, id: string, how: { recent?: boolean } = {}): LogItem | undefined => {
    const journal = journals.get(place(address));
    return findRecord({ place: journal.place, layout: look(journal, true), id, recent: how.recent === true });
  };
  const end = (address: LogAddress): Cursor => {
    const layout = look(journals.get(place(address)));
    return formatCursor({ segment: layout.current, offset: layout.size });
  };
  const quarantine = (address: LogAddress, foreign: ForeignLine): void => {
    if (options.readOnly) return;
    const line = foreign.text.slice(0, KEPT_OF_LINE);
    const entry: QuarantineEntry = { log: address.log, segment: foreign.segment, offset: foreign.offset, line };
    const id = `${address.log}:${foreign.segment}:${foreign.offset}:${shortHash(line)}`;
    try {
      const kept = append({ ...address, log: "quarantine" }, [{ kind: "quarantine", id, data: entry }]);
      if (kept.duplicates.length === 0) options.onQuarantine?.(entry, address.scope);
    } catch (error) {
      // A full disk must not stop reading; the line is still in its journal, and the next read tries again.
      if (!(error instanceof PrloomError && error.code === "disk-full")) throw error;
    }
  };
  const wait = (address: LogAddress, after: Cursor, signal: AbortSignal): Promise<void> => {
    const { dir } = place(address);
    const isNews = (): boolean => read(address, after, 1).items.length > 0;
    return waitForNews({ dir, waiting, key: keyOf(place(address)), isNews, signal });
  };
  const close = (): void => {
    for (const wakes of [...waiting.values()]) for (const wake of [...wakes]) wake();
    waiting.clear();
    journals.clear();
  };
  return { append, sync, read, readAll, find, wait, end, close };
}

function keyOf(place: JournalPlace): string {
  return `${place.dir}\0${place.log}`;
}

function createJournals() {
  const known = new Map<string, KnownJournal>();
  const idCount = (journal: WrittenJournal): number => {
    let count = 0;
    for (const ids of journal.ids?.values() ?? []) count += ids.size;
    return count;
  };
  const counted = new Map<string, number>();
  let total = 0;
  const recount = (key: string, count: number): void => {
    total += count - (counted.get(key) ?? 0);
    counted.delete(key);
    if (count > 0) counted.set(key, count);
  };
  return {
    get(place: JournalPlace): KnownJournal {
      const key = keyOf(place);
      let journal = known.get(key);
      if (!journal) {
        journal = { place, ids: undefined, left: undefined, layout: undefined };
        known.set(key, journal);
      }
      return journal;
    },
    /** Makes the journal the most recently written one, and forgets the ids of others when there are too many. */
    used(journal: WrittenJournal): void {
      const own = keyOf(journal.place);
      recount(own, idCount(journal));
      for (const key of [...counted.keys()]) {
        if (total <= MAX_IDS || key === own) break;
        const other = known.get(key);
        if (other) other.ids = undefined;
        recount(key, 0);
      }
    },
    clear: () => known.clear(),
  };
}

interface Waiting {
  readonly dir: string;
  readonly key: string;
  readonly waiting: Map<string, Set<() => void>>;
  readonly isNews: () => boolean;
  readonly signal: AbortSignal;
}

/** Our own appends wake at once, those of other processes through the directory's watch. */
function waitForNews({ dir, key, waiting, isNews, signal }: Waiting): Promise<void> {
  return new Promise((resolve, reject) => {
    let unwatch: (() => void) | undefined;
    const finish = (error?: unknown): void => {
      unwatch?.();
      signal.removeEventListener("abort", wake);
      const wakes = waiting.get(key);
      wakes?.delete(wake);
      if (wakes?.size === 0) waiting.delete(key);
      if (error === undefined) resolve();
      else reject(error);
    };
    const wake = (): void => finish();
    const look = (): void => {
      try {
        if (isNews()) finish();
      } catch (error) {
        finish(error);
      }
    };
    if (signal.aborted) {
      resolve();
      return;
    }
    signal.addEventListener("abort", wake);
    waiting.set(key, (waiting.get(key) ?? new Set()).add(wake));
    unwatch = watchDirectory(dir, look);
    look();
  });
}
