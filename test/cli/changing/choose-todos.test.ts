import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenOf, leftOutLines } from "../../../src/cli/changing/choose-todos.ts";
import { readChecklist } from "../../../src/plan/checklists/checklist.ts";

const ISSUE = "## Server\n\n- [ ] a\n- [ ] b\n\n## Client\n\n- [ ] c\n\n## Acceptance criteria\n\n- [ ] fast\n";

test("groups that a person did not choose are told with the rest that was left out", () => {
  const found = readChecklist(ISSUE);
  assert.ok(found.kind === "unclear");
  const conditions = '1 below "Acceptance criteria": conditions';
  const one = chosenOf(found, found.groups[0]);
  assert.deepEqual(leftOutLines(one.leftOut), [conditions, '1 below "Client": another group']);
  const none = chosenOf(found, undefined);
  assert.equal(none.kind, "none");
  assert.deepEqual(leftOutLines(none.leftOut), [
    conditions,
    '2 below "Server": another group',
    '1 below "Client": another group',
  ]);
});
