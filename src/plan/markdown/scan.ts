import {
  addRow,
  type Block,
  type BlockType,
  canHold,
  isBreak,
  type Open,
  splitDefinitions,
  takesLines,
  trimmed,
  withoutClosing,
} from "./block.ts";
import { htmlKindOf } from "./html-block.ts";
import { isSpaceAt, LineCursor } from "./line-cursor.ts";

/** Each line costs one look per open block, so what is nested deeper than this is read as words. */
const MAX_OPEN = 64;
/** Of a text of more blocks than this, which no person writes, the rest is read less deep: each line could open 60 of them. */
const MAX_BLOCKS = 100_000;
const MAX_OPEN_THEN = 8;

/**
 * The block structure of Markdown after CommonMark: one pass over the lines, no line is looked at twice. What stands
 * inside a line is not read. A parser that does more was quadratic in more than one way, and an agent could stop the
 * dispatcher with 40 KB; a property test holds this one to the same answers.
 */
export function scanBlocks(text: string, start: number): readonly Block[] {
  return new Scanner(text, start).scan() as readonly Block[];
}

class Scanner {
  readonly #text: string;
  readonly #line: LineCursor;
  /** The open blocks, each inside the one before it. */
  readonly #open: [Open, ...Open[]];
  /** How many of them the current line goes on with. */
  #matched = 1;
  #count = 0;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#line = new LineCursor(text, start);
    this.#open = [{ type: "root", start, end: start, line: 1, endLine: 1, children: [] }];
  }

  scan(): Open[] {
    while (this.#line.advance()) this.#readLine();
    this.#closeTo(1);
    return this.#open[0].children;
  }

  get #tip(): Open {
    return this.#open.at(-1) ?? this.#open[0];
  }

  get #container(): Open {
    return this.#open[this.#matched - 1] ?? this.#open[0];
  }

  #readLine(): void {
    const line = this.#line;
    for (this.#matched = 1; this.#matched < this.#open.length; this.#matched += 1) {
      line.look();
      const goesOn = this.#goesOn(this.#open[this.#matched] ?? this.#open[0]);
      if (goesOn === "closed") return;
      if (goesOn === "no") break;
    }
    while (!takesLines(this.#container)) {
      line.look();
      if (!this.#begin()) break;
    }
    this.#addLine();
  }

  #addLine(): void {
    const line = this.#line;
    line.look();
    const isLazy = this.#open.length > this.#matched && !line.isBlank && this.#tip.type === "paragraph";
    if (!isLazy) this.#closeTo(this.#matched);
    const tip = this.#tip;
    if (tip.type === "code") {
      if (tip.fence !== undefined || !line.isBlank) this.#reach(tip);
    } else if (tip.type === "html") {
      this.#reach(tip);
      if (tip.html?.close?.test(line.from(line.offset))) this.#closeTo(this.#open.length - 1);
    } else if (!line.isBlank) {
      const paragraph = tip.type === "paragraph" ? tip : this.#push("paragraph", line.next);
      addRow(paragraph, { start: line.next, end: line.end }, line.number);
    }
  }

  /** Whether an open block goes on in this line, which is then past what the block needs. */
  #goesOn(block: Open): "yes" | "no" | "closed" {
    const line = this.#line;
    switch (block.type) {
      case "list":
        return "yes";
      case "blockquote":
        return this.#skipQuoteMark(block) ? "yes" : "no";
      case "listItem":
        if (line.isBlank) return block.children.length > 0 ? "yes" : "no";
        if (line.indent < (block.indent ?? 0)) return "no";
        line.skipColumns(block.indent ?? 0);
        return "yes";
      case "code":
        return block.fence === undefined ? this.#goesOnIndented() : this.#goesOnFenced(block);
      case "html":
        return line.isBlank && block.html?.close === undefined ? "no" : "yes";
      case "paragraph":
        return line.isBlank ? "no" : "yes";
      default:
        return "no";
    }
  }

  #goesOnIndented(): "yes" | "no" {
    if (this.#line.indent < 4 && !this.#line.isBlank) return "no";
    this.#line.skipColumns(4);
    return "yes";
  }

  #goesOnFenced(block: Open): "yes" | "closed" {
    const line = this.#line;
    const fence = block.fence ?? "";
    if (line.indent > 3 || this.#text[line.next] !== fence[0]) return "yes";
    const end = line.endOfRun(line.next);
    if (end - line.next < fence.length || !line.isBlankFrom(end)) return "yes";
    this.#reach(block);
    this.#closeTo(this.#matched);
    return "closed";
  }

  #skipQuoteMark(quote: Open): boolean {
    const line = this.#line;
    if (line.indent > 3 || line.isBlank || this.#text[line.next] !== ">") return false;
    line.skipIndent();
    line.skip(1);
    quote.end = line.offset;
    quote.endLine = line.number;
    line.skipColumns(1);
    return true;
  }

  /** Opens the block that begins here; false when it is a paragraph's line, or blank. */
  #begin(): boolean {
    const line = this.#line;
    if (line.isBlank) return false;
    if (line.indent > 3) return this.#beginIndented();
    switch (this.#text[line.next]) {
      case ">":
        return this.#beginQuote();
      case "#":
        return this.#beginHeading();
      case "`":
      case "~":
        return this.#beginFence();
      case "<":
        return this.#beginHtml();
      default:
        return this.#underline() || this.#beginBreak() || this.#beginItem();
    }
  }

  #beginIndented(): boolean {
    if (this.#tip.type === "paragraph") return false;
    this.#line.skipColumns(4);
    this.#push("code", this.#line.offset);
    return true;
  }

  #beginQuote(): boolean {
    return !this.#isDeep() && this.#skipQuoteMark(this.#push("blockquote", this.#line.next));
  }

  #beginHeading(): boolean {
    const line = this.#line;
    const end = line.endOfRun(line.next);
    const depth = end - line.next;
    if (depth > 6 || (end < line.end && !isSpaceAt(this.#text, end))) return false;
    const heading = this.#push("heading", line.next);
    heading.depth = depth;
    heading.words = withoutClosing(this.#text, trimmed(this.#text, { start: end, end: line.end }));
    return this.#finish(heading);
  }

  #beginFence(): boolean {
    const line = this.#line;
    const end = line.endOfRun(line.next);
    const fence = this.#text.slice(line.next, end);
    if (fence.length < 3 || (fence[0] === "`" && line.from(end).includes("`"))) return false;
    const code = this.#push("code", line.next);
    code.fence = fence;
    this.#reach(code);
    line.moveTo(line.end, line.column);
    return true;
  }

  #beginHtml(): boolean {
    const line = this.#line;
    const html = htmlKindOf(
      line.from(line.next),
      this.#container.type === "paragraph" || this.#tip.type === "paragraph",
    );
    if (!html) return false;
    const block = this.#push("html", line.next);
    block.html = html;
    return true;
  }

  /** `===` or `---` below a paragraph makes it a heading, unless nothing is left of it without its definitions. */
  #underline(): boolean {
    const line = this.#line;
    const paragraph = this.#container;
    const sign = this.#text[line.next];
    if (paragraph.type !== "paragraph" || (sign !== "=" && sign !== "-")) return false;
    if (!line.isBlankFrom(line.endOfRun(line.next))) return false;
    splitDefinitions(this.#text, paragraph, this.#open.at(-2));
    const [first] = paragraph.rows ?? [];
    const last = paragraph.rows?.at(-1);
    if (!first || !last) return false;
    paragraph.type = "heading";
    paragraph.depth = sign === "=" ? 1 : 2;
    paragraph.words = trimmed(this.#text, { start: first.start, end: last.end });
    return this.#finish(paragraph);
  }

  #beginBreak(): boolean {
    const line = this.#line;
    if (!isBreak(line.from(line.next))) return false;
    return this.#finish(this.#push("thematicBreak", line.next));
  }

  #beginItem(): boolean {
    const line = this.#line;
    const { next: start, indent: before } = line;
    const [marker, digits] = /^(?:[-*+]|(\d{1,9})[.)])(?=[ \t]|$)/.exec(line.from(start).slice(0, 11)) ?? [];
    if (marker === undefined || this.#isDeep()) return false;
    const isEmpty = line.isBlankFrom(start + marker.length);
    const interrupts = this.#container.type === "paragraph";
    if (interrupts && (isEmpty || (digits !== undefined && Number(digits) !== 1))) return false;
    line.skipIndent();
    line.skip(marker.length);
    line.look();
    const isWide = isEmpty || line.indent > 4;
    const width = isWide ? 1 : line.indent;
    line.skipColumns(width);
    this.#closeTo(this.#matched);
    const sign = marker.at(-1) ?? "";
    if (this.#tip.type !== "list" || this.#tip.sign !== sign) this.#push("list", start).sign = sign;
    const item = this.#push("listItem", start);
    item.indent = before + marker.length + width;
    item.end = start + marker.length;
    return true;
  }

  #isDeep(): boolean {
    return this.#matched > (this.#count < MAX_BLOCKS ? MAX_OPEN : MAX_OPEN_THEN);
  }

  /** Opens a block inside the newest one that the line goes on with and that may hold it. */
  #push(type: BlockType, start: number): Open {
    this.#closeTo(this.#matched);
    while (!canHold(this.#tip.type, type)) this.#closeTo(this.#open.length - 1);
    const number = this.#line.number;
    const block: Open = { type, start, end: start, line: number, endLine: number, children: [] };
    this.#count += 1;
    this.#tip.children.push(block);
    this.#open.push(block);
    this.#matched = this.#open.length;
    return block;
  }

  /** Ends a block with this line. */
  #finish(block: Open): true {
    this.#reach(block);
    this.#line.moveTo(this.#line.end, this.#line.column);
    this.#closeTo(this.#open.length - 1);
    return true;
  }

  #reach(block: Open): void {
    block.end = this.#line.end;
    block.endLine = this.#line.number;
  }

  #closeTo(count: number): void {
    while (this.#open.length > count) {
      const block = this.#open.pop();
      if (!block) return;
      if (block.type === "paragraph") splitDefinitions(this.#text, block, this.#tip);
      if (block.rows?.length === 0) this.#tip.children.pop();
      const last = block.children.at(-1);
      if (last && last.end > block.end) {
        block.end = last.end;
        block.endLine = last.endLine;
      }
    }
    this.#matched = Math.min(this.#matched, this.#open.length);
  }
}
