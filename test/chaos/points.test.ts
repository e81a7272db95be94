import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { oneOfEach, SEED_NOTE, someOf } from "../testing/sample.ts";
import { THOROUGH } from "../testing/thorough.ts";
import { makeChaosProject } from "./chaos-project.ts";
import { brokenInvariants } from "./invariants/invariants.ts";
import { type CrashPoint, crashPoints, kindOf } from "./scenarios/crash-points.ts";
import { isFlowPoint } from "./scenarios/flow-points.ts";
import { finish, killedAt, twoPlans } from "./scenarios/scenario.ts";
import { scenarioFor, staleScenarios, work } from "./scenarios/scenarios.ts";

const points = crashPoints();

const killed = oneOfEach(
  // Those of a server are passed where there is one: test/e2e/github (pulls/publishing-kills, issues/body, issues/claims).
  points.filter((point) => !isFlowPoint(point) && kindOf(point) !== "server"),
  kindOf,
);
/** Steps of ordinary work in their order: the ordinary run is killed in these, on the way of the same two plans. */
const WAY = THOROUGH ? [] : ["activate", "run", "verify", "commit", "publish"];
/** Each of these costs two starts and more: the ordinary run has some of them. */
const ALONE = 2;
const alone = someOf(
  killed.filter((point) => !isOnWay(point)),
  ALONE,
);

function isOnWay(point: CrashPoint): boolean {
  return WAY.includes(kindOf(point)) && scenarioFor(point) === work;
}

describe(`a kill at named points of the steps (${SEED_NOTE})`, { concurrency: 2 }, () => {
  for (const point of alone) {
    it(`${point.name}: the next start brings everything in order`, async () => {
      const project = makeChaosProject({ stepMs: 5 });
      const expected = await scenarioFor(point)(project, point);
      assert.deepEqual(brokenInvariants(project, expected), [], `the project is kept in ${project.root}`);
      project.remove();
    });
  }

  const way = killed.filter(isOnWay).toSorted((a, b) => WAY.indexOf(kindOf(a)) - WAY.indexOf(kindOf(b)));
  // The whole run kills in each of them by itself.
  const names = way.map(({ name }) => name).join(", ");
  if (way.length > 0)
    it(`${names}: all on the way of two plans`, async () => {
      const project = makeChaosProject({ stepMs: 5 });
      const plans = twoPlans(project);
      for (const point of way) await killedAt(project, point);
      await finish(project);
      assert.deepEqual(brokenInvariants(project, { plans }), [], `the project is kept in ${project.root}`);
      project.remove();
    });
});

it("every name in the source is its own, and every scenario belongs to one", () => {
  const names = points.map((point) => point.name);
  assert.ok(names.length > 0);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
  assert.deepEqual(staleScenarios(points), []);
});
