import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type WorkEntry, watchWork } from "../../../src/dispatcher/watchdog/watched-work.ts";

test("what the loop is at is known at every moment, though plans take turns at each await", async (t) => {
  let shown: WorkEntry | undefined;
  const work = watchWork((entry) => {
    shown = entry;
  });
  t.after(() => work.stop());
  const seen: string[] = [];
  const look = (): void => void seen.push(`${shown?.plan ?? "-"} ${shown?.label ?? "-"}`);
  const step = async (plan: string, turns: number): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) {
      look();
      assert.equal(shown?.plan, plan);
      await (turn % 2 === 0 ? setImmediate() : undefined);
      assert.equal(shown?.plan, plan);
    }
    const call = work.entering("hook");
    await setImmediate();
    look();
    assert.deepEqual([shown?.plan, shown?.label], [plan, "hook"]);
    work.left(call);
    assert.deepEqual([shown?.plan, shown?.label], [plan, "step"]);
  };
  const steps = ["a", "b", "c"].map((plan, at) => work.about(plan, "step", () => step(plan, 3 + at)));
  assert.equal(shown, undefined, "about ends with its synchronous part");
  await Promise.all(steps);
  assert.equal(shown, undefined);
  const turns = seen.map((line) => line[0]).join("");
  assert.match(turns, /abc.*abc/, "they did take turns");
});

test("what a step leaves behind, a timer or a listener, is still its plan's", async (t) => {
  let shown: WorkEntry | undefined;
  const work = watchWork((entry) => {
    shown = entry;
  });
  t.after(() => work.stop());
  const target = new EventTarget();
  const heard = once(target, "fired");
  let plan: string | undefined;
  work.about("a", "step", () =>
    setTimeout(() => {
      plan = shown?.plan;
      target.dispatchEvent(new Event("fired"));
    }, 1),
  );
  await heard;
  assert.equal(plan, "a");
});
