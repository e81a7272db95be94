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
  const newline = newlineOf(text);
  // Looked for once at each place: many changes may go to one, behind a line that is as long as the text.
  const glues = new Map<string, string>();
  const glue = ({ at, gaps }: Insertion): string => {
    const key = `${at} ${gaps.before}`;
    const found = glues.get(key) ?? glueAt(text, at, { gaps, newline });
    glues.set(key, found);
    return found;
  };
  let from = text.length;
  for (const [, edit] of backwards) {
    pieces.push(text.slice(edit.to, from));
    pieces.push("lines" in edit ? glue(edit) + inserted(edit, newline, pieces) : edit.text);
    from = edit.at;
  }
  pieces.push(text.slice(0, from));
  return pieces.reverse().join("");
}

function inserted(edit: Insertion, newline: string, behind: readonly string[]): string {
  const next = behind.findLast((piece) => /[^ \t]/.test(piece));
  const gap = edit.gaps.after && next !== undefined && !startsBlank(next) ? newline : "";
  return edit.lines.map((line) => line + newline).join("") + gap;
}
