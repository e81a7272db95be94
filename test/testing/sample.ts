import { randomInt } from "node:crypto";
import { seededRandom } from "./random.ts";
import { THOROUGH } from "./thorough.ts";

/** What the ordinary run's samples, kills and moods are drawn with; printed in the names of the tests. */
export const SEED = Number(process.env.PRLOOM_CHAOS_SEED ?? randomInt(1_000_000));
export const SEED_NOTE = `PRLOOM_CHAOS_SEED=${SEED}`;

/** One value of each kind, drawn with the seed; all of them in the whole run. */
export function oneOfEach<T>(values: readonly T[], kindOf: (value: T) => string): T[] {
  if (THOROUGH) return [...values];
  const random = seededRandom(SEED);
  return Object.values(Object.groupBy(values, kindOf)).map((some = []) => random.pick(some));
}

/** One of several ways to the same proof, drawn with the seed; all of them in the whole run. */
export function oneOf<T>(ways: readonly T[]): T[] {
  return oneOfEach(ways, () => "way");
}

/** How many inputs a property is tried with; all of them in the whole run. */
export function samples(whole: number): number {
  return THOROUGH ? whole : Math.ceil(whole / 4);
}

/** So many of the values, drawn with the seed, in their order; all of them in the whole run. */
export function someOf<T>(values: readonly T[], count: number): T[] {
  if (THOROUGH) return [...values];
  const random = seededRandom(SEED);
  const drawn = new Set<T>();
  while (drawn.size < Math.min(count, values.length)) drawn.add(random.pick(values));
  return values.filter((value) => drawn.has(value));
}
