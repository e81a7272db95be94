import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeChaosProject } from "./chaos-project.ts";
import { brokenInvariants } from "./invariants/invariants.ts";
import { crashPoints } from "./scenarios/crash-points.ts";
import { isFlowPoint } from "./scenarios/flow-points.ts";
import { scenarioFor, staleScenarios } from "./scenarios/scenarios.ts";

const points = crashPoints();

describe("a kill at each named point", { concurrency: 2 }, () => {
  for (const point of points.filter((one) => !isFlowPoint(one))) {
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
