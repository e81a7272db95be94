import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Project } from "../../../testing/project.ts";
import { thorough } from "../../../testing/thorough.ts";
import { publishingProject } from "../publishing-project.ts";

/** A person commits a file in the worktree of a plan. */
function commits(project: Project, id: string, file: string, text: string): void {
  const tree = project.worktree(id);
  writeFileSync(join(tree, file), text);
  project.git("-C", tree, "add", file);
  project.git("-C", tree, "-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", `Add ${file}`);
}

describe("what people do on GitHub to the work of a plan", { concurrency: 2 }, () => {
  it("a branch of that name was merged long ago: the plan has a pull request of its own", thorough, async (t) => {
    const { project, work, ada, pulls, there } = await publishingProject(t);
    ada.pushes("prloom/dark", { "old.txt": "old\n" });
    ada.merges(ada.opensPull({ title: "Old", body: "", head: "prloom/dark", base: "main" }).number);
    ada.deletesBranch("prloom/dark");
    project.plan("dark", ["make one"]);
    await work();
    const { status, changeRequest } = project.record("dark");
    assert.deepEqual([status, changeRequest?.state, pulls().length], ["review", "open", 2]);
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
  });

  it("they set the branch back: what they took away comes again only if they say so", thorough, async (t) => {
    const { project, work, ada, there, cli } = await publishingProject(t);
    project.plan("dark", ["make one", "make two"]);
    await work();
    const pushed = there("prloom/dark");
    ada.setsBack("prloom/dark");
    await work();
    assert.match(project.record("dark").blocked?.reason ?? "", /prloom\/dark was set back on the server to/);
    assert.notEqual(there("prloom/dark"), pushed);
    await cli("unblock", "dark");
    await work();
    assert.deepEqual([there("prloom/dark"), project.record("dark").blocked], [pushed, undefined]);
  });

  it("they make it a draft again, and give it another title: both stay", thorough, async (t) => {
    const { project, work, ada, pulls, cli } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    const { number = 0 } = pulls()[0] ?? {};
    ada.edits(number, { title: "feat: dark mode" });
    ada.convertsToDraft(number);
    const text = project.planText("dark").replace("## TODO", "More words.\n\n## TODO");
    writeFileSync(join(project.root, "edited.md"), text);
    assert.equal((await cli("edit", "dark", "--file", "edited.md")).code, 0);
    await work();
    const [pull] = pulls();
    assert.match(pull?.body ?? "", /More words/);
    assert.deepEqual([pull?.title, pull?.pull?.draft], ["feat: dark mode", true]);
    assert.match((await cli("merge", "dark")).stderr, /GitHub does not merge dark: .*draft/);
  });

  it("they push a change of workflows: no one is asked for what is there already", thorough, async (t) => {
    const { project, work, ada, there } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    ada.pushes("prloom/dark", { ".github/workflows/ci.yml": "on: push\n" });
    await work();
    commits(project, "dark", "mine.txt", "mine\n");
    await work();
    assert.equal(project.record("dark").blocked, undefined);
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
  });

  it("they merge it: its branch here can be cleaned, unless something of it was not merged", async (t) => {
    const { project, work, ada, pulls, cli } = await publishingProject(t);
    for (const id of ["dark", "light"]) project.plan(id, ["make one"]);
    await work();
    commits(project, "light", "late.txt", "late\n");
    for (const { number } of pulls()) ada.merges(number);
    const { stdout } = await work();
    assert.match(stdout, /light +merged at [0-9a-f]{8}: prloom\/light is at [0-9a-f]{8} here, which was not merged/);
    assert.match((await cli("show", "light")).stdout, /^merged: .* into main, on the server; the branch here is at/m);
    assert.doesNotMatch((await cli("show", "dark")).stdout, /not merged/);
    assert.match((await cli("clean")).stdout, /The branches of 1 merged plan stay/);
    assert.match((await cli("clean", "--branches")).stdout, /deleted the branch of dark\n$/);
    assert.match(project.git("log", "--format=%s", "prloom/light"), /^Add late\.txt/);
  });
});

describe("what is pushed", { concurrency: 2 }, () => {
  it("is no pointer of Git LFS before a person has pushed its content", thorough, async (t) => {
    const { project, work, there, cli } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    const version = "version https://git-lfs.github.com/spec/v1\n";
    commits(project, "dark", "notes.md", `A pointer begins with ${version}`);
    await work();
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
    commits(project, "dark", "film.bin", `${version}oid sha256:${"0".repeat(64)}\nsize 12345\n`);
    await work();
    assert.match(project.record("dark").blocked?.reason ?? "", /in Git LFS, which prloom does not push: film\.bin\.$/);
    await cli("unblock", "dark");
    await work();
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
  });

  it("is on record by GitHub's clock: a merge that is asked for is for what was there before", thorough, async (t) => {
    const { project, work, github } = await publishingProject(t);
    github.world.aheadMs = 3_600_000;
    project.plan("dark", ["make one"]);
    await work();
    const [head] = project.record("dark").published?.heads ?? [];
    assert(Date.parse(head?.at ?? "") > Date.now() + 3_000_000, head?.at);
  });

  it("closes no issue, calls no one and skips no check by what its commits say", async (t) => {
    const { project, work, pulls } = await publishingProject(t);
    project.planFile("dark", "## Title\n\n!!!\n\n## TODO\n\n- [ ] Fixes #1 [skip ci] for @eve\n");
    await work();
    const [subject] = project.git("log", "-1", "--format=%B", "prloom/dark").split("\n");
    assert.equal(subject, "Fixes issue 1 (skip ci) for @\u200beve");
    assert.equal(pulls()[0]?.title, "prloom/dark", "GitHub takes no empty title");
  });
});
