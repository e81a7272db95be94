import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { conflicting } from "../../testing/conflicting.ts";
import { startDaemon } from "../../testing/daemon.ts";
import type { Project } from "../../testing/project.ts";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

const fresh = projectMaker();

const ANSWER = `echo '{"type":"step_start","sessionID":"ses_1","part":{}}'`;
const GOVERNED = `echo "prloom:in-force $PRLOOM_RUN_ID"; ${ANSWER}`;
const TICK = `sed -i '0,/- \\[ \\]/s//- [x]/' "$PRLOOM_PLAN_FILE"`;

/** Has a program work that speaks as OpenCode does: each run of it does the next of these. */
function asOpenCode(project: Project, ...runs: readonly string[]): void {
  const command = join(project.home, "opencode");
  const count = `n=$(($(cat "$HOME/count" 2>/dev/null || echo 0) + 1)); echo $n > "$HOME/count"`;
  const cases = runs.map((run, at) => `${at + 1}) ${run} ;;`);
  writeFileSync(command, ["#!/bin/sh", count, "case $n in", ...cases, "esac", ""].join("\n"), { mode: 0o755 });
  const real = { adapter: "opencode", command, sandbox: "none" };
  project.config({ agents: { real }, stages: { default: "real" }, limits: { attemptsPerTodo: 3 } });
}

test(
  "a dispatcher that is killed under a run without rules takes nothing of it, though the conversation goes on",
  thorough,
  async () => {
    const project = fresh();
    // It must not end the run before it dies.
    const waits = `echo evil > evil.txt; echo 1 > "$HOME/begun"; until [ -e "$HOME/stopped" ]; do sleep 0.1; done`;
    const answers = `${waits}; ${ANSWER}; until grep -q step_start "$PRLOOM_RUN_DIR/../output.log"; do sleep 0.1; done; echo 1 > "$HOME/answered"; sleep 100`;
    asOpenCode(project, GOVERNED, answers, `${GOVERNED}; echo x > form.txt; ${TICK}`);
    project.plan("governed", ["Build the form"]);
    const daemon = await startDaemon(project);
    await appears(join(project.home, "begun"));
    process.kill(daemon.pid, "SIGSTOP");
    writeFileSync(join(project.home, "stopped"), "");
    await appears(join(project.home, "answered"));
    await daemon.end("SIGKILL");
    const { stdout } = await project.work();
    assert.equal(project.record("governed").status, "review", stdout);
    assert.equal(project.git("show", "--format=", "--name-only", "prloom/governed").trim(), "form.txt");
    assert.match(stdout, /run 2 was interrupted; .*what it left is kept in .*partial\.patch/);
    assert.match(project.runFile("governed", 2, "partial.patch"), /^\+evil$/m);
  },
);

test(
  "what a run without rules made of a conflict is put aside, and the next finds the conflict as it was",
  thorough,
  async () => {
    const project = await conflicting(fresh());
    const done = `echo '{"outcome": "done"}' > "$PRLOOM_OUTCOME_FILE"`;
    // Before its first answer: it is ended by that.
    const evil = `echo evil > evil.txt; echo evil > work.txt; ${done}; ${ANSWER}; sleep 60`;
    const resolves = `${GOVERNED}; sed -i '/^[<=>|]\\{7\\}/d' work.txt; ${done}`;
    asOpenCode(project, evil, resolves);
    await project.cli(["rebase", "second"]);
    const { stdout } = await project.work();
    assert.equal(project.record("second").status, "review", stdout);
    assert.match(stdout, /run 3 changed files without prloom's rules; put aside in .*aside\.patch/);
    assert.deepEqual(project.commits("second"), ["c", "d"]);
    assert.doesNotMatch(project.git("show", "prloom/second:work.txt"), /evil/);
    assert.equal(project.git("ls-tree", "--name-only", "prloom/second", "evil.txt"), "");
  },
);
