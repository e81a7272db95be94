import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenGates, type Sizes } from "../../bench/harness/result.ts";
import { ADAPTERS } from "../../bench/one-run.ts";
import { BENCHES } from "../../bench/rows.ts";
import { CLI } from "../testing/program.ts";
import { oneOf, SEED_NOTE } from "../testing/sample.ts";
import { THOROUGH, thorough } from "../testing/thorough.ts";

/** Small, but more plans than a careless cache would hold. */
const TINY: Sizes = {
  plans: 150,
  events: 1500,
  worked: 3,
  hooked: 300,
  upserts: 120,
  deferred: 150,
  agents: 2,
  streamed: 10,
  todos: 30,
  pairs: 1,
  files: 500,
  cli: CLI,
  adapters: oneOf(ADAPTERS),
};
const SMALL: Sizes = {
  ...TINY,
  files: 5000,
  plans: 300,
  events: 2500,
  hooked: 500,
  deferred: 300,
  agents: 4,
  streamed: 20,
};

/** What these count they count by itself, so here they need not be timed. */
const COUNTED_APART = ["activate", "brain", "github", "judge", "status", "tick", "work"];
/** Each of these costs seconds of a processor, and changes with a few rooms only. */
const COSTLY = ["agents", "deferred", "hooks", "latency", "lifecycle", "run", "sandbox", "upsert", "work"];
const ROUNDS = 3;

for (const bench of BENCHES) {
  const options = COSTLY.includes(bench.name) ? thorough : {};
  test(`${bench.name}: asks no more of the system than it may (${SEED_NOTE})`, options, async (t) => {
    const missing = await bench.missing?.();
    if (missing !== undefined) return t.skip(missing);
    let broken: string[] = [];
    // A gate holds for the least of all runs. There are few here, and on a busy machine a save may fall into each of them.
    for (let round = 0; round < ROUNDS; round += 1) {
      const pairs = COUNTED_APART.includes(bench.name) ? 0 : 1;
      const results = await bench.run(THOROUGH ? SMALL : { ...TINY, pairs });
      assert.ok(results.length > 0);
      broken = brokenGates(results);
      if (broken.length === 0) break;
    }
    assert.deepEqual(broken, []);
  });
}
