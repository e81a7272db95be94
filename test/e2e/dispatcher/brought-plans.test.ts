import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { startDaemon } from "../../testing/daemon.ts";
import { thorough } from "../../testing/thorough.ts";
import { branch, fresh, settled } from "../fixtures/checkouts.ts";

test("a plan that comes with a branch is not worked on", async () => {
  const project = fresh();
  branch(project, "gift", () => {
    project.plan("gift", ["do as I say"]);
    project.git("add", "-f", "prloom/.local/inbox");
  });
  const daemon = await startDaemon(project);
  project.git("checkout", "-q", "gift");
  assert.match(await settled(daemon, "gift"), /blocked: .*part of the branch that is checked out/);
  assert.equal(project.record("gift").runs, 0);
  project.plan("own", ["one"]);
  assert.match(await settled(daemon, "own"), /in review/);
  await daemon.end();
});

for (const path of ["prloom/.local/inbox", "prloom/.local"])
  test(`a plan that comes with a branch is not worked on where ${path} is a link to it`, thorough, async () => {
    const project = fresh();
    const link = join(project.root, path);
    branch(project, "gift", () => {
      project.plan("gift", ["do as I say"]);
      const gifts = join(project.root, "gifts");
      renameSync(link, gifts);
      symlinkSync(relative(dirname(link), gifts), link);
      project.git("add", "-f", "gifts", path);
    });
    project.git("checkout", "-q", "gift");
    assert(lstatSync(link).isSymbolicLink());
    assert.match((await project.work()).stdout, /gift {2}blocked: .*part of the branch that is checked out/);
    assert.equal(project.record("gift").runs, 0);
  });

test("what a link leads to that a branch has as prloom/.local stays as it is", thorough, async () => {
  const project = fresh();
  const [link, documents] = [join(project.root, "prloom/.local"), join(project.home, "documents")];
  for (const name of ["bus", "plans"]) mkdirSync(join(documents, name), { recursive: true });
  branch(project, "gift", () => {
    rmSync(link, { recursive: true, force: true });
    symlinkSync(documents, link);
    project.git("add", "-f", "prloom/.local");
  });
  project.git("checkout", "-q", "gift");
  const refused = await project.cli(["new", "Mine", "--todo", "one"]);
  assert.deepEqual([refused.code, /leads elsewhere\. \[plan-state\]/.test(refused.stderr)], [1, true], refused.stderr);
  assert.equal((await project.work()).code, 0);
  assert.deepEqual(
    readdirSync(documents, { withFileTypes: true }).map((entry) => [entry.name, entry.isDirectory()]),
    [
      ["bus", true],
      ["plans", true],
    ],
  );
  project.git("checkout", "-q", "main");
  project.plan("own", ["one"]);
  assert.equal((await project.work()).code, 0);
  assert.equal(project.record("own").status, "review");
});

test("what lies where worktrees are, behind a link that a branch has, is left alone", thorough, async () => {
  const project = fresh();
  const [link, projects] = [join(project.root, "prloom/.local/worktrees"), join(project.home, "projects")];
  for (const name of ["begun", "deleted", "later"]) mkdirSync(join(projects, name, "mine"), { recursive: true });
  branch(project, "gift", () => {
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(projects, link);
    project.git("add", "-f", "prloom/.local/worktrees");
  });
  for (const id of ["begun", "deleted"]) project.plan(id, ["one"]);
  assert.equal((await project.work()).code, 0);
  project.git("checkout", "-q", "gift");
  assert(lstatSync(link).isSymbolicLink());
  project.plan("later", ["one"]);
  await project.cli(["comment", "begun", "Do more."]);
  assert.match((await project.cli(["delete", "deleted", "--yes"])).stdout, /part of the branch that is checked out/);
  const { stdout } = await project.work();
  assert.match(stdout, /begun {2}blocked: Its worktree is broken/);
  assert.match(stdout, /later {2}blocked: .* is part of the branch that is checked out/);
  await project.cli(["unblock", "begun"]);
  await project.work();
  for (const name of ["begun", "deleted", "later"]) assert.deepEqual(readdirSync(join(projects, name)), ["mine"], name);
  project.git("checkout", "-q", "main");
  for (const id of ["begun", "later"]) await project.cli(["unblock", id]);
  await project.work();
  assert.deepEqual([project.record("begun").status, project.record("later").status], ["review", "review"]);
});

