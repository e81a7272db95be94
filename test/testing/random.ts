/** A reproducible source of choices: the same seed gives the same sequence. */
export interface Random {
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  pick<T>(values: readonly T[]): T;
  chance(share: number): boolean;
}

/** A linear congruential generator (modulus 2^32); its high bits are random enough to choose a moment by. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    between,
    pick: (values) => values[between(0, values.length - 1)]!,
    chance: (share) => next() < share,
  };
}
