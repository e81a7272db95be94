import { closest, distance } from "fastest-levenshtein";

/** Nobody types longer names; to compare them takes their lengths multiplied. */
const MAX_COMPARED = 64;

/** The candidate that `word` is probably a slip for; undefined when none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const short = candidates.filter((candidate) => candidate.length <= MAX_COMPARED);
  if (short.length === 0 || word.length > MAX_COMPARED) return undefined;
  const found = closest(word, short);
  const apart = distance(word.toLowerCase(), found.toLowerCase());
  return apart <= Math.max(2, Math.floor(found.length / 3)) && apart < found.length ? found : undefined;
}

/** `, did you mean x?` or nothing, to put behind a message about a word that is none of those there are. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const found = nearest(word, candidates);
  return found === undefined ? "" : `, did you mean ${found}?`;
}
