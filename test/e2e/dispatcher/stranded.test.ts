import assert from "node:assert/strict";
import { test } from "node:test";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

const fresh = projectMaker();
const IN_A_ROW = /Its run ended 3 times in a row without an exit/;

test(
  "a shim that always dies before its run begins blocks its plan, and is not taken for used-up processes",
  thorough,
  async () => {
    const project = fresh();
    project.plan("one", ["one"]);
    const { code, stdout } = await project.work({ PRLOOM_SHIM_CRASH_AT: "shim-told" });
    assert.equal(code, 0, stdout);
    assert.match(project.record("one").blocked?.reason ?? "", IN_A_ROW);
    assert.equal(project.record("one").runs, 4, "the run that comes next is counted");
    assert.doesNotMatch(stdout, /has no .* left/);

    assert.equal((await project.cli(["unblock", "one"])).code, 0);
    await project.work();
    assert.equal(project.record("one").status, "review");
  },
);

test("a command whose shim always dies blocks its plan, and does not run without end", thorough, async () => {
  const project = fresh({ config: { initCommands: ["true"] } });
  project.plan("one", ["one"]);
  const { code, stdout } = await project.work({ PRLOOM_SHIM_CRASH_AT: "shim-spawned" });
  assert.equal(code, 0, stdout);
  assert.equal(stdout.match(/a command of its config was interrupted/g)?.length, 2);
  assert.match(project.record("one").blocked?.reason ?? "", IN_A_ROW);

  assert.equal((await project.cli(["unblock", "one"])).code, 0);
  await project.work();
  assert.equal(project.record("one").status, "review");
});
