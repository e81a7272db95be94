import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { oneOfEach, SEED, SEED_NOTE, someOf } from "../testing/sample.ts";
import { THOROUGH } from "../testing/thorough.ts";
import { type Flow, openFlow } from "./flow.ts";
import { type CrashPoint, crashPoints, kindOf } from "./scenarios/crash-points.ts";
import { isFlowPoint } from "./scenarios/flow-points.ts";

const PASSAGES = THOROUGH ? [2, 3, 5, 8] : [4];

/** Kills that must come before, so that the point is passed at all. */
const AFTER_KILL_AT: Readonly<Record<string, string>> = {
  "lifecycle:recovered": "lifecycle:appended",
  "together:repaired": "together:written",
};
/** Passed only when an agent has something to do. */
const WITH_WORK = new Set(["hook:all-called"]);

async function killAndFinish(flow: Flow, point: CrashPoint): Promise<void> {
  flow.load({ work: WITH_WORK.has(point.name) });
  const before = AFTER_KILL_AT[point.name];
  if (before !== undefined) await flow.killedAt({ ...point, name: before });
  await flow.killedAt(point);
  // What passes first is often prloom's own; later it is the outside's. The ordinary run has that for every fourth point.
  const passages = THOROUGH || points.indexOf(point) % 4 === 0 ? PASSAGES : [];
  for (const passage of passages) await flow.perhapsKilledAt(point, passage);
  await flow.finish();
}

/** One of each kind of effect; of the kinds the ordinary run has some. */
const KINDS = 3;
const points = someOf(oneOfEach(crashPoints().filter(isFlowPoint), kindOf), KINDS);
/** Two worlds are killed side by side in the whole run. */
const WORLDS = THOROUGH ? [0, 1] : [0];

describe(`a kill between the effects of event, hook, action and delivery (${SEED_NOTE})`, { concurrency: 2 }, () => {
  for (const world of WORLDS) {
    describe(`world ${world + 1}`, { concurrency: 1 }, () => {
      // All points of a part have the same world: each kill meets what the ones before left.
      let flow: Flow | undefined;
      for (const point of points.filter((_, index) => index % WORLDS.length === world)) {
        it(`${point.name}: nothing is lost, and nothing happens twice`, async () => {
          const mine = flow ?? (await openFlow(SEED));
          flow = undefined;
          const kept = `${SEED_NOTE}; the project is kept in ${mine.project.root}`;
          await killAndFinish(mine, point).catch((error) => assert.fail(`${kept}: ${error}`));
          assert.deepEqual(mine.problems(), [], kept);
          flow = mine;
        });
      }
      it("and it is all cleared away", () => flow?.project.remove());
    });
  }
});
