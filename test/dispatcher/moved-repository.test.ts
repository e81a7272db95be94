import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { probeSandbox } from "../../src/agents/sandbox/probe.ts";
import { git, prloom } from "../cli/fixture.ts";
import { startDaemon } from "../testing/daemon.ts";
import { CLI, NODE_FLAGS } from "../testing/program.ts";
import { makeProject, type Project } from "../testing/project.ts";
import { oneOf, SEED_NOTE } from "../testing/sample.ts";
import { thorough } from "../testing/thorough.ts";

test("a copy of a repository changes nothing of the one it was copied from, and ends nothing there", async () => {
  const project = makeProject({ env: { GATE: join(tmpdir(), "prloom-gate-that-never-opens") } });
  for (const id of ["one", "two"]) project.plan(id, ["one"]);
  await project.work();
  assert.equal((await project.cli(["merge", "two"])).code, 0);
  for (const id of ["one", "two"]) writeFileSync(join(project.worktree(id), "mine.txt"), "mine\n");
  project.plan("busy", ["[waits] one"]);
  const daemon = await startDaemon(project);
  await daemon.said("busy", /worker started/);
  const cwd = join(dirname(project.root), "a copy");
  cpSync(project.root, cwd, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !/\.(?:sock|tmp)$/.test(path),
  });

  const cases = [
    ["delete", "one", "--yes"],
    ["clean"],
    ["start", "--until-idle"],
    ["pause", "busy", "--now"],
    ["new", "More"],
  ];
  for (const args of cases) {
    const { code, stderr } = await prloom(args, { cwd });
    assert.deepEqual(
      [code, stderr.includes(`is a copy of ${project.root}:`)],
      [1, true],
      `${args.join(" ")}: ${stderr}`,
    );
    assert.match(stderr, /\[repository-copied\]\n {2}hint: Work on them in .*`rm -r '.*copy\/\.git\/prloom' '.*'`/);
  }
  assert.match((await prloom(["stop"], { cwd })).stdout, /No dispatcher is running/);
  assert.match(
    (await prloom(["status"], { cwd })).stdout,
    /dispatcher: not running[\s\S]*problem: .*copy: This reposi.*\n {2}hint: /,
  );
  const doctor = (await prloom(["doctor"], { cwd })).stdout;
  assert.match(doctor, /✗ records: This repository is a copy of .*\n {2}hint: Work on them in /);
  // Git would not know these worktrees here.
  assert.doesNotMatch(doctor, /git worktree remove/);
  for (const id of ["one", "two"]) assert.ok(existsSync(join(project.worktree(id), "mine.txt")));
  assert.equal((await project.status()).plans.find(({ planId }) => planId === "busy")?.activity?.run, 1);
  assert.equal((await daemon.end()).code, 0);
  project.remove();
});

for (const [where, worktreesDir, isPruned] of oneOf([
  ["in it", "prloom/.local/worktrees", false],
  ["in it and that git has forgotten", "prloom/.local/worktrees", true],
  ["beside it", "../trees", false],
] as const))
  test(`a repository that was moved finds its worktrees again that lie ${where} (${SEED_NOTE})`, async () => {
    const project = makeProject({ config: { worktreesDir } });
    for (const id of ["one", "two"]) project.plan(id, ["one"]);
    await project.work();
    const cwd = join(dirname(project.root), "moved");
    for (const id of ["one", "two"]) writeFileSync(join(project.root, worktreesDir, id, "mine.txt"), "mine\n");
    renameSync(project.root, cwd);
    if (isPruned) git(cwd, "worktree", "prune");
    const started = await prloom(["start", "--until-idle"], { cwd });
    assert.equal(started.code, 0, started.stderr);
    assert.doesNotMatch(started.stdout, /blocked/);
    assert.equal((await prloom(["merge", "two"], { cwd })).code, 0);
    const deleted = await prloom(["delete", "one", "--yes"], { cwd });
    assert.equal(deleted.code, 0, deleted.stderr);
    assert.match(readFileSync(join(cwd, ".git/prloom/plans/one/left.patch"), "utf8"), /^\+mine$/m);
    assert.match((await prloom(["clean"], { cwd })).stdout, /^removed the worktree of two\nkept: /);
    for (const id of ["one", "two"]) assert.equal(existsSync(join(cwd, worktreesDir, id)), false);
    assert.equal(existsSync(project.root), false);
    project.remove();
  });

