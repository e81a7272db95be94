import { stripVTControlCharacters } from "node:util";

const ESCAPE = "\u001b";
/** One move, one erasure, one end of a line, or characters. */
const PARTS = new RegExp(`${ESCAPE}\\[(\\d*)([ABGK])|\\r|\\n|${ESCAPE}\\[[?\\d;]*[a-zA-Z]|[^${ESCAPE}\\r\\n]+`, "g");

/** What a terminal shows after all that was printed, for programs that redraw whole lines without wrapping any. */
export function screenAfter(printed: string): string[] {
  const lines: string[] = [];
  let row = 0;
  let column = 0;
  const line = (): string => lines[row] ?? "";
  for (const [part, number, letter] of printed.matchAll(PARTS)) {
    const count = Number(number || 1);
    if (part === "\n") {
      row += 1;
      column = 0;
    } else if (part === "\r" || letter === "G") column = 0;
    else if (letter === "A") row = Math.max(0, row - count);
    else if (letter === "B") row += count;
    else if (letter === "K") lines[row] = number === "2" ? "" : line().slice(0, column);
    else if (stripVTControlCharacters(part) !== "") {
      lines[row] = line().slice(0, column).padEnd(column) + part + line().slice(column + part.length);
      column += part.length;
    }
  }
  return Array.from(lines, (text) => (text ?? "").trimEnd());
}
