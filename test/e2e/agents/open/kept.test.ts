import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { appears, shimOf } from "../../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../../testing/daemon.ts";
import { CLI } from "../../../testing/program.ts";
import { isAlive, type Project } from "../../../testing/project.ts";
import { projectMaker } from "../../../testing/projects.ts";

import { inTerminal, NO_TERMINAL } from "../../../testing/terminal.ts";
import { THOROUGH, thorough } from "../../../testing/thorough.ts";

const TICK = `sed -i '0,/\\[ \\]/s//[x]/' "$PRLOOM_PLAN_FILE"`;
const fresh = projectMaker();

function shell(script: string): Record<string, unknown> {
  return { adapter: "command", command: "sh", args: ["-c", script] };
}

function make(config: Record<string, unknown>): Project {
  const project = fresh({ config: { limits: { attemptsPerTodo: 1 }, ...config } });
  project.plan("p", ["one"]);
  return project;
}

function inTree(project: Project, name: string): string {
  return join(project.worktree("p"), name);
}

/** A person goes into the worktree, types a line, and leaves; returns what `prloom open` said. */
async function byHand(project: Project, line: string): Promise<string> {
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: project.home,
    XDG_RUNTIME_DIR: project.home,
    TERM: "xterm",
    PS1: "",
  };
  const command = `'${process.execPath}' '${CLI}' open p --shell`;
  const person = inTerminal(command, { cwd: project.root, env: { ...env, SHELL: "/bin/sh" } });
  person.type(`${line}; echo did-$((1+1))`);
  await person.shows(/did-2/);
  person.type("exit");
  return person.ended;
}

test("what a person changes under a reviewer is judged, reviewed and committed", {
  skip: NO_TERMINAL,
  ...thorough,
}, async () => {
  const approve = `echo '{"verdict":"approve","summary":"","comments":[]}' > "$PRLOOM_RESULT_FILE"`;
  const project = make({
    agents: {
      w: shell(`echo a > work.txt; ${TICK}`),
      r: shell(`touch scratch.txt; [ ! -e by-hand.txt ] || ${approve}`),
    },
    stages: { default: "w", reviewer: "r" },
    review: "todo",
    checks: ["! grep -q bad by-hand.txt 2> /dev/null"],
  });
  await project.work();
  assert.match(project.record("p").blocked?.reason ?? "", /^The reviewer gave no usable result/);
  const printed = await byHand(project, "echo mine > by-hand.txt");
  assert.match(printed, /stays and becomes a part of TODO 1: one/);
  assert.equal(project.record("p").current?.stage, "ended");
  await project.cli(["unblock", "p"]);
  const worked = await project.work();
  assert.equal(project.record("p").status, "review", worked.stdout);
  assert.equal(project.git("show", "prloom/p:by-hand.txt"), "mine\n");
  assert.equal(project.git("show", "prloom/p:work.txt"), "a\n");
  assert.match(project.runFile("p", project.record("p").runs, "prompt.md"), /\+mine/);
  assert.doesNotMatch(project.git("ls-tree", "--name-only", "prloom/p"), /scratch/);
  assert.equal(project.commits("p").length, 1);
});

test("a person after the commit that a kill kept from the record: one commit, with all of it", {
  skip: NO_TERMINAL,
  ...thorough,
}, async () => {
  const project = make({ agents: { w: shell(`echo a > work.txt; ${TICK}`) }, stages: { default: "w" } });
  await project.work({ PRLOOM_CRASH_AT: "commit:made" });
  assert.equal(project.record("p").current?.stage, "verified");
  assert.match(await byHand(project, "echo mine > by-hand.txt"), /becomes a part of TODO 1: one/);
  await project.work();
  assert.equal(project.record("p").status, "review");
  assert.equal(project.commits("p").length, 1);
  assert.equal(project.git("show", "prloom/p:by-hand.txt"), "mine\n");
  assert.equal(project.git("show", "prloom/p:work.txt"), "a\n");
});

test("what a person left survives runs that are killed; a reset stops what is at work and takes it back", {
  skip: NO_TERMINAL,
  ...thorough,
}, async () => {
  const script = "if [ -e by-hand.txt ]; then echo half >> half.txt; exec sleep 600; fi; exit 1";
  const project = make({ agents: { w: shell(script) }, stages: { default: "w" } });
  await project.work();
  assert.equal(project.record("p").blocked?.cause, "step");
  await byHand(project, "echo mine > by-hand.txt; rm README.md");
  await project.cli(["unblock", "p"]);
  for (const run of THOROUGH ? [3, 4] : [3]) {
    const daemon = await startDaemon(project);
    await daemon.said("p", /worker started/);
    assert.equal(existsSync(inTree(project, "by-hand.txt")), true);
    await appears(inTree(project, "half.txt"));
    assert.equal(readFileSync(inTree(project, "by-hand.txt"), "utf8"), "mine\n");
    assert.equal(existsSync(inTree(project, "README.md")), false);
    assert.equal(
      readFileSync(inTree(project, "half.txt"), "utf8"),
      "half\n",
      `run ${run} begins where the person left`,
    );
    await daemon.end("SIGKILL");
  }
  const daemon = await startDaemon(project);
  await daemon.said("p", /worker started/);
  await appears(inTree(project, "half.txt"));
  const { runs } = project.record("p");
  const shim = shimOf(join(project.authority, "plans", "p", "runs", String(runs)));
  assert.equal((await project.cli(["block", "p", "wait"])).code, 0);
  assert.equal(isAlive(shim), true, "who blocks a plan lets its agent end");
  const reset = await project.cli(["unblock", "p", "--reset"]);
  assert.equal(reset.code, 0, reset.stderr);
  assert.equal(isAlive(shim), false, "nothing works on a tree that is reset");
  // From scratch the agent fails at once, and that blocks the plan.
  await daemon.said("p", /worker started/, 2);
  await daemon.said("p", /failed after 1 attempt/);
  assert.equal(existsSync(inTree(project, "by-hand.txt")), false);
  assert.equal(existsSync(inTree(project, "README.md")), true);
  assert.equal(project.record("p").kept, undefined);
  await daemon.end();
});

