import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Nodes } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import type { Block } from "../../../src/plan/markdown/block.ts";
import { scanBlocks } from "../../../src/plan/markdown/scan.ts";
import { samples } from "../../testing/sample.ts";

/** What of a block means something to a plan: its kind, its place, and where it ends when it is a TODO. */
type Seen = [type: string, start: number | string, ...rest: unknown[]];

/** Only blocks: what stands inside a line is not read, and how the parser treats it does not matter here. */
const BLOCKS_ONLY = {
  disable: {
    null: [
      "attention",
      "autolink",
      "characterEscape",
      "characterReference",
      "codeText",
      "hardBreakEscape",
      "htmlText",
      "labelEnd",
      "labelStartImage",
      "labelStartLink",
    ],
  },
};

function oracle(text: string): Seen[] {
  /** `until`: an item whose code or HTML is never closed reaches into the next one there. */
  const see = (node: Nodes, until: number): Seen => {
    const { start, end } = node.position ?? assert.fail("every node has a place");
    const children: Nodes[] = "children" in node ? node.children : [];
    const [from, to] = [children[0]?.position?.start.offset, children.at(-1)?.position?.end.offset];
    const words = node.type === "heading" && from !== undefined ? text.slice(from, to) : "";
    const kind = node.type === "heading" ? `h${node.depth} ${words}` : node.type;
    const place = { kind, start: start.offset ?? 0, end: Math.min(end.offset ?? 0, until) };
    const inner = children.map((child, at) => see(child, children[at + 1]?.position?.start.offset ?? until));
    return seen(text, place, containers(node.type, inner));
  };
  const { children } = fromMarkdown(text, { extensions: [BLOCKS_ONLY] });
  return oneDefinition(children.map((child) => see(child, text.length)));
}

function scanned(text: string): Seen[] {
  const see = (block: Block): Seen => {
    const words = text.slice(block.words?.start ?? 0, block.words?.end ?? 0);
    const kind = block.type === "heading" ? `h${block.depth} ${words}` : block.type;
    return seen(text, { kind, start: block.start, end: block.end }, containers(block.type, block.children.map(see)));
  };
  return oneDefinition(scanBlocks(text, 0).map(see));
}

function containers(type: string, children: Seen[]): Seen[] {
  return ["blockquote", "list", "listItem"].includes(type) ? oneDefinition(children) : [];
}

function seen(text: string, { kind, start, end }: { kind: string; start: number; end: number }, inner: Seen[]): Seen {
  // A heading below definitions begins with them there, and with its words here; code and HTML may include their indent.
  const place = kind.startsWith("h") || kind === "code" ? "" : start;
  const isTask = kind === "paragraph" || (kind === "listItem" && inner[0]?.[0] === "paragraph");
  return [kind, place, ...(isTask ? [text.slice(0, end).trimEnd().length] : []), ...inner];
}

/** Several in a row are one block here; and code that follows code is code. */
function oneDefinition(blocks: Seen[]): Seen[] {
  return blocks.filter(([type], at) => (type !== "definition" && type !== "code") || blocks[at - 1]?.[0] !== type);
}

