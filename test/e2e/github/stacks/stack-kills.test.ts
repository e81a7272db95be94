import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SEED_NOTE, someOf } from "../../../testing/sample.ts";
import { thorough } from "../../../testing/thorough.ts";
import { publishingProject } from "../publishing-project.ts";
import { assertAlone, head, pullOf, stacked } from "./stacked.ts";

/** Between two effects from the merge of the lower plan to the upper one's new base. */
const BY_COMMAND = ["server:retargeted", "server:merged"];
const BY_PERSON = [
  ...["server:unstacked", "rebase:begun", "rebase:rebased", "server:caught-up"],
  ...["server:pushing", "server:pushed", "server:told", "server:deleted"],
];

describe(`a dispatcher that is killed while a stack is merged (${SEED_NOTE})`, { concurrency: 2 }, () => {
  for (const point of someOf(BY_COMMAND, 1))
    it(`${point}: the upper plan keeps its pull request, and gets the base of the lower one`, async (t) => {
      const made = await stacked(await publishingProject(t));
      const { project, cli, work, token } = made;
      const env = { GITHUB_TOKEN: token, PRLOOM_CRASH_AT: point };
      assert.equal((await project.cli(["merge", "lower"], env)).signal, "SIGKILL");
      await work();
      if (point === "server:retargeted") {
        // Not merged: all is as it was.
        assert.equal(pullOf(made, "upper").pull.base.branch, "prloom/lower");
        assert.equal(project.git("rev-parse", "prloom/upper^").trim(), head(project, "lower"));
        assert.equal((await cli("merge", "lower")).code, 0);
      }
      await work();
      assert.equal(made.there("prloom/lower"), undefined);
      await assertAlone(made);
    });

  for (const point of BY_PERSON)
    it(`${point}: the upper plan has its own commits alone, once`, thorough, async (t) => {
      const made = await stacked(await publishingProject(t));
      const { work, ada, there, pulls } = made;
      ada.merges(pullOf(made, "lower").number);
      assert.equal((await work({ PRLOOM_CRASH_AT: point })).signal, "SIGKILL");
      await work();
      await work();
      assert.equal(there("prloom/lower"), undefined);
      assert.equal(pulls().length, 2);
      await assertAlone(made);
    });

  it("rebase:rebased, after the lower plan moved: the upper one follows once", thorough, async (t) => {
    const made = await stacked(await publishingProject(t));
    const { project, work, ada, there } = made;
    const theirs = ada.pushes("prloom/lower", { "more.txt": "more\n" });
    assert.equal((await work({ PRLOOM_CRASH_AT: "rebase:rebased" })).signal, "SIGKILL");
    await work();
    assert.equal(project.git("rev-parse", "prloom/upper^").trim(), theirs);
    assert.equal(there("prloom/upper"), head(project, "upper"));
    assert.equal(project.record("upper").blocked, undefined);
  });

  it("server:closed-there: the upper plan gets another pull request, once", thorough, async (t) => {
    const made = await stacked(await publishingProject(t));
    const { cli, work, ada, pulls } = made;
    ada.closes(pullOf(made, "lower").number);
    ada.deletesBranch("prloom/lower");
    let signal: string | null = null;
    for (let start = 0; start < 3 && signal === null; start += 1)
      signal = (await work({ PRLOOM_CRASH_AT: "server:closed-there" })).signal;
    assert.equal(signal, "SIGKILL");
    await work();
    assert.equal((await cli("unblock", "upper")).code, 0);
    await work();
    assert.equal(pulls().length, 3);
    await assertAlone(made);
  });
});
