import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers";
import { inSlices } from "../../../src/dispatcher/intake/time-slices.ts";

/** Each item takes this long. */
function taking(ms: number) {
  let time = 0;
  const seen: string[] = [];
  const act = (item: string, isLater: boolean): void => {
    seen.push(`${item} ${isLater}`);
    time += ms;
  };
  setImmediate(() => seen.push("another"));
  return { seen, work: { items: ["a", "b"], act, now: () => time } };
}

test("what takes long lets others have their turn in between, and is told so", async () => {
  const { seen, work } = taking(150);
  await inSlices({ ...work, mayGoOn: () => true });
  assert.deepEqual(seen, ["a false", "another", "b true"]);
});

test("what is quick is done in one turn", async () => {
  const { seen, work } = taking(1);
  await inSlices({ ...work, mayGoOn: () => assert.fail("nothing else had a turn") });
  assert.deepEqual(seen, ["a false", "b false"]);
});

test("it ends between two slices when it may not go on", async () => {
  const { seen, work } = taking(150);
  await inSlices({ ...work, mayGoOn: () => false });
  assert.deepEqual(seen, ["a false", "another"]);
});
