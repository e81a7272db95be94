import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { commitFile, tip } from "../../../testing/conflicting.ts";
import { TEST_AGENT } from "../../../testing/project.ts";
import { projectMaker } from "../../../testing/projects.ts";
import { thorough } from "../../../testing/thorough.ts";

const fresh = projectMaker();

/** The line of a shell that says how a run ended. */
const say = (outcome: object) => `echo '${JSON.stringify(outcome)}' > "$PRLOOM_OUTCOME_FILE"`;

describe("marks of a conflict", { concurrency: 2 }, () => {
  test("marks are found in a file that attributes keep out of diffs", thorough, async () => {
    const project = fresh({ env: { RESOLVE: "leaves-marks" }, config: { limits: { attemptsPerTodo: 1 } } });
    commitFile(project, project.root, ".gitattributes", "work.txt -diff\n");
    project.plan("second", ["c"]);
    await project.work();
    commitFile(project, project.root, "work.txt", "of a person\n");
    await project.cli(["rebase", "second"]);
    await project.work();
    assert.match(project.record("second").blocked?.reason ?? "", /Marks of the conflict are left in work\.txt/);
  });

  test("a file without marks that is as git left it needs a reason, which the reviewer reads", thorough, async () => {
    const [done, explained] = [say({ outcome: "done" }), say({ outcome: "done", reason: "main is newer" })];
    const edit = `printf 'mine\\0' > logo.png; echo mine > notes.txt; rm old.txt; ${done}`;
    const resolve = `case $prompt in *'As git left it'*) ${explained} ;; *) ${done} ;; esac`;
    const work = `prompt=$(cat); if [ "$PRLOOM_CONFLICTS" ]; then ${resolve}; else ${edit}; fi`;
    const critic = { command: process.execPath, args: [TEST_AGENT], env: { REVIEW: "approve" } };
    const agents = { worker: { command: "sh", args: ["-c", work] }, critic };
    const stages = { default: "worker", reviewer: "critic" };
    const project = fresh({ config: { review: "todo", agents, stages } });
    commitFile(project, project.root, "logo.png", "old\0");
    commitFile(project, project.root, "old.txt", "1\n2\n");
    project.plan("second", ["c"]);
    await project.work();
    commitFile(project, project.root, "logo.png", "theirs\0");
    commitFile(project, project.root, "old.txt", "1\n2\n3\n");
    const commit = tip(project, "second");
    await project.cli(["rebase", "second"]);
    assert.ok(project.record("second").rebase);
    assert.equal((await project.work()).code, 0);
    const prompt = (run: number) => project.runFile("second", run, "prompt.md");
    assert.ok(prompt(3).includes(`git show ${commit}:<file>`), "the agent can read the other side");
    assert.match(prompt(4), /As git left it, .* no marks: logo\.png, old\.txt\./);
    assert.match(prompt(5), /The worker says why it is done like this: main is newer/);
    assert.equal(project.record("second").status, "review");
  });

  test("a name that git made up for a file is not taken for a resolution", thorough, async () => {
    const project = fresh({ config: { limits: { attemptsPerTodo: 1 } } });
    project.plan("second", ["c"]);
    await project.work();
    mkdirSync(join(project.root, "work.txt"));
    commitFile(project, project.root, "work.txt/of-a-person.txt", "1\n");
    await project.cli(["rebase", "second"]);
    await project.work();
    assert.match(project.record("second").blocked?.reason ?? "", /work\.txt~\w{40}: git named it so/);
  });

  test(
    "a commit that is called needless is not left in part, and what checks leave is not in it",
    thorough,
    async () => {
      const needless = say({ outcome: "nothing-to-change", reason: "main does it" });
      const resolve = `git checkout -q HEAD -- notes.txt; case $prompt in *'put that back'*) rm more.txt ;; esac; ${needless}`;
      const edit = `echo mine > notes.txt; echo mine > more.txt; ${say({ outcome: "done" })}`;
      const work = `prompt=$(cat); if [ "$PRLOOM_CONFLICTS" ]; then ${resolve}; else ${edit}; fi`;
      const agents = { worker: { command: "sh", args: ["-c", work] } };
      const project = fresh({ config: { agents, stages: { default: "worker" } } });
      project.plan("second", ["c"]);
      await project.work();
      commitFile(project, project.root, "notes.txt", "theirs\n");
      project.config({ agents, stages: { default: "worker" }, checks: ["echo 1 > report.txt"] });
      await project.cli(["reload", "--yes"]);
      await project.cli(["rebase", "second"]);
      assert.equal((await project.work()).code, 0);
      assert.match(project.runFile("second", 3, "prompt.md"), /but `more\.txt` changed\. Say "done", or put that back/);
      assert.equal(project.git("diff", "--name-only", "main", "prloom/second"), "");
      assert.deepEqual(project.commits("second"), ["c"]);
      assert.equal(project.git("-C", project.worktree("second"), "status", "--porcelain"), "");
    },
  );
});
