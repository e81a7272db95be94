import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, fakeFiles, policy, ROOT, ruleOf } from "../fixtures.ts";

/** What git puts back is lost where it was changed: that is for the paths of the task, as writing is. */
const ROWS: readonly [command: string, expected: string][] = [
  ["git checkout -- src/a.ts", "allowed"],
  ["git checkout HEAD -- src/a.ts src/b.ts", "allowed"],
  ["git restore src/a.ts", "allowed"],
  ["git checkout -- lib", "shell safety"],
  ["git checkout HEAD~1 -- lib/a.ts src/a.ts", "shell safety"],
  ["git restore lib/a.ts", "shell safety"],
  ["git restore --source=main lib", "shell safety"],
  ["git checkout -- .", "shell safety"],
];

for (const [command, expected] of ROWS)
  test(`with src as the paths of the task, ${command} is ${expected}`, () => {
    assert.equal(ruleOf(ask("bash", { command }, { policy: policy({ paths: ["src/**"] }) })), expected);
  });

test("patterns and searches in a folder of the scope are in it", () => {
  const asked = { policy: policy({ paths: ["docs/**"] }), files: fakeFiles({}, [`${ROOT}/docs`]) };
  const ruled = (command: string) => ruleOf(ask("bash", { command }, asked));
  for (const command of [
    "rm -f docs/*.bak",
    "find docs -name '*.md' | grep -v old | xargs sed -i s/a/b/",
    "for f in $(find docs -name '*.md'); do cp $f $f.old; done",
  ])
    assert.equal(ruled(command), "allowed", command);
  for (const command of [
    "rm -f *.bak",
    "rm -f d*/a.bak",
    "find . -name '*.md' | xargs sed -i s/a/b/",
    "for f in $(find docs -name '*.md'); do cp $f src/$(basename $f); done",
    "for f in $(ls docs); do mv docs/$f $f; done",
  ])
    assert.equal(ruled(command), "shell safety", command);
});

test("a part of an earlier run is said to be over", () => {
  const told = (id: string) => ask("govern_task", { action: "start", node: id });
  const why = (id: string) => JSON.stringify(told(id));
  assert.match(why("tn-1"), /no such task in this run\. Parts of an earlier run are over/);
  assert.doesNotMatch(why("gone"), /earlier run/);
});

test("who only looks is not told to start a task", () => {
  const told = (role: string) =>
    JSON.stringify(ask("bash", { command: "touch a" }, { policy: policy({ node: null }, role) }));
  assert.match(told("investigator"), /Write only what your prompt asks you for/);
  assert.match(told("executor"), /and start one/);
});
