/** Headings and names that mean something to us are short; a longer line is taken as it is written. */
const MAX_INLINE = 500;
const MARKUP = /[`*_[\]<>&\\!]/;

const ESCAPE = /\\([!-/:-@[-`{-~])/y;
const AUTOLINK = /<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>/y;
const TAG = /<(?:!--.*?--|\/?[A-Za-z][^<>]*)>/y;
const ENTITY = /&(amp|lt|gt|quot);/y;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };
const RESOURCE = /\([ ]?(?:<[^<>]*>|[^\s()<]*(?:\([^\s()]*\)[^\s()]*)*)(?: +(?:"[^"]*"|'[^']*'|\([^()]*\)))? ?\)/y;
const TICKS = /`+/y;
const STARS = /\*+|_+/y;
const WORD = /[\p{L}\p{N}]/u;

/** A piece of the result. Marks may yet turn out to be only markup, and are then emptied. */
interface Piece {
  text: string;
  readonly sign?: "*" | "_" | "[" | "![";
}

interface Read {
  readonly pieces: Piece[];
  /** Marks that may yet be closed: a line has hundreds, and each that closes would look through all pieces. */
  readonly open: Readonly<Record<"*" | "_", Piece[]>>;
}

/** What a reader sees of one line of inline Markdown: links, code and emphasis reduced to their text. */
export function plainText(source: string): string {
  const line = source.replace(/\s+/g, " ").trim();
  if (line.length > MAX_INLINE || !MARKUP.test(line)) return line;
  const read: Read = { pieces: [], open: { "*": [], _: [] } };
  for (let at = 0; at < line.length; ) at += readPiece(line, at, read);
  return read.pieces
    .map(({ text }) => text)
    .join("")
    .trim();
}

/** Takes what is at `at`; returns how many characters that was. */
function readPiece(line: string, at: number, read: Read): number {
  const { pieces } = read;
  switch (line[at]) {
    case "\\":
      return take(pieces, match(ESCAPE, line, at)) ?? literal(pieces, "\\");
    case "`":
      return readCode(line, at, pieces);
    case "<":
      return take(pieces, match(AUTOLINK, line, at)) ?? match(TAG, line, at)?.[0].length ?? literal(pieces, "<");
    case "&": {
      const [entity, name = ""] = match(ENTITY, line, at) ?? [];
      return entity === undefined ? literal(pieces, "&") : take(pieces, [entity, ENTITIES[name] ?? ""]);
    }
    case "*":
    case "_":
      return readEmphasis(line, at, read);
    case "!":
      if (line[at + 1] !== "[") return literal(pieces, "!");
      pieces.push({ text: "![", sign: "![" });
      return 2;
    case "[":
      pieces.push({ text: "[", sign: "[" });
      return 1;
    case "]":
      return readLinkEnd(line, at, read);
    default:
      return literal(pieces, line[at] ?? "");
  }
}

function literal(pieces: Piece[], text: string): number {
  pieces.push({ text });
  return text.length;
}

/** Takes the match's group in the place of all of it. */
function take(pieces: Piece[], found: readonly string[]): number;
function take(pieces: Piece[], found: readonly string[] | null): number | undefined;
function take(pieces: Piece[], found: readonly string[] | null): number | undefined {
  if (!found) return undefined;
  pieces.push({ text: found[1] ?? "" });
  return found[0]?.length ?? 0;
}

function readCode(line: string, at: number, pieces: Piece[]): number {
  const ticks = match(TICKS, line, at)?.[0] ?? "`";
  const start = at + ticks.length;
  for (const { index, 0: run } of line.slice(start).matchAll(/`+/g)) {
    if (run.length !== ticks.length) continue;
    const code = line.slice(start, start + index);
    const isPadded = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "";
    pieces.push({ text: isPadded ? code.slice(1, -1) : code });
    return index + 2 * ticks.length;
  }
  return literal(pieces, ticks);
}

function readLinkEnd(line: string, at: number, { pieces, open: marks }: Read): number {
  const resource = match(RESOURCE, line, at + 1)?.[0];
  const open = resource === undefined ? -1 : pieces.findLastIndex(({ sign }) => sign === "[" || sign === "![");
  if (open < 0 || resource === undefined) return literal(pieces, "]");
  const isImage = pieces[open]?.sign === "![";
  const words = pieces.splice(open).slice(1);
  if (isImage) for (const sign of ["*", "_"] as const) dropMarks(marks[sign], words);
  else pieces.push(...words);
  return 1 + resource.length;
}

/** What describes a picture is not shown, and its marks close nothing. They are the newest. */
function dropMarks(marks: Piece[], words: readonly Piece[]): void {
  const dropped = new Set(words);
  while (marks.length > 0 && dropped.has(marks.at(-1) as Piece)) marks.pop();
}

/** `*` and `_` around words are markup; alone, or `_` inside a word, they are what they are. */
function readEmphasis(line: string, at: number, { pieces, open: marks }: Read): number {
  const run = match(STARS, line, at)?.[0] ?? "";
  const sign = run[0] === "*" ? "*" : "_";
  const before = line[at - 1] ?? " ";
  const after = line[at + run.length] ?? " ";
  const inWord = sign === "_" && WORD.test(before) && WORD.test(after);
  const closes = before !== " " && !inWord;
  const open = closes ? marks[sign].at(-1) : undefined;
  const left = run.slice(open?.text.length ?? 0);
  if (open) open.text = open.text.slice(run.length);
  if (open?.text === "") marks[sign].pop();
  if (left === "") return run.length;
  const piece: Piece = { text: left, sign };
  pieces.push(piece);
  if (after !== " " && !inWord) marks[sign].push(piece);
  return run.length;
}

function match(pattern: RegExp, line: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(line);
}
