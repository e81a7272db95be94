import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { oneOfEach, SEED_NOTE } from "../testing/sample.ts";
import { makeChaosProject } from "./chaos-project.ts";
import { brokenInvariants } from "./invariants/invariants.ts";
import { crashPoints, kindOf } from "./scenarios/crash-points.ts";
import { isFlowPoint } from "./scenarios/flow-points.ts";
import { scenarioFor, staleScenarios } from "./scenarios/scenarios.ts";

const points = crashPoints();

const killed = oneOfEach(
  points.filter((point) => !isFlowPoint(point)),
  kindOf,
);

describe(`a kill at named points of every kind of step (${SEED_NOTE})`, { concurrency: 2 }, () => {
  for (const point of killed) {
    it(`${point.name}: the next start brings everything in order`, async () => {
      const project = makeChaosProject({ stepMs: 5 });
      const expected = await scenarioFor(point)(project, point);
      assert.deepEqual(brokenInvariants(project, expected), [], `the project is kept in ${project.root}`);
      project.remove();
    });
  }
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
