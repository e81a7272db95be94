import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chosenOf, leftOutLines } from "../../../src/cli/changing/choose-todos.ts";
import { readChecklist } from "../../../src/plan/checklists/checklist.ts";
import { CLI, NODE_FLAGS } from "../../testing/program.ts";
import { inTerminal, NO_TERMINAL } from "../../testing/terminal.ts";
import { thorough } from "../../testing/thorough.ts";
import { repositoryFor } from "../fixture.ts";

const ISSUE = "## Server\n\n- [ ] a\n- [ ] b\n\n## Client\n\n- [ ] c\n\n## Acceptance criteria\n\n- [ ] fast\n";

test("groups that a person did not choose are told with the rest that was left out", () => {
  const found = readChecklist(ISSUE);
  assert.ok(found.kind === "unclear");
  const conditions = '1 below "Acceptance criteria": conditions';
  const one = chosenOf(found, found.groups.slice(0, 1));
  assert.deepEqual(leftOutLines(one.leftOut), [conditions, '1 below "Client": another group']);
  const none = chosenOf(found, []);
  assert.equal(none.kind, "none");
  const all = chosenOf(found, found.groups);
  assert.deepEqual([all.kind, leftOutLines(all.leftOut)], ["todos", [conditions]]);
  assert.deepEqual(leftOutLines(none.leftOut), [
    conditions,
    '2 below "Server": another group',
    '1 below "Client": another group',
  ]);
});

test("Ctrl-D at a question is an answer: no plan, and where the text is", {
  skip: NO_TERMINAL,
  ...thorough,
}, async (t) => {
  const { root } = repositoryFor(t);
  const env = { ...(process.env as Record<string, string>), HOME: root, EDITOR: "sh edit.sh" };
  writeFileSync(join(root, "edit.sh"), `printf '# Shop\\n\\n${ISSUE.replaceAll("\n", "\\n")}' > "$1"\n`);
  const line = `stty cols 100 rows 20; ${[process.execPath, ...NODE_FLAGS, CLI].join(" ")} new; echo ended $?`;
  const screen = inTerminal(line, { cwd: root, env });
  await screen.shows(/Which of these.*Server.*Client.*all of them/s);
  screen.type("\u0004");
  assert.match(await screen.ended, /No plan was made\. Your version is in \S+.*ended 2/s);
});

test("those below no heading can be named, too", async (t) => {
  const { run } = repositoryFor(t);
  const input = "- [ ] a\n- [ ] b\n\nPlease note:\n\n- [ ] c\n";
  const { code, stderr } = await run(["new", "--stdin", "--id", "unclear"], { input });
  assert.equal(code, 2);
  assert.match(
    stderr,
    /Type one of: --todos-from "", --todos-from "Please note".*\("": those below no heading; none: /,
  );
  const made = await run(["new", "--stdin", "--id", "chosen", "--todos-from", ""], { input });
  assert.match(made.stdout, /2 TODOs from what stands below no heading/);
});