/** A plan in review with a comment that triage, which writes where it must not, failed on; and a person's work in it. */
async function underTriage(): Promise<Project> {
  const project = make({
    agents: { w: shell(`echo a > work.txt; ${TICK}`), t: shell("touch scratch.txt; exit 1") },
    stages: { default: "w", triage: "t" },
  });
  await project.work();
  await project.cli(["comment", "p", "please look"]);
  await project.work();
  assert.match(project.record("p").blocked?.reason ?? "", /^The triage gave no usable result/);
  assert.match(
    await byHand(project, "echo mine > by-hand.txt"),
    /stays, and prloom does not commit it: the plan is in review/,
  );
  return project;
}

/** Triage answers this from now on. */
function answers(project: Project, answer: Record<string, unknown>): void {
  const result = JSON.stringify({ reply_markdown: "ok", rebase_requested: false, todos: [], ...answer });
  const agents = {
    w: shell(`echo b >> work.txt; sed -i 's/\\[ \\]/[x]/' "$PRLOOM_PLAN_FILE"`),
    t: shell(`touch scratch.txt; echo '${result}' > "$PRLOOM_RESULT_FILE"`),
  };
  project.config({ agents });
}

test("a rebase needs a clean tree: what a person left is put aside, and not lost", {
  skip: NO_TERMINAL,
  ...thorough,
}, async () => {
  const project = await underTriage();
  answers(project, { rebase_requested: true });
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-q", "--allow-empty", "-m", "moves on");
  await project.cli(["unblock", "p"]);
  const worked = await project.work();
  const patch = /what a person left in the worktree was put aside in (\S+before-rebase\.patch)/.exec(
    worked.stdout,
  )?.[1];
  assert.match(readFileSync(patch ?? "", "utf8"), /\+mine/);
  assert.equal(project.record("p").blocked, undefined);
  assert.equal(project.record("p").kept, undefined);
  assert.equal(project.git("merge-base", "main", "prloom/p"), project.git("rev-parse", "main"));
  assert.equal(existsSync(inTree(project, "by-hand.txt")), false);
  const merged = await project.cli(["merge", "p"]);
  assert.ok(
    merged.stdout.includes(`not merged: what was left in its worktree before a rebase, in ${patch}`),
    merged.stdout,
  );
});

test("triage reads, and leaves what a person left for the TODO that they were told", {
  skip: NO_TERMINAL,
  ...thorough,
}, async () => {
  const project = await underTriage();
  answers(project, { todos: [{ text: "two" }] });
  await project.cli(["unblock", "p"]);
  const worked = await project.work();
  assert.match(worked.stdout, /the triage changed files; put aside/);
  assert.equal(project.record("p").status, "review", worked.stdout);
  assert.equal(project.git("show", "prloom/p:by-hand.txt"), "mine\n", worked.stdout);
  assert.doesNotMatch(project.git("ls-tree", "--name-only", "prloom/p"), /scratch/);
});

test("a rebase at once tells where it put what a person left, each time", { skip: NO_TERMINAL }, async () => {
  const project = make({ agents: { w: shell(`echo a > work.txt; ${TICK}`) }, stages: { default: "w" } });
  await project.work();
  const patches: string[] = [];
  for (const name of ["first", "second"]) {
    await byHand(project, `echo ${name} > ${name}.txt`);
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-q", "--allow-empty", "-m", name);
    const { stdout, stderr } = await project.cli(["rebase", "p"]);
    const patch = /put aside: what its worktree had in no commit, in (\S+\.patch)/.exec(stdout)?.[1] ?? "";
    assert.match(readFileSync(patch, "utf8"), new RegExp(`\\+${name}`), stdout + stderr);
    patches.push(patch);
  }
  assert.doesNotMatch((await project.cli(["rebase", "p"])).stdout, /put aside/);
  const merged = await project.cli(["merge", "p"]);
  assert.ok(merged.stdout.includes(`before a rebase, in ${patches[1]}`), merged.stdout);
});

test("what a person left without prloom open is not the triage's", async () => {
  const project = make({
    agents: { w: shell(`echo a > work.txt; ${TICK}`), t: shell("") },
    stages: { default: "w", triage: "t" },
  });
  await project.work();
  answers(project, {});
  writeFileSync(inTree(project, "by-hand.txt"), "mine\n");
  await project.cli(["comment", "p", "please look"]);
  const { stdout } = await project.work();
  assert.match(stdout, /triaged 1 comment/);
  assert.equal(readFileSync(inTree(project, "by-hand.txt"), "utf8"), "mine\n");
  assert.equal(existsSync(inTree(project, "scratch.txt")), false);
  assert.match((await project.cli(["merge", "p"])).stdout, /not merged: \S+ has changes that are in no commit/);
});
