import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { thorough } from "../testing/thorough.ts";
import { makeChaosProject } from "./chaos-project.ts";
import { brokenInvariants } from "./invariants/invariants.ts";
import { takenBack } from "./scenarios/gate-scenario.ts";

/** All that is passed from the withdrawal to the next posting. */
const POINTS = ["gate:decided", "gate:written", "gate:told", "gate:opened", "phase:told"] as const;

describe("an approval that is taken back, and a kill", { concurrency: 2 }, () => {
  for (const name of POINTS)
    it(`at ${name}: one post, one notice and one answer for each gate, and one start`, thorough, async () => {
      const project = makeChaosProject({ stepMs: 5 });
      const expected = await takenBack(project, { name, variable: "PRLOOM_CRASH_AT" });
      assert.deepEqual(brokenInvariants(project, expected), [], `the project is kept in ${project.root}`);
      project.remove();
    });
});
