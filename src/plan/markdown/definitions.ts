/**
 * How many lines at the start of a paragraph are definitions of link references (`[name]: address "title"`): they are no
 * words, so a line of dashes below them makes no heading. Linear: the first that is none ends the search.
 */
export function definitionLines(lines: readonly string[]): number {
  if (!lines[0]?.startsWith("[")) return 0;
  const text = lines.join("\n");
  let at = 0;
  for (let end = definitionEnd(text, 0); end !== undefined; end = definitionEnd(text, at)) at = end;
  let count = 0;
  for (let left = at; left > 0 && count < lines.length; count += 1) left -= (lines[count]?.length ?? 0) + 1;
  return count;
}

const MAX_LABEL = 999;
const GAP = /[ \t]*\n?[ \t]*/y;
const TITLE_GAP = /(?:[ \t]+\n?|\n)[ \t]*/y;
const BARE_ADDRESS = /[^\0-\x20\x7f]+/y;
const LINE_END = /[ \t]*(?:\n|$)/y;
const TITLES: Readonly<Record<string, Delimiters>> = {
  '"': { close: '"', without: "" },
  "'": { close: "'", without: "" },
  "(": { close: ")", without: "(" },
};

/** Where the line after the definition that begins at `at` begins. */
function definitionEnd(text: string, at: number): number | undefined {
  const label = text[at] === "[" ? endOfEnclosed(text, at, { close: "]", without: "[" }) : undefined;
  if (label === undefined || text[label] !== ":" || !isLabel(text.slice(at + 1, label - 1))) return undefined;
  const address = endOfMatch(GAP, text, label + 1) ?? label + 1;
  const end =
    text[address] === "<" ? endOfEnclosed(text, address, { close: ">", without: "<\n" }) : bareEnd(text, address);
  return end === undefined ? undefined : (titleEnd(text, end) ?? endOfMatch(LINE_END, text, end));
}

function isLabel(label: string): boolean {
  return label.length <= MAX_LABEL && label.trim() !== "";
}

function bareEnd(text: string, at: number): number | undefined {
  const end = endOfMatch(BARE_ADDRESS, text, at);
  return end !== undefined && isBalanced(text.slice(at, end)) ? end : undefined;
}

function titleEnd(text: string, from: number): number | undefined {
  const at = endOfMatch(TITLE_GAP, text, from);
  const title = at === undefined ? undefined : TITLES[text[at] ?? ""];
  const end = at === undefined || !title ? undefined : endOfEnclosed(text, at, title);
  return end === undefined ? undefined : endOfMatch(LINE_END, text, end);
}

interface Delimiters {
  readonly close: string;
  /** Characters that must not be inside, unless after a backslash. */
  readonly without: string;
}

function endOfEnclosed(text: string, start: number, { close, without }: Delimiters): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (char === "\\" && text[at + 1] !== "\n") at += 1;
    else if (char === close) return at + 1;
    else if (without.includes(char)) return undefined;
  }
  return undefined;
}

/** Parentheses in an address come in pairs. */
function isBalanced(address: string): boolean {
  let open = 0;
  for (let at = 0; at < address.length && open >= 0; at += 1) {
    if (address[at] === "\\") at += 1;
    else if (address[at] === "(") open += 1;
    else if (address[at] === ")") open -= 1;
  }
  return open === 0;
}

function endOfMatch(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
