import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { thorough } from "../../testing/thorough.ts";
import { type PublishingProject, publishingProject } from "./publishing-project.ts";

const RULES = { requiredChecks: [], approvals: 0, mergeQueue: false, refusePush: undefined, upToDate: true };

/** A plan in review whose pull request must have what main got since. */
async function behind(made: PublishingProject): Promise<{ readonly before: string; readonly main: string }> {
  const { project, work, repository, ada } = made;
  repository.rules.set("main", RULES);
  project.plan("dark", ["make one"]);
  await work();
  const before = project.git("rev-parse", "prloom/dark").trim();
  return { before, main: ada.pushes("main", { "more.txt": "more\n" }) };
}

describe("a pull request that needs what its base got", { concurrency: 2 }, () => {
  it("is rebased, and its approval holds: no patch changed", async (t) => {
    const made = await publishingProject(t, { gates: { pr: true, advisory: true } });
    const { project, work, there, pulls, cli } = made;
    const { before, main } = await behind(made);
    assert.equal((await cli("approve", "dark")).code, 0);
    await work();
    await work();
    const head = project.git("rev-parse", "prloom/dark").trim();
    assert.notEqual(head, before);
    assert.equal(project.git("rev-parse", "prloom/dark^").trim(), main);
    assert.equal(there("prloom/dark"), head);
    const { status, blocked, behind: still, baseSha } = project.record("dark");
    assert.deepEqual(
      { status, blocked, still, baseSha },
      { status: "review", blocked: undefined, still: undefined, baseSha: main },
    );
    assert.equal(pulls().length, 1);
    const merged = await cli("merge", "dark");
    assert.equal(merged.code, 0, merged.stderr);
  });

  it("gets base by a merge once a person has reviewed it: what they saw is still there", thorough, async (t) => {
    const made = await publishingProject(t);
    const { project, work, there, pulls, ada } = made;
    const { before, main } = await behind(made);
    ada.reviews(pulls()[0]?.number ?? 0, { state: "APPROVED", body: "" });
    await work();
    const parents = project.git("log", "-1", "--format=%P", "prloom/dark").trim();
    assert.equal(parents, `${before} ${main}`);
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
    assert.equal(project.git("-C", project.worktree("dark"), "status", "--porcelain"), "");
    assert.equal(project.record("dark").baseSha, main);
  });

  it("that conflicts: an agent resolves it, and its commit stays the one of its TODO", thorough, async (t) => {
    const { project, work, there, pulls, ada } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    const main = ada.pushes("main", { "work.txt": "of a person\n" });
    ada.reviews(pulls()[0]?.number ?? 0, { state: "COMMENTED", body: "" });
    await work();
    const { status, blocked } = project.record("dark");
    assert.deepEqual({ status, blocked }, { status: "review", blocked: undefined });
    assert.equal(project.git("rev-parse", "prloom/dark^").trim(), main);
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
    assert.equal(pulls()[0]?.pull?.merged, undefined);
  });

  it("is never rebased with `merge`: a conflict blocks, and nothing is overwritten", async (t) => {
    const { project, work, cli, ada } = await publishingProject(t);
    const { github: settings } = project.config() as { github: object };
    project.config({ github: { ...settings, update: "merge" } });
    project.plan("dark", ["make one"]);
    await work();
    const before = project.git("rev-parse", "prloom/dark");
    ada.pushes("main", { "work.txt": "of a person\n" });
    await work();
    assert.equal(project.git("rev-parse", "prloom/dark"), before);
    assert.match(project.record("dark").blocked?.reason ?? "", /prloom\/dark conflicts with main in: work\.txt/);
    assert.equal((await cli("rebase", "dark")).code, 0);
    assert.equal((await cli("unblock", "dark")).code, 0);
    await work();
    assert.equal(project.record("dark").blocked, undefined);
  });

  it("stays as it is with `off`, and so does one that no rule asks for", thorough, async (t) => {
    const made = await publishingProject(t);
    const { project, work, repository } = made;
    const { before } = await behind(made);
    repository.rules.delete("main");
    await work();
    assert.equal(project.git("rev-parse", "prloom/dark").trim(), before);
    repository.rules.set("main", RULES);
    const { github: settings } = project.config() as { github: object };
    project.config({ github: { ...settings, update: "off" } });
    await work();
    assert.equal(project.git("rev-parse", "prloom/dark").trim(), before);
    assert.match((await project.cli(["show", "dark"])).stdout, /behind main/);
  });

  for (const point of ["server:merge-noted", "server:base-merged", "server:caught-up"])
    it(`${point}: killed there, it gets base once`, thorough, async (t) => {
      const made = await publishingProject(t);
      const { project, work, there, pulls, ada } = made;
      const { before, main } = await behind(made);
      ada.reviews(pulls()[0]?.number ?? 0, { state: "APPROVED", body: "" });
      assert.equal((await work({ PRLOOM_CRASH_AT: point })).signal, "SIGKILL");
      await work();
      await work();
      assert.equal(project.git("log", "-1", "--format=%P", "prloom/dark").trim(), `${before} ${main}`);
      assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
      const { behind: still, baseSha, blocked } = project.record("dark");
      assert.deepEqual({ still, baseSha, blocked }, { still: undefined, baseSha: main, blocked: undefined });
    });
});
