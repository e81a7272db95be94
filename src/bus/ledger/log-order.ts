import { comparePositions, type Position, parseCursor } from "../cursor.ts";
import { type Cursor, START } from "../ports.ts";

interface PlaceInLog<T> {
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

/** Places that were left stay in the list until there are this many, and a quarter as many as others. */
const TOLERATED = 64;

/** Makes an empty one. */
export function createLogOrder<T>(): LogOrder<T> {
  let places: PlaceInLog<T>[] = [];
  /** Nothing before it is current. */
  let head = 0;
  const byItem = new Map<T, PlaceInLog<T>>();
  let serial = 0;
  const isCurrent = (place: PlaceInLog<T>): boolean => byItem.get(place.item) === place;

  // Taking a place out of the list would cost what is behind it, and many go from the front.
  const remove = (item: T): void => {
    if (!byItem.delete(item) || places.length <= 1.25 * byItem.size + TOLERATED) return;
    places = places.filter(isCurrent);
    head = 0;
  };
  const first = (): T | undefined => {
    for (let place = places[head]; place; place = places[head]) {
      if (isCurrent(place)) return place.item;
      head += 1;
    }
    return undefined;
  };
  return {
    put: (item, at = START) => {
      if (byItem.get(item)?.at === at) return;
      remove(item);
      serial += 1;
      const place = { item, at, position: parseCursor(at), serial };
      byItem.set(item, place);
      const index = indexOf(places, place);
      places.splice(index, 0, place);
      head = Math.min(head, index);
    },
    delete: remove,
    first,
    items: function* () {
      first();
      const listed = places;
      for (let index = head; index < listed.length; index += 1) {
        const place = listed[index];
        if (place && isCurrent(place)) yield place.item;
      }
    },
    get size() {
      return byItem.size;
    },
  };
}

/** Where a place belongs. */
function indexOf<T>(places: readonly PlaceInLog<T>[], wanted: PlaceInLog<T>): number {
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

function compare(a: PlaceInLog<unknown>, b: PlaceInLog<unknown>): number {
  return comparePositions(a.position, b.position) || a.serial - b.serial;
}
