import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { publishNext } from "../../../src/dispatcher/publishing/publish.ts";
import { withLoom } from "../../dispatcher/buses/owned-loom.ts";
import { thorough } from "../../testing/thorough.ts";
import { type PublishingProject, publishingProject } from "./publishing-project.ts";

/** A plan that is done, and of which the server lacks what the fault keeps from it. */
async function behind(t: TestContext, on: RegExp): Promise<PublishingProject> {
  const made = await publishingProject(t, { bus: { retryMin: "20s", retryMax: "30s" } });
  made.github.server.faults.add({ kind: "cut-before", on, times: 1000 });
  made.project.plan("dark", ["make one"]);
  await made.work();
  assert.equal(made.project.record("dark").status, "review");
  assert.equal(made.project.record("dark").blocked, undefined);
  made.github.server.faults.clear();
  return made;
}

/** Goes on with publishing, and is asked to stop as soon as `isUnderWay`. */
async function stoppedWhile({ project, token }: PublishingProject, isUnderWay: () => boolean): Promise<void> {
  process.env.GITHUB_TOKEN = token;
  try {
    await withLoom(project.root, async (loom) => {
      const doing = publishNext(loom, "dark");
      let isOver = false;
      const over = doing.finally(() => {
        isOver = true;
      });
      while (!isOver && !isUnderWay()) await setTimeout(5);
      loom.beginStop();
      const before = loom.store.byId("dark");
      assert.equal(await over, false);
      assert.deepEqual(loom.store.byId("dark"), before);
    });
  } finally {
    delete process.env.GITHUB_TOKEN;
  }
}

describe("what is under way at the server when the dispatcher stops", () => {
  it("is a push of which nothing is written down, and the next start finds it there", thorough, async (t) => {
    const made = await behind(t, /git-receive-pack/);
    const { project, there, pulls, work } = made;
    const head = project.git("rev-parse", "prloom/dark").trim();
    await stoppedWhile(made, () => there("prloom/dark") !== undefined);
    assert.equal(there("prloom/dark"), head);
    assert.equal(project.record("dark").published?.sha, undefined);
    await work();
    assert.equal(project.record("dark").published?.sha, head);
    assert.equal(pulls().length, 1);
  });

  it("is a pull request of which nothing is written down, and the next start finds it there", thorough, async (t) => {
    const made = await behind(t, /POST .*\/pulls$/);
    const { project, pulls, work } = made;
    await stoppedWhile(made, () => pulls().length > 0);
    assert.equal(project.record("dark").changeRequest, undefined);
    await work();
    assert.equal(project.record("dark").changeRequest?.state, "open");
    assert.equal(pulls().length, 1);
  });
});
