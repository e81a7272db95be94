import type { Cursor, Envelope, Log, LogAddress } from "../ports.ts";

/** A record that lies beyond the cursor: it is not recorded yet that all its handlers were offered it. */
export interface Offer<T> {
  readonly id: string;
  readonly value: T;
  /** The position before the record: reading one from here gives it. */
  readonly at: Cursor;
  /** The position after it. */
  readonly cursor: Cursor;
}

interface HeldOffer<T> extends Offer<T> {
  done: boolean;
  /** Put off in this life of the process, and not done: offered again when the wait is over, not before. */
  parked: boolean;
}

/** The records between a scope's cursor and the end of a log, read as they are needed. */
export interface Offers<T> {
  /** Up to `limit` records that are neither done nor parked, oldest first. */
  take(limit: number, isWanted: (offer: Offer<T>) => boolean): Offer<T>[];
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
  /** Whether a record was done with before the process was started. */
  readonly isDone: (id: string) => boolean;
}

const READ_AHEAD = 100;
/** Records at the front of a list that may be dead weight before it is copied without them. */
const TOLERATED = 1000;

/** Starts offering the records after `from`. */
export function createOffers<T>(options: OffersOptions<T>): Offers<T> {
  const held = createHeld<T>();
  let position = options.from;

  const readMore = (limit: number): boolean => {
    const { items, next } = options.log.read(options.address, position, limit);
    for (const { cursor, record } of items) {
      const parsed = options.parse(record, cursor);
      if (parsed) held.add({ ...parsed, at: position, cursor, done: options.isDone(parsed.id), parked: false });
      position = cursor;
    }
    position = next;
    return items.length > 0;
  };
  const take = (limit: number, isWanted: (offer: Offer<T>) => boolean): Offer<T>[] => {
    const taken: Offer<T>[] = [];
    const ready = held.ready();
    for (let index = 0; taken.length < limit; index += 1) {
      while (index >= ready.length) if (!readMore(Math.max(READ_AHEAD, limit))) return taken;
      const one = ready[index];
      if (one && isReady(one) && isWanted(one)) taken.push(one);
    }
    return taken;
  };
  return {
    take,
    find: (id) => held.find(id)[0],
    finish: (ids) => held.finish(ids),
    park: (ids) => held.park(ids),
    cursorAfter: (ids) => {
      const wanted = new Set(ids);
      let cursor: Cursor | undefined;
      for (const one of held.inOrder()) {
        if (!one.done && !wanted.has(one.id)) break;
        cursor = one.cursor;
      }
      return cursor;
    },
  };
}

function isReady(one: HeldOffer<unknown>): boolean {
  return !one.done && !one.parked;
}

/** The records that were read. Those that were put off are out of the way of those that are ready. */
function createHeld<T>() {
  let all: HeldOffer<T>[] = [];
  let first = 0;
  let ready: HeldOffer<T>[] = [];
  let stale = 0;
  const byId = new Map<string, HeldOffer<T>[]>();
  const find = (id: string): HeldOffer<T>[] => byId.get(id) ?? [];
  const drop = (one: HeldOffer<T>): void => {
    const others = find(one.id).filter((other) => other !== one);
    if (others.length > 0) byId.set(one.id, others);
    else byId.delete(one.id);
  };
  const change = (ids: readonly string[], what: "done" | "parked"): void => {
    for (const one of ids.flatMap(find)) {
      if (isReady(one)) stale += 1;
      one[what] = true;
    }
  };
  return {
    find,
    add(one: HeldOffer<T>): void {
      all.push(one);
      if (isReady(one)) ready.push(one);
      byId.set(one.id, [...find(one.id), one]);
    },
    /** May hold some that are no longer ready; grows when more is read. */
    ready(): readonly HeldOffer<T>[] {
      if (stale * 2 > ready.length) {
        ready = ready.filter(isReady);
        stale = 0;
      }
      return ready;
    },
    *inOrder(): Generator<HeldOffer<T>> {
      for (let index = first; index < all.length; index += 1) {
        const one = all[index];
        if (one) yield one;
      }
    },
    park: (ids: readonly string[]) => change(ids, "parked"),
    finish(ids: readonly string[]): void {
      change(ids, "done");
      for (let one = all[first]; one?.done; one = all[first]) {
        first += 1;
        drop(one);
      }
      if (first <= TOLERATED && first < all.length) return;
      all = all.slice(first);
      first = 0;
    },
  };
}
