import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { takeTurns } from "../../src/kernel/turns.ts";

/** Longer than a slice. */
function work(): void {
  const until = performance.now() + 30;
  while (performance.now() < until);
}

test("many loops that wait for their turn do not go on all at once", async () => {
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turns += 1) await nextTurn();
  })();
  const seen: number[] = [];
  const loop = async (): Promise<void> => {
    for (let round = 0; round < 2; round += 1) {
      await takeTurns();
      seen.push(turns);
      work();
    }
  };
  await Promise.all(Array.from({ length: 5 }, loop));
  isOver = true;
  await others;
  // The first may still be in the slice in which all of them began.
  assert.equal(new Set(seen.slice(1)).size, 9, seen.join(" "));
});
