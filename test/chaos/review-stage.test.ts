import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, watch } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { finished, type Project } from "../testing/project.ts";
import { oneOf, SEED_NOTE } from "../testing/sample.ts";
import { thorough } from "../testing/thorough.ts";
import { makeChaosProject } from "./chaos-project.ts";
import { brokenInvariants } from "./invariants/invariants.ts";
import { addReviewStage } from "./scenarios/plugin-scenarios.ts";

/** Moments of the second run, the reviewer's, and of what follows it. */
const POINTS = ["run:prepared:2", "run-started:2", "run:started:2", "commit:made"];
/** Where it is killed again when it was killed in the middle of the run. */
const AGAIN = ["", "recover:ended", "recover:reset"];

describe(`a kill around the reviewer's run: the work is there once (${SEED_NOTE})`, { concurrency: 2 }, () => {
  for (const point of oneOf(POINTS)) {
    it(`at ${point}`, async () => {
      const project = reviewed(5);
      await killedAt(project, point);
      await finishes(project);
    });
  }

  for (const point of AGAIN) {
    it(`in the middle of it${point === "" ? "" : `, and again at ${point}`}`, thorough, async () => {
      const project = reviewed(400);
      const dispatcher = project.spawnCli(["start", "--until-idle"]);
      const ended = finished(dispatcher);
      await Promise.race([halfReviewed(project), ended]);
      dispatcher.kill("SIGKILL");
      assert.equal((await ended).signal, "SIGKILL", "it was over before it was killed");
      if (point !== "") await killedAt(project, point);
      await finishes(project);
    });
  }
});

function reviewed(stepMs: number): Project {
  const project = makeChaosProject({ stepMs });
  addReviewStage(project, "todo", "approve");
  project.plan("first", ["make one"]);
  return project;
}

async function killedAt(project: Project, point: string): Promise<void> {
  const { signal, stdout, stderr } = await project.work({ PRLOOM_CRASH_AT: point });
  assert.equal(signal, "SIGKILL", `${point} was not passed: ${stderr}${stdout}`);
}

/** The reviewer has changed files and is not done. */
async function halfReviewed(project: Project): Promise<void> {
  const worktree = project.worktree("first");
  for (const folder of [join(worktree, ".."), worktree]) {
    if (folder !== worktree) mkdirSync(folder, { recursive: true });
    const wanted = folder === worktree ? join(worktree, "half-review") : worktree;
    const watcher = watch(folder).unref();
    while (!existsSync(wanted)) await once(watcher, "change");
    watcher.close();
  }
}

async function finishes(project: Project): Promise<void> {
  const { code, stdout, stderr } = await project.work();
  assert.equal(code, 0, `${stderr}${stdout}`);
  const plans = [{ id: "first", todos: ["make one"], said: [] }];
  assert.deepEqual(brokenInvariants(project, { plans }), [], `the project is kept in ${project.root}`);
  project.remove();
}
