import assert from "node:assert/strict";
import { test } from "node:test";
import { makeProject } from "../../../testing/project.ts";

test("a TODO may hold characters that end a line to some readers", async (t) => {
  const project = makeProject();
  t.after(() => project.remove());
  project.plan("separated", ["one\u2028stop\u2029two"]);
  const { code, stdout } = await project.work();
  assert.equal(code, 0, stdout);
  assert.equal(project.record("separated").status, "review");
});

test("a TODO may hold characters that drive a terminal or turn the order of reading, as pasted text does", async (t) => {
  const project = makeProject();
  t.after(() => project.remove());
  // The first comes with each path that is copied from a dialog of Windows.
  project.plan("pasted", ["read \u202aC:\\data.txt", "say \u2068hi\u2069", "ring \u0007 \u001b[31m \u0085", "last"]);
  const { code, stdout } = await project.work();
  assert.equal(code, 0, stdout);
  assert.equal(project.record("pasted").status, "review", stdout);
  assert.equal(project.commits("pasted").length, 4);
});
