import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, policy, ruleOf } from "../fixtures.ts";

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
