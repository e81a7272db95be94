import { formatCursor, parseCursor } from "../../../src/bus/cursor.ts";
import { encodeRecord } from "../../../src/bus/envelope.ts";
import {
  type AppendResult,
  type Cursor,
  type Log,
  type LogAddress,
  type LogItem,
  type NewRecord,
  START,
} from "../../../src/bus/ports.ts";
import { type Clock, isoTime } from "../../../src/kernel/clock.ts";

interface MemoryJournal {
  /** As text, so that no caller can change a record that was appended. */
  readonly lines: string[];
  readonly ids: Set<string>;
  readonly wakes: Set<() => void>;
}

/** The in-memory twin of the file log, for tests that need no disk. */
export function createMemoryLog(options: { readonly clock: Clock }): Log {
  const journals = new Map<string, MemoryJournal>();
  const journalOf = (address: LogAddress): MemoryJournal => {
    const key = `${address.scope.planId ?? ""}\0${address.log}`;
    const journal = journals.get(key) ?? { lines: [], ids: new Set(), wakes: new Set() };
    journals.set(key, journal);
    return journal;
  };
  const append = (address: LogAddress, records: readonly NewRecord[]): AppendResult => {
    const journal = journalOf(address);
    const ts = isoTime(options.clock.now());
    const from = end(address);
    const lines = records.map((record) => encodeRecord(record, ts));
    const duplicates: string[] = [];
    records.forEach((record, index) => {
      if (record.id !== undefined && journal.ids.has(record.id)) {
        duplicates.push(record.id);
        return;
      }
      if (record.id !== undefined) journal.ids.add(record.id);
      journal.lines.push(lines[index] ?? "");
    });
    if (records.length > duplicates.length) for (const wake of [...journal.wakes]) wake();
    return { from, cursor: end(address), ts, duplicates };
  };
  const read = (address: LogAddress, after: Cursor, limit: number): { items: LogItem[]; next: Cursor } => {
    const { lines } = journalOf(address);
    const from = Math.min(parseCursor(after).offset, lines.length);
    const items = lines.slice(from, from + limit).map((line, index) => ({
      cursor: formatCursor({ segment: 1, offset: from + index + 1 }),
      record: JSON.parse(line),
    }));
    return { items, next: formatCursor({ segment: 1, offset: from + items.length }) };
  };
  const readAll: Log["readAll"] = (address, after, visit) => {
    const { items, next } = read(address, after, Number.POSITIVE_INFINITY);
    for (const { record, cursor } of items) visit(record, () => cursor);
    return next;
  };
  const find = (address: LogAddress, id: string): LogItem | undefined => {
    if (!journalOf(address).ids.has(id)) return undefined;
    return read(address, START, Number.POSITIVE_INFINITY).items.findLast(({ record }) => record.id === id);
  };
  const end = (address: LogAddress): Cursor => formatCursor({ segment: 1, offset: journalOf(address).lines.length });
  const wait = (address: LogAddress, after: Cursor, signal: AbortSignal): Promise<void> => {
    const { lines, wakes } = journalOf(address);
    if (signal.aborted || parseCursor(after).offset < lines.length) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        wakes.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      wakes.add(wake);
      signal.addEventListener("abort", wake);
    });
  };
  const close = (): void => {
    for (const { wakes } of journals.values()) for (const wake of [...wakes]) wake();
  };
  return { append, sync: () => undefined, read, readAll, find, end, wait, close };
}
