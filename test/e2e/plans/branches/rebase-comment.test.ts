import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commitFile, conflicting } from "../../../testing/conflicting.ts";
import type { Project } from "../../../testing/project.ts";
import { projectMaker } from "../../../testing/projects.ts";
import { thorough } from "../../../testing/thorough.ts";

const fresh = projectMaker();

/** Triage that takes every comment for the wish to rebase. */
function rebasing(project: Project): Project {
  const { agents } = project.config() as { agents: { test: object } };
  const answer = JSON.stringify({ reply_markdown: "Will do.", todos: [], rebase_requested: true });
  const triage = { adapter: "command", command: "sh", args: ["-c", `echo '${answer}' > "$PRLOOM_RESULT_FILE"`] };
  project.config({
    agents: { ...agents, triage: { ...triage, sandbox: "none" } },
    stages: { default: "test", triage: "triage" },
  });
  return project;
}

test("a rebase that a comment asks for is told of, in the log and in the thread", thorough, async () => {
  const project = rebasing(fresh());
  project.plan("p", ["one"]);
  await project.work();
  for (const [moves, told, thread] of [
    [true, /triaged 1 comment into 0 TODOs; rebased/, /The branch is rebased: it stands at [0-9a-f]{8} now\./],
    [false, /; there was nothing to rebase/, /There is nothing to rebase/],
  ] as const) {
    if (moves)
      project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-q", "--allow-empty", "-m", "x");
    await project.cli(["comment", "p", "please rebase"]);
    assert.match((await project.work()).stdout, told);
    assert.match((await project.cli(["show", "p"])).stdout, thread);
  }
});

test("one with conflicts is told of in the thread when it ends, once, also after a kill", async () => {
  const project = await conflicting(rebasing(fresh()));
  await project.cli(["comment", "second", "please rebase"]);
  await project.work({ PRLOOM_CRASH_AT: "rebase:told" });
  assert.equal((await project.work()).code, 0);
  const { stdout } = await project.cli(["show", "second"]);
  assert.match(stdout, /The rebase conflicts in: work\.txt\. An agent resolves it\./);
  const sha = project.git("rev-parse", "prloom/second").slice(0, 8);
  assert.equal(stdout.split(`The branch is rebased: it stands at ${sha} now.`).length, 2, stdout);
});

test("one that is given up is told of in the thread, too", thorough, async () => {
  const project = await conflicting(rebasing(fresh({ env: { RESOLVE: "gives-up" } })));
  await project.cli(["comment", "second", "please rebase"]);
  await project.work();
  const { stdout } = await project.cli(["show", "second"]);
  assert.match(stdout, /prloom, .*\n +The branch was not rebased onto main, and is as it was\. The agent says/);
});

test("one that a person called off is told of in the thread, too", async () => {
  const project = await conflicting(rebasing(fresh()));
  await project.cli(["comment", "second", "please rebase"]);
  await project.work({ PRLOOM_CRASH_AT: "rebase:placed" });
  const { stdout } = await project.cli(["unblock", "second", "--reset"]);
  assert.equal(stdout, "second is not rebased: `prloom start` puts its branch back as it was.\n");
  writeFileSync(join(project.worktree("second"), "mine.txt"), "mine\n");
  const worked = await project.work();
  const patch = /left in the worktree was put aside in (\S+discarded\S*\.patch)/.exec(worked.stdout)?.[1];
  assert.match(readFileSync(patch ?? "", "utf8"), /\+mine/);
  assert.match(
    (await project.cli(["show", "second"])).stdout,
    /\n +The rebase was called off, and the branch is as it was\.\n/,
  );
});

test(
  "one is told of also where the answer was sent before a kill, and a person committed since",
  thorough,
  async () => {
    const project = await conflicting(rebasing(fresh()));
    await project.cli(["comment", "second", "please rebase"]);
    await project.work({ PRLOOM_CRASH_AT: "triage:settled" });
    await project.cli(["pause", "second"]);
    await project.work();
    commitFile(project, project.worktree("second"), "person.txt", "mine\n");
    await project.cli(["resume", "second"]);
    await project.work();
    const { stdout } = await project.cli(["show", "second"]);
    const sha = project.git("rev-parse", "prloom/second").slice(0, 8);
    assert.equal(stdout.split(`The branch is rebased: it stands at ${sha} now.`).length, 2, stdout);
    assert.equal(project.git("show", "prloom/second:person.txt"), "mine\n");
  },
);
