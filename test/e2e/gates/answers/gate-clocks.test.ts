import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gateStates, succeeds, untilIdle } from "../../../testing/at-gate.ts";
import { makeProject, type Project } from "../../../testing/project.ts";
import { ANNA, addScripted, issue } from "../../../testing/scripted-tracker.ts";
import { thorough } from "../../../testing/thorough.ts";
import type { ScriptedTracker } from "../../../testing/tracker/scripted.ts";

const HOUR_MS = 3_600_000;

interface World {
  readonly project: Project;
  readonly tracker: ScriptedTracker;
  /** Whatever was posted since the last call was so by the clock of the tracker. */
  tick(): void;
}

/** A plan at its gate in a tracker whose clock is not ours. */
async function atGate(aheadMs: number): Promise<World> {
  const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
  const tracker = addScripted(project);
  project.plan("shop", ["make one"], issue("1"));
  const posts = join(project.home, "tracker", "posts");
  const known = new Set<string>();
  const tick = (): void => {
    for (const name of readdirSync(posts).filter((one) => one.endsWith(".json") && !known.has(one))) {
      known.add(name);
      const post = JSON.parse(readFileSync(join(posts, name), "utf8")) as { at: string };
      const at = new Date(Date.parse(post.at) + aheadMs).toISOString();
      writeFileSync(join(posts, name), JSON.stringify({ ...post, at }));
    }
  };
  await untilIdle(project);
  tick();
  return { project, tracker, tick };
}

describe("a gate in a tracker with another clock", { concurrency: 2 }, () => {
  it("takes an approval back that was given there, where it is an hour earlier", thorough, async () => {
    const { project, tracker, tick } = await atGate(-HOUR_MS);
    for (const body of ["approved", "/withdraw"]) {
      tracker.write("1", ANNA, body);
      tick();
      await untilIdle(project);
    }
    assert.deepEqual((await gateStates(project))[0], "withdrawn");
    project.remove();
  });

  it("does not judge an answer by our clock while its posts cannot be read", thorough, async () => {
    const { project, tracker, tick } = await atGate(-HOUR_MS);
    tracker.script("own", "500");
    tracker.write("1", ANNA, "approved");
    tick();
    await untilIdle(project);
    assert.match((await project.cli(["status"])).stdout, /the post of gate \S+ cannot be read: 500; next try/);
    assert.doesNotMatch(
      tracker
        .shown("1")
        .map(({ body }) => body)
        .join("\n"),
      /Nothing was decided/,
    );
    project.remove();
  });

  it("counts an answer in the local thread where it is an hour later there", thorough, async () => {
    const { project } = await atGate(HOUR_MS);
    await succeeds(project, "comment", "shop", "approved");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["approved"]);
    project.remove();
  });
});
