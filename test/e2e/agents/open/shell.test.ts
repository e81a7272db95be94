import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { probePidNamespace } from "../../../../src/agents/runner/runner.ts";
import { CLI } from "../../../testing/program.ts";
import { makeProject } from "../../../testing/project.ts";
import { inTerminal, NO_TERMINAL } from "../../../testing/terminal.ts";
import { thorough } from "../../../testing/thorough.ts";

const hasScript = existsSync("/usr/bin/script");

test("a shell has job control, and what is left in it is named by merge and clean", {
  skip: NO_TERMINAL,
}, async (t) => {
  const project = makeProject();
  t.after(() => project.remove());
  const env = {
    ...{ PATH: process.env.PATH ?? "", HOME: project.home, XDG_RUNTIME_DIR: project.home },
    ...{ TERM: "xterm", PS1: "", SHELL: "/bin/sh" },
  };
  const leaveSomething = async (plan: string): Promise<void> => {
    project.plan(plan, ["one"]);
    assert.equal((await project.work()).code, 0);
    const command = `'${process.execPath}' '${CLI}' open ${plan} --shell`;
    const person = inTerminal(command, { cwd: project.root, env });
    person.type("case $- in *m*) echo jobs-$((1+1));; *) echo none-$((1+1));; esac; echo by hand > by-hand.txt");
    await person.shows(hasScript ? /jobs-2/ : /none-2/);
    const { stdout: status } = await project.cli(["status"]);
    assert.match(status, /^[pq] +review, open .* a person has it open \(`prloom open`, process \d+\)$/m);
    person.type("exit");
    const said = await person.ended;
    assert.doesNotMatch(said, /sandbox alone/);
    assert.match(said, /closed; the plan goes on/);
    assert.match(said, /Or commit it yourself: `git -C \S+\/worktrees\/[pq] add -A && git -C \S+ commit`/);
  };
  await leaveSomething("p");
  const merged = await project.cli(["merge", "p"]);
  assert.equal(merged.code, 0, merged.stderr);
  assert.match(merged.stdout, /^not merged: .*\/worktrees\/p has changes that are in no commit$/m);
  const cleaned = await project.cli(["clean", "p"]);
  const [, patch = ""] = /^kept: what p had in no commit, in (\S+) \(for `git apply`\)$/m.exec(cleaned.stdout) ?? [];
  assert.match(readFileSync(patch, "utf8"), /^\+by hand$/m);
  await leaveSomething("q");
  const removed = await project.cli(["merge", "q", "--delete-branch"]);
  assert.equal(removed.code, 0, removed.stderr);
  const left = /^not merged: its worktree had changes that are in no commit, now in (\S+)$/m;
  assert.match(readFileSync(left.exec(removed.stdout)?.[1] ?? "", "utf8"), /^\+by hand$/m);
  assert.ok(!existsSync(join(project.worktree("q"))));
});

test("a shell in the sandbox has job control too, and says that commits stay in there", {
  ...thorough,
  ...(NO_TERMINAL ? { skip: NO_TERMINAL } : {}),
}, async (t) => {
  if (!(await probePidNamespace())) return t.skip("bubblewrap does not work here");
  const w = { adapter: "command", command: "false", args: [], sandbox: "auto" };
  const config = { agents: { w }, stages: { default: "w" }, limits: { attemptsPerTodo: 1 } };
  const project = makeProject({ config });
  t.after(() => project.remove());
  project.plan("p", ["one"]);
  await project.work();
  const head = project.git("rev-parse", "prloom/p");
  const env = { PATH: process.env.PATH ?? "", HOME: project.home, XDG_RUNTIME_DIR: project.home, TERM: "xterm" };
  const command = `'${process.execPath}' '${CLI}' open p --shell`;
  const person = inTerminal(command, { cwd: project.root, env: { ...env, SHELL: "/bin/sh" } });
  const commit = "git -c user.name=P -c user.email=p@localhost commit -qm mine";
  person.type(`echo mine > mine.txt; git add -A; ${commit}; echo ended-$?; case $- in *m*) echo jobs-$((1+1));; esac`);
  if (hasScript) await person.shows(/jobs-2/);
  await person.shows(/ended-0/);
  person.type("exit");
  assert.match(await person.ended, /Commits that you make do not: they are in the sandbox alone\./);
  assert.equal(project.git("rev-parse", "prloom/p"), head);
  assert.equal(readFileSync(join(project.worktree("p"), "mine.txt"), "utf8"), "mine\n");
});

test("a plan whose change is in the base already says so when it ends", thorough, async (t) => {
  const project = makeProject();
  t.after(() => project.remove());
  project.plan("p", ["one"]);
  await project.work();
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "merge", "-q", "--no-edit", "prloom/p");
  assert.match((await project.work()).stdout, / p {2}merged: what it changed is in main already$/m);
});
