import fc from "fast-check";

/** Lines that make trouble when they meet: every kind of block that can swallow, end or start another. */
const LINES = [
  "",
  "",
  "## TODO",
  "## TODOs:",
  "## Title",
  "## Progress Log",
  "## Decision Log",
  "## Implementation Notes",
  "## Depends on",
  "# Top",
  "### Third",
  "TODO",
  "----",
  "===",
  "***",
  "- [ ] do it",
  "- [ ] do it",
  "- [x] done",
  "* [b] stuck",
  "+ [X] big",
  "1. [ ] numbered",
  "2) [ ] other",
  "- plain",
  "-",
  "- [ ]",
  "  context",
  "\tcontext by tab",
  "  - [ ] nested",
  "    - deeper",
  "  after: 1",
  "  expects: none",
  "```",
  "~~~",
  "  ```sh",
  "<!-- open",
  "-->",
  "<!-- from e-1 by ann -->",
  "<div>",
  "</div>",
  "<script>",
  "<pre>",
  "> quoted",
  "> - [ ] in a quote",
  "> ```",
  "[a]: b",
  "(title",
  "    indented code",
  "| a | b |",
  "&lt; * _ ` [x](y)",
  "\u00a0",
  "日本語 ünï",
  "\\",
];

export const anyLine = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...LINES) }, fc.string({ maxLength: 12 }));

/** Text out of such lines, with any line break and now and then a byte order mark. */
export const anyPlan = fc
  .tuple(fc.array(anyLine, { maxLength: 30 }), fc.constantFrom("\n", "\n", "\r\n", "\r"), fc.boolean(), fc.boolean())
  .map(([lines, newline, mark, open]) => (mark ? "\uFEFF" : "") + lines.join(newline) + (open ? "" : newline));
