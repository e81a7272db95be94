import { comparePositions, type Position, parseCursor } from "./cursor.ts";
import { type Cursor, START } from "./ports.ts";

interface Place<T> {
  readonly item: T;
  readonly at: Cursor;
  readonly position: Position;
  /** Items at one place stay in the order in which they came. */
  readonly serial: number;
}

/** Items sorted by where they lie in a log. They mostly come in that order, and then adding one costs nothing. */
export interface LogOrder<T> {
  /** Adds an item, or moves it when it lies elsewhere now. */
  put(item: T, at: Cursor | undefined): void;
  delete(item: T): void;
  first(): T | undefined;
  items(): Generator<T>;
  readonly size: number;
}

/** Makes an empty one. */
export function createLogOrder<T>(): LogOrder<T> {
  const places: Place<T>[] = [];
  const byItem = new Map<T, Place<T>>();
  let serial = 0;

  const remove = (item: T): void => {
    const place = byItem.get(item);
    if (!place) return;
    byItem.delete(item);
    places.splice(indexOf(places, place), 1);
  };
  return {
    put: (item, at = START) => {
      if (byItem.get(item)?.at === at) return;
      remove(item);
      serial += 1;
      const place = { item, at, position: parseCursor(at), serial };
      byItem.set(item, place);
      places.splice(indexOf(places, place), 0, place);
    },
    delete: remove,
    first: () => places[0]?.item,
    items: function* () {
      for (const { item } of places) yield item;
    },
    get size() {
      return places.length;
    },
  };
}

/** Where a place is, or belongs. */
function indexOf<T>(places: readonly Place<T>[], wanted: Place<T>): number {
  let low = 0;
  let high = places.length;
  const last = places[high - 1];
  if (last === undefined || compare(last, wanted) < 0) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const place = places[middle];
    if (place && compare(place, wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare(a: Place<unknown>, b: Place<unknown>): number {
  return comparePositions(a.position, b.position) || a.serial - b.serial;
}