/** Every kind of block that can swallow, end or start another. Not here: what the parser does differently from CommonMark. */
const PIECES = [
  ["", "", "", "  ", "\t"],
  [
    "## TODO",
    "# Top",
    "### T",
    "TODO",
    "----",
    "===",
    "==",
    "--",
    "***",
    "_ _ _",
    "# a #",
    "# a \\#",
    "## #",
    "#",
    "#x",
  ],
  [
    "- [ ] do",
    "- [x] done",
    "* [b] s",
    "1. [ ] n",
    "1) [ ] o",
    "- plain",
    "- [ ]",
    "1.  x",
    "-     x",
    "- - x",
    "- # h",
  ],
  ["  ctx", "\tctx", "  - [ ] nested", "    - deeper", "  after: 1", "-\tx", "-\t\tx", " - a", "   - b", "     c"],
  ["```", "~~~", "````", "  ```sh", "``` `x", "- ```", "  ```", "> ```", "    indented", "\tcode"],
  ["<!-- open", "-->", "<!-- c -->", "<div>", "</div>", "- <div>", "<script>", "\n</script>", "<pre>", "<?x", "?>"],
  ["<!X", "<![CDATA[", "]]>", "\n<a b='c'>", "\n<a>", "\n</b >", "\n<a href=x y", "\n<A1-b c=d e>"],
  ["> quoted", "> - [ ] q", ">", "> # h", ">\t x", "- > q", "  > q", ">> x", "> > - y"],
  ["[a]: b", "[a]:", "[a]: <b> 't'", "(title", '"t"', "'t", "- [a]: b", "> [a]: b", "[x]: y", "[\\]]: z", "[a]: b c"],
  ["words", "a  ", "\u00a0", "x\ty", "日本語", "\\", "| a | b |"],
].flat();
const PREFIXES = ["", "", "", " ", "  ", "    ", "\t", "> ", ">", "- ", "1. ", "* ", "   "];
const anyPiece = fc
  .tuple(fc.constantFrom(...PREFIXES), fc.constantFrom(...PIECES))
  .map(([prefix, piece]) => (/^(?:\s|\d|.$)/.test(piece) ? piece : prefix + piece))
  .filter((piece) => !/(?:^|[ \t>])(?:[-*+]|1[.)])[ \t]*$/.test(piece));
const anyText = fc
  .tuple(fc.array(anyPiece, { maxLength: 12 }), fc.constantFrom("\n", "\n", "\r\n", "\r"), fc.boolean())
  .map(([pieces, newline, open]) => pieces.flatMap((piece) => piece.split("\n")).join(newline) + (open ? "" : newline));

test("agrees with a full Markdown parser on any text out of nasty pieces", () => {
  fc.assert(
    fc.property(anyText, (text) => assert.deepEqual(scanned(text), oracle(text))),
    { numRuns: samples(5000) },
  );
});

const outline = (text: string): string =>
  JSON.stringify(scanBlocks(text, 0), (_, value) => (value?.type ? [value.type, ...value.children] : value))
    .replaceAll('"', "")
    .replaceAll("thematicBreak", "break");

/** Where CommonMark is clear and the parser is not: an item that is empty or begins with 2 interrupts no paragraph. */
const CASES: [text: string, blocks: string][] = [
  ["a\n-\n", "[[heading]]"],
  ["a\n- \nb", "[[heading],[paragraph]]"],
  ["a\n*\nb", "[[paragraph]]"],
  ["a\n2. b", "[[paragraph]]"],
  ["a\n1. b", "[[paragraph],[list,[listItem,[paragraph]]]]"],
  ["- a\n2. b", "[[list,[listItem,[paragraph]]],[list,[listItem,[paragraph]]]]"],
  ["    code\n- \n", "[[code],[list,[listItem]]]"],
  ["a\n<b>", "[[paragraph]]"],
  ["- a\n<b>", "[[list,[listItem,[paragraph]]]]"],
  ["<b>\nc\n\nd", "[[html],[paragraph]]"],
  ["-\n\n  a", "[[list,[listItem]],[paragraph]]"],
  ["- a\n\n\n\n  b", "[[list,[listItem,[paragraph],[paragraph]]]]"],
  ["1234567890. x", "[[paragraph]]"],
  ["> a\n---", "[[blockquote,[paragraph]],[break]]"],
  ["[a]: b\n---", "[[definition],[break]]"],
  ["[a]: b\n===\nc\n===", "[[definition],[heading]]"],
];
for (const [text, blocks] of CASES)
  test(`blocks of ${JSON.stringify(text)}`, () => assert.equal(outline(text), blocks));

test("what is nested too deep is words, and everything after it is read as ever", () => {
  for (const deep of ["> ".repeat(10_000), "- ".repeat(10_000), "1. ".repeat(10_000), "> - ".repeat(10_000)]) {
    const blocks = scanBlocks(`${deep}x\n\n# after\n`, 0);
    assert.equal(blocks.at(-1)?.type, "heading");
    let depth = 0;
    for (let block = blocks[0]; block; block = block.children[0]) depth += 1;
    assert.ok(depth < 100, `${depth}`);
  }
});
