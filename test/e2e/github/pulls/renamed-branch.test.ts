import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { thorough } from "../../../testing/thorough.ts";
import { publishingProject } from "../publishing-project.ts";

describe("a branch that is renamed on GitHub", { concurrency: 2 }, () => {
  it("as the base: what is there is merged, what is new waits for the config's base", thorough, async (t) => {
    const { project, work, ada, pulls, cli } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    ada.renamesBranch("main", "trunk");
    project.plan("light", ["make one"]);
    await work();
    const { reason = "", hint = "" } = project.record("light").blocked ?? {};
    assert.match(reason, /^The base branch main does not exist on GitHub\.$/);
    assert.match(hint, /^Set `baseBranch` .*`prloom reload`.*`prloom unblock light`/);
    assert.equal(project.record("dark").blocked, undefined);
    const refused = await cli("merge", "dark");
    assert.match(refused.stderr, /its pull request is for trunk, not for main/);
    ada.merges(pulls()[0]?.number ?? 0);
    project.config({ baseBranch: "trunk" });
    assert.equal((await cli("unblock", "light")).code, 0);
    await work();
    assert.equal(project.record("dark").outcome, "merged");
    assert.deepEqual([project.record("light").status, project.record("light").baseBranch], ["review", "trunk"]);
    assert.deepEqual(
      pulls().map(({ pull }) => pull?.base.branch),
      ["trunk", "trunk"],
    );
  });

  it("as the base: a plan that goes on is not given the old one, which is gone", thorough, async (t) => {
    const { project, work, ada, pulls, there, cli } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    ada.renamesBranch("main", "trunk");
    writeFileSync(join(project.root, "edited.md"), `${project.planText("dark").trimEnd()}\n- [ ] make two\n`);
    assert.equal((await cli("edit", "dark", "--file", "edited.md")).code, 0);
    await work();
    assert.equal(project.record("dark").blocked, undefined);
    assert.deepEqual([pulls()[0]?.pull?.base.branch, there("prloom/dark")], ["trunk", pulls()[0]?.pull?.head.sha]);
    assert.match(pulls()[0]?.body ?? "", /make two/);
  });

  it(
    "as a plan's own: GitHub closes its pull request, and the plan is done, with its commits here",
    thorough,
    async (t) => {
      const { project, work, ada, there } = await publishingProject(t);
      project.plan("dark", ["make one"]);
      await work();
      const head = project.git("rev-parse", "prloom/dark").trim();
      ada.renamesBranch("prloom/dark", "mine");
      await work();
      assert.deepEqual([project.record("dark").status, project.record("dark").outcome], ["done", "closed"]);
      assert.deepEqual([there("mine"), project.git("rev-parse", "prloom/dark").trim()], [head, head]);
      assert.equal(there("prloom/dark"), undefined, "it is not pushed again");
    },
  );
});
