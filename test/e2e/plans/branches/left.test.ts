import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeProject, type Project } from "../../../testing/project.ts";
import { oneOf } from "../../../testing/sample.ts";
import { thorough } from "../../../testing/thorough.ts";

const project = makeProject();
after(() => project.remove());

/** Puts something into a plan's worktree that is in no commit. */
function leave(id: string): string {
  const { worktree = "" } = project.record(id);
  writeFileSync(join(worktree, "precious.txt"), `of ${id}\n`);
  return worktree;
}

test("what a worktree holds beyond its commits outlives its removal, as a patch", async () => {
  project.plan("merged", ["one"]);
  project.plan("deleted", ["one"]);
  await project.work();
  assert.equal((await project.cli(["merge", "merged"])).code, 0);
  const [merged, deleted] = [leave("merged"), leave("deleted")];
  const cleaned = await project.cli(["clean", "merged"]);
  assert.equal(cleaned.code, 0, cleaned.stderr);
  const removed = await project.cli(["delete", "deleted", "--yes"]);
  assert.equal(removed.code, 0, removed.stderr);
  for (const [id, worktree] of [
    ["merged", merged],
    ["deleted", deleted],
  ] as const) {
    assert.equal(existsSync(worktree), false);
    assert.match(readFileSync(join(project.authority, "plans", id, "left.patch"), "utf8"), new RegExp(`\\+of ${id}`));
  }
});

test("what a worktree holds beyond its commits outlives a delete that was killed, and the next start", async () => {
  project.plan("killed", ["one"]);
  await project.work();
  const worktree = leave("killed");
  const killed = await project.cli(["delete", "killed", "--yes"], { PRLOOM_CRASH_AT: "delete:marked" });
  assert.equal(killed.signal, "SIGKILL", killed.stderr);
  await project.work();
  assert.equal(existsSync(worktree), false);
  assert.match(readFileSync(join(project.authority, "plans/killed/left.patch"), "utf8"), /\+of killed/);
});

