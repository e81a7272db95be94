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

test("a loop that was served last waits behind those that wait", async () => {
  const rounds = [0, 0, 0];
  let ahead = 0;
  const loop = async (_: number, which: number): Promise<void> => {
    for (let round = 0; round < 5; round += 1) {
      await takeTurns();
      work();
      rounds[which] = round + 1;
      ahead = Math.max(ahead, round + 1 - Math.min(...rounds));
    }
  };
  await Promise.all(rounds.map(loop));
  // The first may have begun in the slice of another test.
  assert.ok(ahead <= 2, `${ahead} rounds ahead`);
});
