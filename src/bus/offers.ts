import type { Cursor, Envelope, Log, LogAddress } from "./ports.ts";

/** A record that lies beyond the cursor: nobody has said yet that all its handlers were offered it. */
export interface Offer<T> {
  readonly id: string;
  readonly value: T;
  /** The position before the record: reading one from here gives it. */
  readonly at: Cursor;
  /** The position after it. */
  readonly cursor: Cursor;
}

interface Held<T> extends Offer<T> {
  done: boolean;
  /** Put off in this life of the process, and not done: offered again when the wait is over, not before. */
  parked: boolean;
}

/** The records between a scope's cursor and the end of a log, read as they are needed. */
export interface Offers<T> {
  /** Up to `limit` records that are not done, oldest first. */
  take(limit: number, isWanted: (offer: Offer<T>, parked: boolean) => boolean): Offer<T>[];
  find(id: string): Offer<T> | undefined;
  /** How far the cursor may go when these are done too: never past one that is not. Undefined: not at all. */
  cursorAfter(ids: readonly string[]): Cursor | undefined;
  finish(ids: readonly string[]): void;
  park(ids: readonly string[]): void;
}

export interface OffersOptions<T> {
  readonly log: Log;
  readonly address: LogAddress;
  readonly from: Cursor;
  /** Undefined for a record that is not what this log should hold; it is passed over. */
  readonly parse: (record: Envelope, cursor: Cursor) => { id: string; value: T } | undefined;
}

const READ_AHEAD = 100;

/** Starts offering the records after `from`. */
export function createOffers<T>(options: OffersOptions<T>): Offers<T> {
  const held: Held<T>[] = [];
  const byId = new Map<string, Held<T>[]>();
  let position = options.from;

  const readMore = (limit: number): boolean => {
    const { items, next } = options.log.read(options.address, position, limit);
    for (const { cursor, record } of items) {
      const parsed = options.parse(record, cursor);
      if (parsed) {
        const one: Held<T> = { ...parsed, at: position, cursor, done: false, parked: false };
        held.push(one);
        byId.set(one.id, [...(byId.get(one.id) ?? []), one]);
      }
      position = cursor;
    }
    position = next;
    return items.length > 0;
  };
  const take = (limit: number, isWanted: (offer: Offer<T>, parked: boolean) => boolean): Offer<T>[] => {
    const taken: Offer<T>[] = [];
    for (let index = 0; taken.length < limit; index += 1) {
      while (index >= held.length) if (!readMore(Math.max(READ_AHEAD, limit))) return taken;
      const one = held[index];
      if (one && !one.done && isWanted(one, one.parked)) taken.push(one);
    }
    return taken;
  };
  const finish = (ids: readonly string[]): void => {
    for (const id of ids) for (const one of byId.get(id) ?? []) one.done = true;
    let count = 0;
    while (held[count]?.done) count += 1;
    for (const one of held.splice(0, count)) {
      const others = (byId.get(one.id) ?? []).filter((other) => other !== one);
      if (others.length > 0) byId.set(one.id, others);
      else byId.delete(one.id);
    }
  };
  return {
    take,
    finish,
    find: (id) => byId.get(id)?.[0],
    cursorAfter: (ids) => {
      const wanted = new Set(ids);
      let cursor: Cursor | undefined;
      for (const one of held) {
        if (!one.done && !wanted.has(one.id)) break;
        cursor = one.cursor;
      }
      return cursor;
    },
    park: (ids) => {
      for (const id of ids) for (const one of byId.get(id) ?? []) one.parked = true;
    },
  };
}
