/** Names of elements that begin a block of HTML wherever they are at the start of a line. */
const BLOCK_NAMES =
  "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul";

const ATTRIBUTE = /[ \t]+[A-Za-z_:][A-Za-z0-9_.:-]*(?:[ \t]*=[ \t]*(?:[^ \t"'=<>`]+|'[^']*'|"[^"]*"))?/.source;

export interface HtmlKind {
  readonly open: RegExp;
  /** What ends it, on the line that has it; without one a blank line does. */
  readonly close?: RegExp;
  readonly interruptsParagraph: boolean;
}

/** The seven ways in which a block of HTML begins, in CommonMark's order. */
const KINDS: readonly HtmlKind[] = [
  {
    open: /^<(?:script|pre|textarea|style)(?:[ \t>]|$)/i,
    close: /<\/(?:script|pre|textarea|style)>/i,
    interruptsParagraph: true,
  },
  { open: /^<!--/, close: /-->/, interruptsParagraph: true },
  { open: /^<\?/, close: /\?>/, interruptsParagraph: true },
  { open: /^<![A-Za-z]/, close: />/, interruptsParagraph: true },
  { open: /^<!\[CDATA\[/, close: /\]\]>/, interruptsParagraph: true },
  { open: new RegExp(`^</?(?:${BLOCK_NAMES})(?:[ \\t]|/?>|$)`, "i"), interruptsParagraph: true },
  {
    open: new RegExp(`^(?:<[A-Za-z][A-Za-z0-9-]*(?:${ATTRIBUTE})*[ \\t]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \\t]*>)[ \\t]*$`),
    interruptsParagraph: false,
  },
];

/** One tag alone on a line; a longer line is taken for words, because matching its attributes needs memory that grows with it. */
const MAX_TAG_LINE = 10_000;

/** The block of HTML that begins with this line. */
export function htmlKindOf(line: string, inParagraph: boolean): HtmlKind | undefined {
  return KINDS.find(
    ({ open, interruptsParagraph }) =>
      (interruptsParagraph || (!inParagraph && line.length <= MAX_TAG_LINE)) && open.test(line),
  );
}
