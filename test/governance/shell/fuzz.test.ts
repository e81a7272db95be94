import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { THOROUGH } from "../../testing/thorough.ts";
import { deniedBecause } from "./judging.ts";
import { DENIED, type Mutation, mutated, WRAPPINGS } from "./mutations.ts";
import { SPELLINGS } from "./spellings.ts";

const NUM_RUNS = THOROUGH ? 100_000 : 3_000;

test("each spelling and each wrapping of each denied command is denied", () => {
  const passed: string[] = [];
  const check = (mutation: Mutation) => {
    const command = mutated(mutation);
    if (deniedBecause(command) === undefined) passed.push(command);
  };
  for (const words of DENIED) {
    assert.notEqual(deniedBecause(mutated({ words, spellings: [], wrappings: [] })), undefined);
    for (const spelling of Object.keys(SPELLINGS))
      check({ words, spellings: words.map(() => spelling), wrappings: [] });
    for (const wrapping of Object.keys(WRAPPINGS)) check({ words, spellings: [], wrappings: [wrapping] });
  }
  assert.deepEqual(passed, []);
});

test("a denied command stays denied, however it is spelled, wrapped and joined", () => {
  const mutation = fc.record({
    words: fc.constantFrom(...DENIED),
    spellings: fc.array(fc.constantFrom(...Object.keys(SPELLINGS)), { maxLength: 4 }),
    wrappings: fc.array(fc.constantFrom(...Object.keys(WRAPPINGS)), { maxLength: 4 }),
  });
  fc.assert(
    fc.property(mutation, (one) => {
      const command = mutated(one);
      assert.notEqual(deniedBecause(command), undefined, command);
    }),
    { numRuns: NUM_RUNS, seed: 20_261_116 },
  );
});
