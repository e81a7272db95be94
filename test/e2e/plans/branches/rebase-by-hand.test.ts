import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { commitFile, conflicting, PERSON, tip } from "../../../testing/conflicting.ts";
import { projectMaker } from "../../../testing/projects.ts";
import { thorough } from "../../../testing/thorough.ts";

const fresh = projectMaker();

describe("a rebase of what a person did on the branch", { concurrency: 2 }, () => {
  test("what a person changed in a merge is not lost: the branch stays as it is", thorough, async () => {
    const project = fresh();
    project.plan("one", ["a"]);
    await project.work();
    const worktree = project.worktree("one");
    const mergeMain = () => project.git("-C", worktree, ...PERSON, "merge", "-q", "--no-ff", "-m", "main", "main");
    commitFile(project, project.root, "m1.txt", "1\n");
    mergeMain();
    commitFile(project, project.root, "m2.txt", "2\n");
    assert.match((await project.cli(["rebase", "one"])).stdout, /^rebased one onto main/);
    commitFile(project, project.root, "m3.txt", "3\n");
    mergeMain();
    writeFileSync(join(worktree, "src", "a.txt"), "of a person\n");
    project.git("-C", worktree, ...PERSON, "commit", "-q", "--all", "--amend", "--no-edit");
    commitFile(project, project.root, "m4.txt", "4\n");
    const before = tip(project, "one");
    const { code, stderr } = await project.cli(["rebase", "one"]);
    assert.deepEqual([code, tip(project, "one"), project.record("one").rebase], [1, before, undefined]);
    assert.match(stderr, /The merge \w{8} on prloom\/one has changes of its own, which a rebase would lose\./);
    await project.cli(["comment", "one", "please rebase"]);
    await project.work();
    assert.match(project.record("one").blocked?.reason ?? "", /which a rebase would lose/);
    // The way out that the hint names.
    mergeMain();
    await project.cli(["unblock", "one"]);
    assert.equal((await project.work()).code, 0);
    assert.equal(project.record("one").blocked, undefined);
    assert.equal(project.git("show", "prloom/one:src/a.txt"), "of a person\n");
    assert.match((await project.cli(["rebase", "one"])).stdout, /^one is up to date with main/);
  });

  test("what a person commits before the agent begins stays, and is rebased with the rest", thorough, async () => {
    const project = await conflicting(fresh());
    await project.cli(["rebase", "second"]);
    commitFile(project, project.worktree("second"), "by-hand.txt", "of a person\n");
    const byHand = tip(project, "second");
    await project.cli(["unblock", "second", "--reset"]);
    assert.equal((await project.work()).code, 0);
    assert.deepEqual([project.record("second").rebase, tip(project, "second")], [undefined, byHand]);
    await project.cli(["rebase", "second"]);
    commitFile(project, project.worktree("second"), "more.txt", "of a person\n");
    assert.equal((await project.work()).code, 0);
    assert.deepEqual(project.commits("second"), ["c", "d", "by-hand.txt", "more.txt"]);
    assert.equal(project.git("show", "prloom/second:work.txt"), "a\nb\nc\nd\n");
  });

  test("what a kill leaves of moving the tree is no person's", async () => {
    const project = await conflicting(fresh());
    await project.cli(["rebase", "second"]);
    const before = tip(project, "second");
    assert.equal((await project.work({ PRLOOM_CRASH_AT: "rebase:moved" })).signal, "SIGKILL");
    // As if git had been cut off: the branch is moved, and files are not.
    project.git("-C", project.worktree("second"), "checkout", "-q", before, "--", ".");
    const { code, stdout } = await project.work();
    assert.equal(code, 0, stdout);
    assert.match(stdout, /what a rebase that was cut off left in the worktree was put aside in \S+partial\.patch/);
    assert.doesNotMatch((await project.cli(["merge", "second"])).stdout, /before a rebase/);
  });

  test("a person's commit is resolved too, but not one that changes what agents may not", thorough, async () => {
    const project = await conflicting(fresh());
    const commit = (folder: string, files: Record<string, string>) => {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
      project.git("-C", folder, "add", "-f", "--", ...Object.keys(files));
      project.git("-C", folder, ...PERSON, "commit", "-qm", "by hand");
    };
    commit(project.worktree("second"), { "src/a.txt": "mine\n" });
    commit(project.root, { "src/a.txt": "theirs\n", "src/b.txt": "theirs\n" });
    await project.cli(["rebase", "second"]);
    assert.equal((await project.work()).code, 0);
    assert.deepEqual(project.commits("second"), ["c", "d", "by hand"]);
    assert.equal(project.git("log", "-1", "--format=%an", "prloom/second"), "P\n");
    assert.equal(project.git("show", "prloom/second:src/a.txt"), "theirs\nmine\n");
    commit(project.worktree("second"), { "src/b.txt": "mine\n", ".claude/settings.json": "{}\n" });
    commit(project.root, { "src/b.txt": "others\n" });
    const before = tip(project, "second");
    await project.cli(["rebase", "second"]);
    await project.work();
    const { blocked } = project.record("second");
    assert.match(blocked?.reason ?? "", /changes what agents may not change: \.claude\/settings\.json/);
    assert.equal(tip(project, "second"), before);
  });
});