for (const [how, ...commands] of oneOf([
  ["the plan is unblocked", ["unblock", "half"], ["start", "--until-idle"]],
  ["the dispatcher is started", ["start", "--until-idle"]],
  ["the plan is deleted", ["delete", "half", "--yes"]],
] as const)) {
  test(`what a person changes in a worktree whose initCommand failed outlives that ${how}`, thorough, async () => {
    const own = makeProject({ config: { initCommands: ["false"] } });
    after(() => own.remove());
    own.plan("half", ["one"]);
    await own.work();
    assert.match(own.record("half").blocked?.reason ?? "", /An initCommand failed/);
    writeFileSync(join(own.worktree("half"), "precious.txt"), "a person's\n");
    for (const command of commands) await own.cli([...command]);
    const patch = readFileSync(join(own.authority, "plans", "half", "left.patch"), "utf8");
    assert.match(patch, /\+a person's/);
    await own.work();
    assert.equal(existsSync(join(own.authority, "plans", "half", "left-2.patch")), false, "kept once");
  });
}

test("a worktree with nothing of the kind leaves no patch", thorough, async () => {
  project.plan("tidy", ["one"]);
  await project.work();
  await project.cli(["merge", "tidy"]);
  assert.equal((await project.cli(["clean", "tidy"])).code, 0);
  assert.equal(existsSync(join(project.authority, "plans", "tidy", "left.patch")), false);
});

for (const [how, ...commands] of oneOf([
  ["cleaned", ["merge", "notes"], ["clean", "notes"]],
  ["deleted", ["delete", "notes", "--yes"]],
] as const)) {
  test(`a folder that a person has at the place of a worktree by then stays when the plan is ${how}`, async () => {
    const theirs = makeProject({ config: { worktreesDir: "../trees" } });
    after(() => theirs.remove());
    theirs.plan("notes", ["one"]);
    await theirs.work();
    const { worktree = "" } = theirs.record("notes");
    const said = [];
    for (const [at, command] of commands.entries()) {
      if (at === commands.length - 1) {
        theirs.git("worktree", "remove", "--force", worktree);
        mkdirSync(worktree);
        writeFileSync(join(worktree, "precious.txt"), "a person's\n");
      }
      const done = await theirs.cli([...command]);
      said.push(done.stdout, done.stderr);
    }
    assert.equal(readFileSync(join(worktree, "precious.txt"), "utf8"), "a person's\n");
    await theirs.work();
    await theirs.cli(["clean"]);
    assert.equal(readFileSync(join(worktree, "precious.txt"), "utf8"), "a person's\n");
    assert.match(said.join("\n"), /is not the worktree that prloom made/);
  });
}

/** A folder of a person's where the worktree of plan `one` was. */
function putInPlace(project: Project): string {
  const { worktree = "" } = project.record("one");
  project.git("worktree", "remove", "--force", worktree);
  mkdirSync(worktree);
  writeFileSync(join(worktree, "precious.txt"), "a person's\n");
  return worktree;
}

test("a folder that a person made in the place of a worktree is not removed to make that again", thorough, async () => {
  const theirs = makeProject();
  after(() => theirs.remove());
  theirs.plan("one", ["first"]);
  await theirs.work();
  const worktree = putInPlace(theirs);
  await theirs.cli(["comment", "one", "Also the second"]);
  await theirs.work();
  assert.match((await theirs.cli(["unblock", "one"])).stderr, /is not the worktree that prloom made/);
  await theirs.work();
  assert.equal(readFileSync(join(worktree, "precious.txt"), "utf8"), "a person's\n");
  renameSync(worktree, join(theirs.root, "..", "theirs"));
  assert.equal((await theirs.cli(["unblock", "one"])).code, 0);
  await theirs.work();
  assert.ok(existsSync(join(worktree, ".git")));
});

for (const [how, ...command] of oneOf([
  ["started", "start", "--until-idle"],
  ["unblocked", "unblock", "one"],
  ["deleted", "delete", "one", "--yes"],
] as const)) {
  test(
    `a folder that a person has in the place of a worktree that was never finished stays when the plan is ${how}`,
    thorough,
    async () => {
      const theirs = makeProject({ config: { initCommands: ["exit 1"], worktreesDir: "../trees" } });
      after(() => theirs.remove());
      theirs.plan("one", ["first"]);
      await theirs.work();
      const worktree = putInPlace(theirs);
      await theirs.cli([...command]);
      await theirs.work();
      assert.equal(readFileSync(join(worktree, "precious.txt"), "utf8"), "a person's\n");
    },
  );
}

/** As `git worktree prune` does while the disk of a worktree is away. */
function forget(project: Project, worktree: string): void {
  renameSync(worktree, `${worktree}-away`);
  project.git("worktree", "prune", "--expire=now");
  renameSync(`${worktree}-away`, worktree);
}

test("what lies in a worktree that git has forgotten is still there when the plan is unblocked", thorough, async () => {
  const forgotten = makeProject();
  after(() => forgotten.remove());
  forgotten.plan("one", ["first"]);
  await forgotten.work();
  const { worktree = "" } = forgotten.record("one");
  writeFileSync(join(worktree, "precious.txt"), "a person's\n");
  forget(forgotten, worktree);
  await forgotten.cli(["comment", "one", "Also the second"]);
  await forgotten.work();
  assert.match(forgotten.record("one").blocked?.reason ?? "", /worktree is broken/);
  assert.equal((await forgotten.cli(["unblock", "one"])).code, 0);
  assert.equal(readFileSync(join(worktree, "precious.txt"), "utf8"), "a person's\n");
  await forgotten.work();
  assert.equal(forgotten.record("one").status, "review");
  assert.equal(forgotten.git("-C", worktree, "status", "--porcelain", "--", "src", "README.md"), "");
  // As ever when an agent comes to files that are in no commit.
  assert.match(forgotten.runFile("one", 2, "aside.patch"), /\+a person's/);
});

test("what lies in a worktree that git has forgotten is kept when the plan is deleted", thorough, async () => {
  project.plan("pruned", ["one"]);
  await project.work();
  forget(project, leave("pruned"));
  assert.equal((await project.cli(["delete", "pruned", "--yes"])).code, 0);
  assert.match(readFileSync(join(project.authority, "plans", "pruned", "left.patch"), "utf8"), /\+of pruned/);
  assert.doesNotMatch(project.git("worktree", "list"), /pruned/);
});

test("a second removal keeps what was left since the first", thorough, async () => {
  project.plan("twice", ["one"]);
  await project.work();
  await project.cli(["merge", "twice"]);
  const worktree = leave("twice");
  await project.cli(["clean", "twice"], { PRLOOM_CRASH_AT: "worktree:kept" });
  writeFileSync(join(worktree, "later.txt"), "later\n");
  assert.equal((await project.cli(["clean", "twice"])).code, 0);
  assert.equal(existsSync(worktree), false);
  const home = join(project.authority, "plans", "twice");
  assert.match(readFileSync(join(home, "left.patch"), "utf8"), /\+of twice/);
  assert.match(readFileSync(join(home, "left-2.patch"), "utf8"), /\+later/);
});

test("what was said and not yet read when a person merged by hand is told", thorough, async () => {
  const said = makeProject();
  after(() => said.remove());
  said.plan("one", ["first"]);
  await said.work();
  assert.equal((await said.cli(["comment", "one", "Also the second"])).code, 0);
  said.git("merge", "-q", "--ff-only", "prloom/one");
  const { stdout } = await said.work();
  assert.match(stdout, /one {2}merged with 1 unanswered comment: nothing looks at it any more/);
});

test("what a person saves in the inbox while the plan is activated stays there", thorough, async () => {
  const edited = makeProject();
  after(() => edited.remove());
  edited.plan("one", ["first"]);
  assert.equal((await edited.work({ PRLOOM_CRASH_AT: "activate:ready" })).signal, "SIGKILL");
  const file = join(edited.inbox, "one.md");
  writeFileSync(file, `${readFileSync(file, "utf8")}- [ ] second\n`);
  await edited.work();
  assert.match(readFileSync(file, "utf8"), /second/);
  assert.match((await edited.cli(["status"])).stdout, /id in use: another plan is already called one/);
});

test("a merge that a person has not finished is not ended by the next step", thorough, async () => {
  project.plan("merging", ["one"]);
  await project.work();
  const who = ["-c", "user.name=P", "-c", "user.email=p@localhost"];
  writeFileSync(join(project.root, "of-main.txt"), "of main\n");
  project.git("add", "of-main.txt");
  project.git(...who, "commit", "-qm", "Main moves on");
  const { worktree = "" } = project.record("merging");
  project.git(...who, "-C", worktree, "merge", "-q", "--no-commit", "main");
  await project.cli(["comment", "merging", "please make two"]);
  await project.work();
  assert.match(project.record("merging").blocked?.reason ?? "", /is not finished in the worktree of merging/);
  assert.match(project.git("-C", worktree, "status"), /still merging/);
  project.git(...who, "-C", worktree, "commit", "-qm", "Bring in main");
  await project.cli(["unblock", "merging"]);
  const worked = await project.work();
  assert.equal(project.record("merging").status, "review", worked.stdout);
  assert.deepEqual(project.commits("merging"), ["one", "Bring in main", "make two"]);
});

test(
  "a merge while a person has not finished a rebase names what finishes it, and not an agent",
  thorough,
  async () => {
    project.plan("rebasing", ["two lines"]);
    await project.work();
    const who = ["-c", "user.name=P", "-c", "user.email=p@localhost"];
    const { worktree = "" } = project.record("rebasing");
    const [file = ""] = project.git("diff", "--name-only", "main...prloom/rebasing").split("\n");
    writeFileSync(join(project.root, file), "of main\n");
    project.git("add", file);
    project.git(...who, "commit", "-qm", "The same lines");
    assert.throws(() => project.git(...who, "-C", worktree, "rebase", "-q", "main"));
    const refused = await project.cli(["merge", "rebasing"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /A rebase is not finished in the worktree of rebasing\./);
    assert.match(refused.stderr, /`git -C \S+ rebase --continue`/);
    project.git("-C", worktree, "rebase", "--abort");
    assert.match((await project.cli(["merge", "rebasing"])).stderr, /\[merge-conflict\]/);
  },
);
