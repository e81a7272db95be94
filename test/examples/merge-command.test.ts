import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { story } from "../testing/story.ts";
import { thorough } from "../testing/thorough.ts";
import { addForum, install } from "./installed.ts";

const project = install(["merge-command"]);
const forum = addForum(project);
after(() => project.remove());

const tip = (): string => project.git("rev-parse", "main").trim();

const step = story("/merge in comments");

step("/merge merges, and the triage agent does not see it", async () => {
  project.plan("first", ["Write one thing", "Write another"]);
  await project.untilIdle();
  const before = tip();
  await project.type("send", "first", "one more thing");
  await project.type("comment", "first", "/merge");
  const printed = await project.untilIdle();
  assert.match(printed, /first +never delivered: .+ sent its agent: one more thing$/m);
  const { status, outcome } = project.record("first");
  assert.deepEqual({ status, outcome }, { status: "done", outcome: "merged" });
  assert.equal(project.git("rev-list", "--count", `${before}..main`).trim(), "1", "squashed to one commit");
  assert.equal(project.git("show", "main:work.txt"), "Write one thing\nWrite another\n");
  assert.equal(project.record("first").runs, 2, "one run per TODO and none for triage");
});

step("/merge rebase keeps the commits; an unknown way is answered", thorough, async () => {
  project.plan("second", ["Write more", "Write most"]);
  await project.untilIdle();
  await project.type("comment", "second", "/merge sideways");
  await project.untilIdle();
  assert.equal(project.record("second").status, "review");
  const answer = (await project.thread("second")).at(-1);
  assert.match(answer?.body ?? "", /no way to merge called "sideways"/);
  const before = tip();
  await project.type("comment", "second", "/merge rebase");
  await project.untilIdle();
  assert.equal(project.record("second").outcome, "merged");
  assert.equal(project.git("log", "--reverse", "--format=%s", `${before}..main`), "Write more\nWrite most\n");
});

step("words that only mention it are not a command", async () => {
  project.plan("third", ["Write the last"]);
  await project.untilIdle();
  await project.type("comment", "third", "What does /merge do?");
  await project.untilIdle();
  assert.equal(project.record("third").status, "review");
  assert.match((await project.thread("third")).at(-1)?.body ?? "", /nothing to do/, "triage has answered it");
});

step("a stranger's /merge is refused by prloom itself", async () => {
  const before = tip();
  forum.say("third", { id: "post-1", login: "mallory", permission: "read", body: "/merge" });
  const printed = await project.untilIdle();
  assert.equal(project.record("third").status, "review");
  assert.equal(tip(), before);
  assert.match(printed, /mallory, who may not write to the repository/);
  assert.equal((await project.status()).dead?.count, 0);
  assert.match((await project.type("events", "third", "--log", "settled")).stdout, /mallory, who may not write/);
});

step("the same words from there by an author who may write merge", async () => {
  forum.say("third", { id: "post-2", login: "grace", permission: "write", body: "/merge merge" });
  await project.untilIdle();
  assert.equal(project.record("third").outcome, "merged");
});

step("a /merge that is refused is answered in the thread, with what to type", thorough, async () => {
  project.plan("refused", ["Write what is in the way"]);
  await project.untilIdle();
  const before = tip();
  const file = join(project.root, "work.txt");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, "mine\n");
  await project.type("comment", "refused", "/merge");
  await project.untilIdle();
  assert.equal(tip(), before);
  assert.equal(project.record("refused").status, "review");
  const answer = (await project.thread("refused")).at(-1)?.body ?? "";
  assert.match(answer, /^Not merged: main is checked out .*work\.txt.*`git -C \S+ stash -u`.*`prloom merge refused`/s);
  writeFileSync(file, text);
  await project.type("comment", "refused", "/merge");
  await project.untilIdle();
  assert.equal(project.record("refused").outcome, "merged");
});
