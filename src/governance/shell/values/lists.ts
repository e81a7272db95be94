import type { Spot } from "../state/state.ts";
import { lookAtNumber } from "./arithmetic.ts";
import { type Text, textOf, unknown } from "./text.ts";

export const GAPS = unknown("it stands in a list of which the order cannot be told");

/** A list with a value at an index; a word that is neither a number nor a variable is a key, and the order of keys does not matter. */
export function placed(
  list: readonly Text[],
  index: Text,
  { spot, value }: { spot: Spot; value: Text },
): readonly Text[] {
  lookAtNumber(index, spot);
  const text = textOf(index);
  if (/^\d+$/.test(text)) {
    const at = Number(text);
    return at > list.length || list.includes(GAPS) ? [GAPS] : [...list.slice(0, at), value, ...list.slice(at + 1)];
  }
  const isKey = index.type === "known" && /^[^$()+*-]+$/.test(text) && !spot.shell.variables.has(text);
  return isKey && !list.includes(GAPS) ? [...list, value] : [GAPS];
}

/** What stands behind `[1]=`. */
export function without(start: string, [only, ...more]: readonly Text[]): Text {
  if (more.length > 0 || (only?.type !== "known" && only?.type !== "glob")) return GAPS;
  return { type: only.type, text: only.text.slice(start.length) };
}
