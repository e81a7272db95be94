import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeProject } from "../../testing/project.ts";

test("a plan becomes a branch in review with one commit per TODO, is answered, and is merged", async () => {
  const project = makeProject();
  after(() => project.remove());
  project.plan("first", ["make one", "make two"]);
  const started = await project.work();
  assert.equal(started.code, 0, started.stderr + started.stdout);
  const record = project.record("first");
  assert.equal(record.status, "review");
  assert.match(project.planText("first"), /- \[x\] make one\n- \[x\] make two/);
  const subjects = project.git("log", "--format=%s|%an", "main..prloom/first").trim().split("\n");
  assert.deepEqual(subjects, ["make two|prloom", "make one|prloom"]);
  assert.equal(project.git("show", "prloom/first:work.txt"), "make one\nmake two\n");
  assert.equal(existsSync(join(project.root, "prloom", ".local", "inbox", "first.md")), false);

  const commented = await project.cli(["comment", "first", "please make three"]);
  assert.equal(commented.code, 0, commented.stderr);
  assert.equal((await project.status()).plans[0]?.status, "triaging");
  const early = await project.cli(["merge", "first"]);
  assert.equal(early.code, 1);
  assert.match(early.stderr, /unanswered comment\. .*\n.*Let `prloom start --until-idle` answer/);
  assert.equal((await project.work()).code, 0);
  assert.match(project.planText("first"), /^- \[x\] make three\n {2}<!-- from local-\w+ by .* -->$/m);
  const shown = JSON.parse((await project.cli(["show", "first", "--json"])).stdout);
  assert.deepEqual(
    shown.thread.map((entry: { body: string }) => entry.body.split("\n")[0]),
    ["please make three", "Will do 1.", `Done in ${project.git("rev-parse", "prloom/first").slice(0, 12)}.`],
  );

  const merged = await project.cli(["merge", "first"]);
  assert.equal(merged.code, 0, merged.stderr);
  assert.equal(project.git("show", "main:work.txt"), "make one\nmake two\nmake three\n");
  assert.equal(project.record("first").status, "done");
  assert.equal(project.record("first").outcome, "merged");
});