test(
  "a repository that was moved from where nothing can be seen any more finds its worktrees again",
  thorough,
  async () => {
    const project = makeProject();
    project.plan("one", ["one"]);
    await project.work();
    const cwd = join(dirname(project.root), "moved");
    writeFileSync(join(project.worktree("one"), "mine.txt"), "mine\n");
    renameSync(project.root, cwd);
    // Like a home of another user, or of the root of a container, which a test that runs as root could look into.
    symlinkSync(project.root, project.root);
    const started = await prloom(["start", "--until-idle"], { cwd });
    assert.deepEqual([started.code, started.stderr], [0, ""]);
    assert.doesNotMatch(started.stdout, /blocked|not found again/);
    const worktree = join(cwd, "prloom/.local/worktrees/one");
    assert.match(git(worktree, "status", "--short"), /^\?\? mine\.txt$/m);
    assert.equal((await prloom(["merge", "one", "--force"], { cwd })).code, 0);
    project.remove();
  },
);

test(
  "a dispatcher under which its repository is moved leaves nothing at the old place, and the next one goes on",
  thorough,
  async () => {
    const gate = mkdtempSync(join(tmpdir(), "prloom-gate-"));
    const project = makeProject({ env: { GATE: gate } });
    project.plan("busy", ["[waits] one"]);
    const daemon = await startDaemon(project);
    await daemon.said("busy", /worker started/);
    const cwd = join(dirname(project.root), "moved");
    renameSync(project.root, cwd);
    await daemon.end();
    writeFileSync(join(gate, "busy"), "");
    assert.equal(existsSync(project.root), false);
    const started = await prloom(["start", "--until-idle"], { cwd });
    assert.match(started.stdout, /busy {2}in review/);
    assert.equal(existsSync(project.root), false);
    project.remove();
    rmSync(gate, { recursive: true });
  },
);

const { works } = await probeSandbox();

test("a repository that is seen at two places is one", works ? thorough : { skip: "no bwrap" }, async () => {
  const project = makeProject();
  project.plan("one", ["one"]);
  await project.work();
  const second = join(dirname(project.root), "second");
  mkdirSync(second);
  const mount = ["--dev-bind", "/", "/", "--bind", project.root, second, "--chdir", second];
  const env = { ...process.env, HOME: project.home };
  const there = (...args: string[]): string =>
    execFileSync("bwrap", [...mount, process.execPath, ...NODE_FLAGS, CLI, ...args], { encoding: "utf8", env });
  there("comment", "one", "please make two");
  assert.match(there("start", "--until-idle"), /one {2}in review/);
  assert.equal((await project.cli(["comment", "one", "please make three"])).code, 0);
  assert.match((await project.work()).stdout, /one {2}in review/);
  assert.equal(project.commits("one").length, 3);
  assert.match(there("merge", "one"), /^merged one/);
  assert.match(there("clean"), /^removed the worktree of one/);
  project.remove();
});

test("what to remove of a copy is told as words for a shell", thorough, async () => {
  const project = makeProject();
  project.plan("one", ["one"]);
  await project.work();
  const cwd = join(dirname(project.root), "my copy");
  cpSync(project.root, cwd, { recursive: true, verbatimSymlinks: true });
  const command = /`(rm -r .*)`/.exec((await prloom(["start", "--until-idle"], { cwd })).stderr)?.[1];
  assert.equal(command, `rm -r '${cwd}/.git/prloom' '${cwd}/prloom/.local'`);
  project.remove();
});

test("two repositories with one folder of worktrees leave each other's alone", thorough, async () => {
  const base = mkdtempSync(join(tmpdir(), "prloom-shared-"));
  const config = { worktreesDir: "../../trees" };
  const [mine, other] = ["mine", "other"].map((name) => makeProject({ dir: join(base, name), config })) as [
    Project,
    Project,
  ];
  const place = join(base, "trees", "one");
  for (const project of [mine, other]) {
    // A person removed it: git, and the first one's record, still name the place.
    rmSync(place, { recursive: true, force: true });
    project.plan("one", ["one"]);
    await project.work();
  }
  writeFileSync(join(place, "precious.txt"), "precious\n");
  const before = readFileSync(join(place, ".git"), "utf8");
  git(mine.root, "commit", "-q", "--allow-empty", "-m", "more");
  assert.match((await mine.cli(["rebase", "one"])).stderr, /one is a worktree of another repository\. \[plan-state\]/);
  assert.match((await mine.work()).stdout, /one {2}blocked: At the place of its worktree is one of another repository/);
  assert.match((await mine.cli(["unblock", "one"])).stderr, /is not the worktree that prloom made/);
  assert.match((await mine.cli(["delete", "one", "--yes"])).stdout, /is not the worktree that prloom made; it is left/);
  assert.equal(readFileSync(join(place, ".git"), "utf8"), before);
  assert.ok(existsSync(join(place, "precious.txt")));
  assert.equal((await other.cli(["merge", "one"])).code, 0);
  for (const project of [mine, other]) project.remove();
  rmSync(base, { recursive: true });
});
