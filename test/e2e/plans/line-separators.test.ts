import assert from "node:assert/strict";
import { test } from "node:test";
import { makeProject } from "../../testing/project.ts";

test("a TODO may hold characters that end a line to some readers", async (t) => {
  const project = makeProject();
  t.after(() => project.remove());
  project.plan("separated", ["one\u2028stop\u2029two"]);
  const { code, stdout } = await project.work();
  assert.equal(code, 0, stdout);
  assert.equal(project.record("separated").status, "review");
});
