import { compareCursors } from "../cursor.ts";
import { type Cursor, START } from "../ports.ts";
import { createLogOrder } from "./log-order.ts";

interface Slot<T> {
  readonly item: T;
  readonly until: number;
  readonly at: Cursor | undefined;
}

/** What waits, by the time at which its wait is over. Looking costs what is due, never what waits. */
export interface Due<T> {
  /** Adds an item, or changes when it is due. */
  put(item: T, until: number, at: Cursor | undefined): void;
  delete(item: T): void;
  /** Up to `limit` items whose time has come, in the order of the log. They stay. */
  look(now: number, limit: number): T[];
  /** When the next wait is over: a time in the past when one is over already. */
  next(): number | undefined;
  /** All that wait, due or not, in the order of the log. */
  all(): Generator<T>;
  readonly size: number;
}

/** Stale slots in the heap are left there until they come up, or until there are more of them than others. */
const TOLERATED = 64;

/** Makes an empty one. */
export function createDue<T>(): Due<T> {
  const slots = new Map<T, Slot<T>>();
  const waiting = createLogOrder<T>();
  const ripe = createLogOrder<Slot<T>>();
  let heap: Slot<T>[] = [];
  const isCurrent = (slot: Slot<T>): boolean => slots.get(slot.item) === slot;

  const earliest = (): Slot<T> | undefined => {
    while (heap[0] && !isCurrent(heap[0])) pop(heap);
    return heap[0];
  };
  const leaveSlot = (item: T): void => {
    const slot = slots.get(item);
    if (!slot) return;
    slots.delete(item);
    ripe.delete(slot);
    if (heap.length <= 2 * slots.size + TOLERATED) return;
    heap = heap.filter(isCurrent);
    // A sorted list is a heap.
    heap.sort((a, b) => a.until - b.until);
  };
  const remove = (item: T): void => {
    leaveSlot(item);
    waiting.delete(item);
  };
  const ripen = (now: number): void => {
    const ripened: Slot<T>[] = [];
    for (let slot = earliest(); slot && slot.until <= now; slot = earliest()) {
      pop(heap);
      ripened.push(slot);
    }
    // Many at once mostly lie in no order: sorted, each is put behind the one before.
    if (ripened.length > 1) ripened.sort((a, b) => compareCursors(a.at ?? START, b.at ?? START));
    for (const slot of ripened) ripe.put(slot, slot.at);
  };
  /** A clock that was set back makes what was due wait again. */
  const unripen = (now: number): void => {
    for (const slot of [...ripe.items()].filter(({ until }) => until > now)) {
      ripe.delete(slot);
      push(heap, slot);
    }
  };
  let lastLook = Number.NEGATIVE_INFINITY;
  return {
    put: (item, until, at) => {
      const before = slots.get(item);
      if (before?.until === until && before.at === at) return;
      leaveSlot(item);
      const slot = { item, until, at };
      slots.set(item, slot);
      waiting.put(item, at);
      push(heap, slot);
    },
    delete: remove,
    look: (now, limit) => {
      if (now < lastLook) unripen(now);
      lastLook = now;
      ripen(now);
      const found: T[] = [];
      for (const { item } of ripe.items()) {
        if (found.length >= limit) break;
        found.push(item);
      }
      return found;
    },
    next: () => ripe.first()?.until ?? earliest()?.until,
    all: waiting.items,
    get size() {
      return slots.size;
    },
  };
}

function push<T>(heap: Slot<T>[], slot: Slot<T>): void {
  let index = heap.push(slot) - 1;
  while (index > 0) {
    const parent = (index - 1) >>> 1;
    if (!isBefore(heap, index, parent)) return;
    swap(heap, index, parent);
    index = parent;
  }
}

function pop<T>(heap: Slot<T>[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  heap[0] = last;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const smaller = isBefore(heap, left + 1, left) ? left + 1 : left;
    if (!isBefore(heap, smaller, index)) return;
    swap(heap, index, smaller);
    index = smaller;
  }
}

function isBefore<T>(heap: readonly Slot<T>[], a: number, b: number): boolean {
  const [left, right] = [heap[a], heap[b]];
  return left !== undefined && right !== undefined && left.until < right.until;
}

function swap<T>(heap: Slot<T>[], a: number, b: number): void {
  const [left, right] = [heap[a], heap[b]];
  if (left === undefined || right === undefined) return;
  heap[a] = right;
  heap[b] = left;
}
