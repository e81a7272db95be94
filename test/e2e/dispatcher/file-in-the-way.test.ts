import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeProject } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

test("with a branch's file in the place of prloom/.local plans say what is missing", thorough, async (t) => {
  const project = makeProject();
  t.after(() => project.remove());
  project.plan("one", ["one"]);
  await project.work();
  rmSync(join(project.root, "prloom", ".local"), { recursive: true });
  writeFileSync(join(project.root, "prloom", ".local"), "");
  for (const args of [["start", "--until-idle"], ["comment", "one", "More."], ["clean"]]) {
    const { code, stderr } = await project.cli(args);
    assert.equal(code, 0, stderr);
  }
  assert.match(project.record("one").blocked?.reason ?? "", /worktree is missing/);
  rmSync(join(project.root, "prloom", ".local"));
  const { code, stderr } = await project.cli(["unblock", "one"]);
  assert.equal(code, 0, stderr);
  await project.work();
  assert.equal(project.record("one").blocked, undefined);
});

test("a branch that has the name of the folder of our branches is named as what is in the way", thorough, async (t) => {
  const project = makeProject({ config: { bus: { retryMax: "10ms" } } });
  t.after(() => project.remove());
  project.git("branch", "prloom");
  project.plan("one", ["one"]);
  await project.work();
  assert.match(project.record("one").blocked?.reason ?? "", /'refs\/heads\/prloom' exists/);
});

test("what a person keeps in a folder that has the name of one of our links stays", thorough, async (t) => {
  const project = makeProject();
  t.after(() => project.remove());
  const mine = join(project.root, "prloom", ".local", "plans");
  mkdirSync(mine, { recursive: true });
  writeFileSync(join(mine, "idea.md"), "An idea.\n");
  project.plan("one", ["one"]);
  await project.work();
  assert.equal(readFileSync(join(mine, "idea.md"), "utf8"), "An idea.\n");
  assert.equal(project.record("one").status, "review");
});
