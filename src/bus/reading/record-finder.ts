import { checkEvent } from "../check-event.ts";
import type { About } from "../ledger/entry.ts";
import { type Cursor, type Envelope, type Log, START } from "../ports.ts";
import { type Action, actionSchema, type BusEvent, type Scope } from "../types.ts";

/** The event in a record of the events log; undefined when it is none. */
export function parseEvent(record: Envelope): { id: string; value: BusEvent } | undefined {
  const result = checkEvent(record.data);
  return result.success ? { id: result.data.id, value: result.data } : undefined;
}

/** The action in a record of the actions log; undefined when it is none. */
export function parseAction(record: Envelope): { id: string; value: Action } | undefined {
  const result = actionSchema.safeParse(record.data);
  return result.success ? { id: result.data.id, value: result.data } : undefined;
}

/** Where a record that waits lies. */
export interface Whereabouts {
  readonly id: string;
  readonly at: Cursor | undefined;
}

/** Finds records behind the cursor again: those that were put off, and those that wait for triage. */
export interface RecordFinder<T> {
  find(where: Whereabouts): T | undefined;
  /** Spares reading a record that is in hand. */
  keep(id: string, value: T): void;
  drop(id: string): void;
}

export interface FinderOptions<T> {
  readonly log: Log;
  readonly scope: Scope;
  readonly about: About;
  readonly parse: (record: Envelope) => { id: string; value: T } | undefined;
}

/** Makes a finder for the events or the actions of a scope. */
export function createRecordFinder<T>({ log, scope, about, parse }: FinderOptions<T>): RecordFinder<T> {
  const kept = new Map<string, T>();
  const address = { scope, log: about === "event" ? "events" : "actions" } as const;

  const readAt = ({ id, at }: Whereabouts): T | undefined => {
    if (at === undefined) return undefined;
    const record = log.read(address, at, 1).items[0]?.record;
    const found = record && parse(record);
    return found?.id === id ? found.value : undefined;
  };
  /** Only for journals that were tampered with: a settlement says where its records lie. */
  const search = (id: string): T | undefined => {
    let value: T | undefined;
    log.readAll(address, START, (record) => {
      const found = value === undefined ? parse(record) : undefined;
      if (found?.id === id) value = found.value;
    });
    return value;
  };
  return {
    find: (where) => {
      const value = kept.get(where.id) ?? readAt(where) ?? search(where.id);
      if (value !== undefined) kept.set(where.id, value);
      return value;
    },
    keep: (id, value) => void kept.set(id, value),
    drop: (id) => void kept.delete(id),
  };
}