test("no command changes what lies where the inbox is, behind a link that a branch has", thorough, async () => {
  const project = fresh();
  const notes = join(project.home, "notes");
  mkdirSync(notes);
  writeFileSync(join(notes, "mine.md"), "- [ ] buy milk\n");
  branch(project, "gift", () => {
    rmSync(project.inbox, { recursive: true, force: true });
    mkdirSync(dirname(project.inbox), { recursive: true });
    symlinkSync(notes, project.inbox);
    project.git("add", "-f", "prloom/.local/inbox");
  });
  project.git("checkout", "-q", "gift");
  writeFileSync(join(project.home, "other.md"), "other\n");
  for (const command of [
    ["queue"],
    ["hide"],
    ["edit", "--file", join(project.home, "other.md")],
    ["delete", "--yes"],
  ]) {
    const [name = "", ...rest] = command;
    const { code, stderr } = await project.cli([name, "mine", ...rest]);
    assert.deepEqual([code, /leads elsewhere\. \[plan-state\]/.test(stderr)], [1, true], `${name}: ${stderr}`);
  }
  assert.deepEqual(readdirSync(notes), ["mine.md"]);
  assert.equal(readFileSync(join(notes, "mine.md"), "utf8"), "- [ ] buy milk\n");
});

test("a link to worktrees elsewhere that a person made is followed", thorough, async () => {
  const project = fresh();
  const link = join(project.root, "prloom/.local/worktrees");
  for (const folder of [dirname(link), join(project.home, "disk")]) mkdirSync(folder, { recursive: true });
  symlinkSync(join(project.home, "disk"), link);
  project.plan("own", ["one"]);
  assert.equal((await project.work()).code, 0);
  assert.equal(project.record("own").status, "review");
  assert.deepEqual(readdirSync(join(project.home, "disk")), ["own"]);
  assert.equal((await project.cli(["delete", "own", "--yes"])).code, 0);
  assert.deepEqual(readdirSync(join(project.home, "disk")), []);
});

test("a folder of a person that lies where a worktree is to be made stays as it is", thorough, async () => {
  const project = fresh({ config: { worktreesDir: "../trees" } });
  const notes = join(project.root, "../trees/notes");
  mkdirSync(notes, { recursive: true });
  writeFileSync(join(notes, "diary.txt"), "mine\n");
  project.plan("notes", ["one"]);
  for (const again of [false, true]) {
    if (again) await project.cli(["unblock", "notes"]);
    assert.match((await project.work()).stdout, /notes {2}blocked: .*trees\/notes is there already/);
    assert.equal(readFileSync(join(notes, "diary.txt"), "utf8"), "mine\n");
  }
  renameSync(notes, join(project.home, "notes"));
  await project.cli(["unblock", "notes"]);
  await project.work();
  assert.equal(project.record("notes").status, "review");
});

for (const [name, ...ends] of [
  ["a deleted plan", ["delete", "notes", "--yes"]],
  ["a plan that was cleaned and then deleted", ["merge", "notes"], ["clean"], ["delete", "notes", "--yes"]],
] as const)
  test(`what a person makes where the worktree of ${name} was stays as it is`, thorough, async () => {
    const project = fresh({ config: { worktreesDir: "../trees" } });
    const notes = join(project.root, "../trees/notes");
    project.plan("notes", ["one"]);
    await project.work();
    const make = (): void => {
      if (existsSync(notes)) return;
      mkdirSync(notes);
      writeFileSync(join(notes, "diary.txt"), "mine\n");
    };
    for (const args of ends) {
      assert.equal((await project.cli(args)).code, 0);
      if (args[0] !== "merge") make();
    }
    await project.work();
    await project.cli(["clean"]);
    assert.deepEqual(readdirSync(notes), ["diary.txt"]);
  });
