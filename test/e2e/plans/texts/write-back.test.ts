import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { succeeds, untilIdle } from "../../../testing/at-gate.ts";
import { makeProject, type Project } from "../../../testing/project.ts";
import { addScripted, issue } from "../../../testing/scripted-tracker.ts";
import { thorough } from "../../../testing/thorough.ts";
import type { ScriptedTracker } from "../../../testing/tracker/scripted.ts";

interface World {
  readonly project: Project;
  readonly tracker: ScriptedTracker;
}

function world(todos: readonly string[], config: Record<string, unknown> = {}): World {
  const project = makeProject({ config });
  const tracker = addScripted(project);
  project.plan("shop", todos, issue("1"));
  return { project, tracker };
}

/** What the lines of a status comment say, without their times. */
function linesOf(body = ""): string[] {
  return [...body.matchAll(/^- \d{4}-\d\d-\d\d \d\d:\d\d UTC: (.*)$/gm)].map(([, line = ""]) => line);
}

describe("the source of a plan", { concurrency: 2 }, () => {
  it("is told how far it is in one comment that is edited, also where nothing is approved", async () => {
    const { project, tracker } = world([]);
    tracker.script("post", "lost");
    tracker.script("edit", "500", "lost");
    await untilIdle(project);
    const [comment, ...others] = tracker.shown("1");
    assert.deepEqual(others, []);
    assert.deepEqual(linesOf(comment?.body), [
      "an agent looks into what is asked for",
      "the plan is being written",
      "the plan is complete",
      "the plan is being implemented",
      "all TODOs are done, and the change waits for review",
    ]);
    await succeeds(project, "comment", "shop", "please add two");
    await untilIdle(project);
    assert.deepEqual(linesOf(tracker.shown("1")[0]?.body).slice(5), [
      "the plan is being implemented",
      "all TODOs are done, and the change waits for review",
    ]);
    project.remove();
  });

  it("is told its end in another comment, once", thorough, async () => {
    const { project, tracker } = world(["make one"]);
    await untilIdle(project);
    await succeeds(project, "merge", "shop");
    await untilIdle(project);
    await untilIdle(project);
    const [, end, ...others] = tracker.shown("1").map(({ body }) => body);
    assert.match(end ?? "", /^\*\*prloom\*\*: this is done, and merged/);
    assert.deepEqual(others, []);
    project.remove();
  });

  it("is told its end at the next start, also where the worktree went with the merge", thorough, async () => {
    const { project, tracker } = world(["make one"]);
    await untilIdle(project);
    await succeeds(project, "merge", "shop", "--delete-branch");
    await untilIdle(project);
    assert.match(tracker.shown("1")[1]?.body ?? "", /^\*\*prloom\*\*: this is done, and merged/);
    project.remove();
  });

  it("is told only what write-back is on for", thorough, async () => {
    const off = { investigating: false, plan: false, pr: false };
    const { project, tracker } = world(["make one"], { writeback: off });
    await untilIdle(project);
    assert.deepEqual(
      tracker.shown("1").map(({ body }) => linesOf(body)),
      [["the plan is being implemented"]],
    );
    project.remove();
  });

  it("that is refused keeps its plan from nothing", thorough, async () => {
    const { project, tracker } = world(["make one"]);
    tracker.script("post", "422!");
    await untilIdle(project);
    assert.equal(project.record("shop").status, "review");
    assert.deepEqual(tracker.shown("1"), []);
    project.remove();
  });
});
