/**
 * A place in one line, in characters and in columns. A tab reaches to the next multiple of four columns, and may be taken
 * in part: `-\t\tcode` is an item whose content is indented by what is left of the tabs.
 */
export class LineCursor {
  readonly #text: string;
  /** Number of the line, from 1, and where it begins and ends in the text, its line break left out. */
  number = 0;
  start = 0;
  end = 0;
  /** Where the next line begins. */
  #nextStart: number;
  /** Here. */
  offset = 0;
  column = 0;
  /** What `look` found: the first character that is neither space nor tab, how far it is indented, or nothing. */
  next = 0;
  #nextColumn = 0;
  indent = 0;
  isBlank = false;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#nextStart = start;
  }

  /** On to the next line; false when the text has no more. */
  advance(): boolean {
    const text = this.#text;
    if (this.#nextStart >= text.length) return false;
    this.number += 1;
    this.start = this.#nextStart;
    let end = this.start;
    while (end < text.length && text[end] !== "\n" && text[end] !== "\r") end += 1;
    this.end = end;
    this.#nextStart = text[end] === "\r" && text[end + 1] === "\n" ? end + 2 : end + 1;
    this.moveTo(this.start, 0);
    return true;
  }

  moveTo(offset: number, column: number): void {
    this.offset = offset;
    this.column = column;
  }

  /** Finds the next character that is neither space nor tab. */
  look(): void {
    let at = this.offset;
    let column = this.column;
    for (; at < this.end; at += 1) {
      if (this.#text[at] === " ") column += 1;
      else if (this.#text[at] === "\t") column += 4 - (column % 4);
      else break;
    }
    this.next = at;
    this.#nextColumn = column;
    this.indent = column - this.column;
    this.isBlank = at >= this.end;
  }

  /** Goes to what `look` found. */
  skipIndent(): void {
    this.moveTo(this.next, this.#nextColumn);
  }

  /** Goes on by this many characters, none of which is a tab. */
  skip(characters: number): void {
    this.moveTo(this.offset + characters, this.column + characters);
  }

  /** Takes up to this many columns of white space. */
  skipColumns(columns: number): void {
    for (let left = columns; left > 0 && this.isSpace(); ) {
      const width = this.#text[this.offset] === "\t" ? 4 - (this.column % 4) : 1;
      const taken = Math.min(width, left);
      this.column += taken;
      left -= taken;
      // A tab that is only taken in part stays: its width follows from the column.
      if (taken === width) this.offset += 1;
    }
  }

  /** Whether here is a space or a tab. */
  isSpace(): boolean {
    return this.offset < this.end && isSpaceAt(this.#text, this.offset);
  }

  /** Whether the line has nothing but white space from there on. */
  isBlankFrom(offset: number): boolean {
    for (let at = offset; at < this.end; at += 1) if (!isSpaceAt(this.#text, at)) return false;
    return true;
  }

  /** Where the run of equal characters that begins at `from` ends. */
  endOfRun(from: number): number {
    let at = from;
    while (at < this.end && this.#text[at] === this.#text[from]) at += 1;
    return at;
  }

  /** What the line says from there on. */
  from(offset: number): string {
    return this.#text.slice(offset, this.end);
  }
}

export function isSpaceAt(text: string, at: number): boolean {
  return text[at] === " " || text[at] === "\t";
}
