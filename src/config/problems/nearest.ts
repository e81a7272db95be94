import { closest, distance } from "fastest-levenshtein";

/** The candidate that `word` is probably a slip for; undefined when none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const found = closest(word, [...candidates]);
  const apart = distance(word.toLowerCase(), found.toLowerCase());
  return apart <= Math.max(2, Math.floor(found.length / 3)) && apart < found.length ? found : undefined;
}

/** `, did you mean x?` or nothing, to put behind a message about a word that is none of those there are. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const found = nearest(word, candidates);
  return found === undefined ? "" : `, did you mean ${found}?`;
}
