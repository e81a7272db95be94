import assert from "node:assert/strict";
import { test } from "node:test";
import { SEED, SEED_NOTE } from "../testing/sample.ts";
import { THOROUGH } from "../testing/thorough.ts";
import { makeChaosWorld } from "./chaos-project.ts";
import { runChaos } from "./driver.ts";
import { brokenInvariants } from "./invariants/invariants.ts";
import { outsideProblems } from "./invariants/outside-invariants.ts";

const kills = Number(process.env.PRLOOM_CHAOS_KILLS ?? 2);
const plans = THOROUGH ? 12 : 3;
/** One takes two seconds where nothing else runs; this only ends a run that hangs. */
const timeout = 1_200_000 + kills * 10_000;

test(`${plans} plans come through ${kills} kills of the dispatcher: each TODO is done once, what happens outside arrives and is answered once, nothing is lost or left behind (${SEED_NOTE})`, {
  timeout,
}, async (t) => {
  // Half of the runs see agents in their sandboxes: what those leave behind has to go as well.
  const world = makeChaosWorld({ stepMs: 80, commands: true, seed: SEED, sandbox: SEED % 2 === 0 ? "auto" : "none" });
  const { project, outside } = world;
  const report = await runChaos(world, { seed: SEED, kills, plans });
  const broken = [
    ...report.failures,
    ...brokenInvariants(project, { ...report.expected, initLines: 1 }),
    ...outsideProblems(project, outside),
  ];
  if (broken.length > 0 || report.kills < kills) {
    t.diagnostic(`${SEED_NOTE}; the project is kept in ${project.root}`);
    for (const line of report.history) t.diagnostic(line);
  }
  assert.deepEqual(broken, []);
  assert.equal(report.kills, kills, "the dispatcher was not killed as often as it should have been");
  project.remove();
});
