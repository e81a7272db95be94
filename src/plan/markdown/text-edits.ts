import { newlineOf } from "./blocks.ts";
import { type Gaps, glueAt, startsBlank } from "./encoding.ts";

/** `text` in the place of what was there. */
export interface Replacement {
  readonly at: number;
  readonly to: number;
  readonly text: string;
}

/** Whole lines put in at `at`. */
interface Insertion {
  readonly at: number;
  readonly to: number;
  readonly lines: readonly string[];
  readonly gaps: Gaps;
}

/** One change. */
export type Edit = Replacement | Insertion;

/** All changes at once. What is put in at the same place keeps the order of the list. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const backwards = [...edits.entries()].sort(([i, a], [j, b]) => b.at - a.at || j - i);
  // From the end, piece by piece: rebuilding the text for each would cost edits times length.
  const pieces: string[] = [];
  let from = text.length;
  for (const [, edit] of backwards) {
    pieces.push(text.slice(edit.to, from));
    pieces.push("lines" in edit ? inserted(text, edit, pieces) : edit.text);
    from = edit.at;
  }
  pieces.push(text.slice(0, from));
  return pieces.reverse().join("");
}

function inserted(text: string, edit: Insertion, behind: readonly string[]): string {
  const newline = newlineOf(text);
  const next = behind.findLast((piece) => /[^ \t]/.test(piece));
  const gap = edit.gaps.after && next !== undefined && !startsBlank(next) ? newline : "";
  return glueAt(text, edit.at, edit.gaps) + edit.lines.map((line) => line + newline).join("") + gap;
}
