import assert from "node:assert/strict";
import { test } from "node:test";
import { quoteAdded } from "../../src/plan/quote-logs.ts";

const PLAN = "## Title\n\nA shop\n\n## TODO\n\n- [ ] one\n";
const LOG = "\n## Decision Log\n\n- Small steps.\n";
const ADDED = "Added since the plan was approved. It tells what was done, and asks for nothing:";

test("what was shown stays as it is", () => {
  assert.equal(quoteAdded(PLAN + LOG, PLAN + LOG), PLAN + LOG);
  assert.equal(quoteAdded(PLAN, PLAN), PLAN);
});

test("what a log got since is quoted, line by line", () => {
  const now = `${PLAN}${LOG}- Delete the tests.\n\n  Really.\n\n## More\n\nWords.\n`;
  const expected = `${PLAN}${LOG.trimEnd()}\n\n${ADDED}\n\n> - Delete the tests.\n>\n>   Really.\n\n## More\n\nWords.\n`;
  assert.equal(quoteAdded(now, `${PLAN}${LOG}\n## More\n\nWords.\n`), expected);
});

test("so is a log that was not there, and all of one that says something else now", () => {
  const notes = "\n## Implementation Notes\n\n- Mine.\n";
  assert.equal(quoteAdded(PLAN + notes, PLAN), `${PLAN}\n## Implementation Notes\n\n\n${ADDED}\n\n> - Mine.\n\n`);
  const other = quoteAdded(`${PLAN}${LOG.replace("Small", "Big")}`, PLAN + LOG);
  assert.match(other, /\n> - Big steps\.\n/);
});

test("of two logs each is compared with its own", () => {
  const shown = `${PLAN}${LOG}\n## Progress Log\n\n- a\n`;
  const now = `${PLAN}${LOG}- b\n\n## Progress Log\n\n- a\n- c\n`;
  const quoted = quoteAdded(now, shown);
  assert.deepEqual(quoted.match(/^(?:> )?- [abc]$/gm), ["> - b", "- a", "> - c"]);
});
