import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Project, TEST_AGENT } from "../../testing/project.ts";
import { projectMaker, works } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

describe("an outcome that is written to a file", { concurrency: 2 }, () => {
  const fresh = projectMaker();
  const PROMPT = '"$PRLOOM_RUN_DIR/prompt.txt"';

  /** A worker that is a line for a shell, and a reviewer that approves. */
  function make(script: string): Project {
    const worker = { command: "sh", args: ["-c", `cat > ${PROMPT}; ${script}`] };
    const critic = { command: process.execPath, args: [TEST_AGENT], env: { REVIEW: "approve" } };
    const stages = { default: "worker", reviewer: "critic" };
    return fresh({ config: { review: "todo", agents: { worker, critic }, stages } });
  }

  test("may say that nothing has to change; what cannot be understood is told to the next attempt", async () => {
    const right = '{"outcome": "nothing-to-change", "reason": "it is there"}';
    const project = make(
      `if grep -q 'write one JSON' ${PROMPT}; then echo '${right}'; else echo fine; fi > "$PRLOOM_OUTCOME_FILE"`,
    );
    project.plan("p", ["one"]);
    await works(project);
    assert.equal(project.record("p").status, "review", project.record("p").blocked?.reason);
    const [second, review] = [2, 3].map((run) => project.runFile("p", run, "agent/prompt.txt"));
    assert.match(second ?? "", /PRLOOM_OUTCOME_FILE cannot be used: it is not JSON; write one/);
    assert.match(review ?? "", /only this one: one\n\nThe worker says that nothing has to change: it is there/);
    assert.match(project.planText("p"), /- \[x\] one[\s\S]*## Progress Log\n\n- Nothing had to change: it is there/);
    assert.match(
      project.git("log", "-1", "--format=%B", "prloom/p"),
      /^one\n\nNothing had to change: it is there\n\nPlan: p\n/,
    );
    assert.match((await project.cli(["show", "p"])).stdout, /^ {2}run 2: nothing had to change: it is there$/m);
  });

  test(
    "that nothing has to change counts where only the checks changed something, and that is put aside",
    thorough,
    async () => {
      const project = make(`echo '{"outcome": "nothing-to-change", "reason": "it is there"}' > "$PRLOOM_OUTCOME_FILE"`);
      project.config({ checks: ["mkdir -p cache && echo made > cache/made && echo more >> README.md"] });
      project.plan("p", ["one"]);
      await works(project);
      const { status, blocked } = project.record("p");
      assert.equal(status, "review", blocked?.reason);
      assert.equal(project.git("diff", "--name-only", "main", "prloom/p"), "");
      assert.match(project.runFile("p", 1, "aside.patch"), /cache\/made/);
    },
  );

  test("that cannot be read is told to the next attempt, and does not pass for none", thorough, async () => {
    const tick = `echo x > x.txt; sed -i 's/- \\[ \\]/- [x]/' "$PRLOOM_PLAN_FILE"`;
    const long = `printf '{"outcome": "blocked", "reason": "%s"}' "$(head -c 70000 /dev/zero | tr '\\0' x)"`;
    for (const left of [`${long} > "$PRLOOM_OUTCOME_FILE"`, 'mkfifo "$PRLOOM_OUTCOME_FILE"']) {
      const project = make(`${tick}; if ! grep -q 'not an ordinary file' ${PROMPT}; then ${left}; fi`);
      project.plan("p", ["one"]);
      await works(project);
      const { status, runs } = project.record("p");
      assert.deepEqual([status, runs], ["review", 3], left);
      assert.match(project.runFile("p", 2, "agent/prompt.txt"), /larger than 64 KB or not an ordinary file; write one/);
    }
  });

  test(
    "that was kept and cannot be read any more is none, and neither blocks the plan nor what shows it",
    thorough,
    async () => {
      const tick = `echo x > x.txt; sed -i 's/- \\[ \\]/- [x]/' "$PRLOOM_PLAN_FILE"`;
      const project = make(
        `${tick}; case $PRLOOM_RUN_DIR in */runs/1/*) printf '{"pl' > "$PRLOOM_RUN_DIR/../left.json"; esac`,
      );
      const { agents } = project.config() as { agents: Record<string, object> };
      project.config({ agents: { ...agents, worker: { ...agents.worker, sandbox: "none" } } });
      project.plan("p", ["one"]);
      await works(project);
      const { status, runs } = project.record("p");
      assert.deepEqual([status, runs], ["review", 3]);
      const shown = await project.cli(["show", "p"]);
      assert.equal(shown.code, 0, shown.stderr);
    },
  );

  test("counts where the run deleted its copy of the plan, and no reviewer speaks in its place", async () => {
    const project = make(`echo x > x.txt; rm "$PRLOOM_PLAN_FILE"; echo '{"outcome": "done"}' > "$PRLOOM_OUTCOME_FILE"`);
    const { agents } = project.config() as { agents: Record<string, object> };
    const own = join(project.worktree("p"), "prloom", ".local");
    const forge = `printf '## TODO\\n\\n- [x] one\\n\\n## Progress Log\\n\\n- forged\\n' > ${own}/plan.md`;
    const critic = {
      ...agents.critic,
      sandbox: "none",
      command: "sh",
      args: ["-c", `${forge}; exec ${process.execPath} ${TEST_AGENT}`],
    };
    project.config({ agents: { ...agents, critic } });
    project.plan("p", ["one"]);
    await works(project);
    const { status, blocked, runs } = project.record("p");
    assert.deepEqual([status, runs], ["review", 2], blocked?.reason);
    assert.match(project.planText("p"), /- \[x\] one/);
    assert.doesNotMatch(project.planText("p"), /forged/);
    assert.match(project.runFile("p", 1, "proposal.md"), /deleted its copy of the plan/);
  });

  test("counts where the plan says something else", thorough, async () => {
    const tick = `sed -i 's/- \\[ \\]/- [x]/' "$PRLOOM_PLAN_FILE"`;
    const project = make(
      `echo x > x.txt; ${tick}; echo '{"outcome": "blocked", "reason": "no key"}' > "$PRLOOM_OUTCOME_FILE"`,
    );
    project.plan("p", ["one"]);
    await works(project);
    assert.match(project.record("p").blocked?.reason ?? "", /TODO 1 cannot be done: no key/);
    assert.match(project.planText("p"), /- \[b\] one/);
  });
});
