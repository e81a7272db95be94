import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Loop, type LoopOptions } from "../../src/kernel/loop.ts";

type Pass = LoopOptions["pass"];

/** A loop under a clock and timers that the test moves. */
function bench(t: { mock: { timers: TimerMock } }, more: Partial<LoopOptions> = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const at = { now: 1000 };
  const events: string[] = [];
  const script: Pass[] = [];
  const loop = new Loop({
    clock: { now: () => at.now },
    pass: () => {
      events.push(`pass at ${at.now}`);
      return script.shift()?.();
    },
    backoffMs: (failures) => 100 * failures,
    onFailure: (error) => void events.push(`failed: ${(error as Error).message}`),
    onIdle: () => void events.push("idle"),
    ...more,
  });
  /** Moves the time, and lets everything happen that it brings. */
  const later = async (ms: number): Promise<void> => {
    at.now += ms;
    t.mock.timers.tick(ms);
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  };
  const told = (): string[] => events.splice(0);
  return { loop, script, later, told, at };
}

interface TimerMock {
  enable(options: { apis: "setTimeout"[] }): void;
  tick(ms: number): void;
}

function fails(message: string): Pass {
  return () => {
    throw new Error(message);
  };
}

test("many wakes are one pass, and nothing happens before the first", async (t) => {
  const { loop, later, told } = bench(t);
  await later(10_000);
  assert.deepEqual(told(), []);
  assert.equal(loop.idle(), true);
  for (let n = 0; n < 5; n += 1) loop.wake();
  assert.equal(loop.idle(), false);
  assert.deepEqual(told(), [], "the caller goes on first");
  await loop.settled();
  assert.deepEqual(told(), ["pass at 11000", "idle"]);
  await later(10_000);
  assert.deepEqual(told(), []);
});

test("a wake during a pass asks for one more, and passes never overlap", async (t) => {
  const { loop, script, told } = bench(t);
  const first = Promise.withResolvers<undefined>();
  script.push(() => first.promise);
  loop.wake();
  await setImmediate();
  for (let n = 0; n < 3; n += 1) loop.wake();
  await setImmediate();
  assert.deepEqual(told(), ["pass at 1000"]);
  first.resolve(undefined);
  await loop.settled();
  assert.deepEqual(told(), ["pass at 1000", "idle"]);
});

test("a pass is made again when it says that it is due, or before when the loop is woken", async (t) => {
  const { loop, script, later, told } = bench(t);
  script.push(() => 1500);
  loop.wake();
  await loop.settled();
  assert.equal(loop.nextAt(), 1500);
  assert.deepEqual([loop.idle(), loop.idle(1499), loop.idle(1500)], [true, true, false]);
  await later(499);
  assert.deepEqual(told(), ["pass at 1000", "idle"]);
  script.push(() => 1500);
  loop.wake();
  await later(1);
  assert.deepEqual(told(), ["pass at 1500", "idle"]);
  await later(1);
  assert.deepEqual(told(), ["pass at 1501", "idle"], "one that is due already does not wait");
  assert.equal(loop.nextAt(), undefined);
});

test("a timer that fires before the clock has the time makes no pass", async (t) => {
  const { loop, script, later, told, at } = bench(t);
  script.push(() => 1500);
  loop.wake();
  await loop.settled();
  told();
  at.now -= 100;
  await later(500);
  assert.deepEqual(told(), []);
  await later(100);
  assert.deepEqual(told(), ["pass at 1500", "idle"]);
});

test("failures are told and back off, a wake does not end the back-off, and success forgets them", async (t) => {
  const { loop, script, later, told } = bench(t);
  script.push(fails("one"), fails("two"), () => undefined, fails("three"));
  loop.wake();
  await loop.settled();
  assert.deepEqual(told(), ["pass at 1000", "failed: one", "idle"]);
  assert.deepEqual([loop.backsOff(), loop.nextAt()], [true, 1100]);
  loop.wake();
  assert.equal(loop.idle(), true);
  await later(99);
  assert.deepEqual(told(), []);
  await later(1);
  assert.deepEqual(told(), ["pass at 1100", "failed: two", "idle"]);
  assert.equal(loop.nextAt(), 1300);
  await later(200);
  assert.deepEqual(told(), ["pass at 1300", "idle"]);
  assert.equal(loop.backsOff(), false);
  loop.wake();
  await loop.settled();
  assert.equal(loop.nextAt(), 1400, "counted from one again");
});

test("a clock that is set back does not make a back-off longer", async (t) => {
  const { loop, script, later, told, at } = bench(t);
  script.push(fails("one"));
  loop.wake();
  await loop.settled();
  told();
  at.now -= 3_600_000;
  loop.wake();
  await later(99);
  assert.deepEqual(told(), []);
  await later(1);
  assert.deepEqual(told(), [`pass at ${at.now}`, "idle"]);
});

test("a loop goes on when what it tells its failures to throws, and that error is not lost", async (t) => {
  const listeners = process.listeners("unhandledRejection");
  const unhandled = Promise.withResolvers<unknown>();
  process.removeAllListeners("unhandledRejection").once("unhandledRejection", unhandled.resolve);
  t.after(() => {
    for (const listener of listeners) process.on("unhandledRejection", listener);
  });
  const onFailure = (): void => {
    throw new Error("cannot tell");
  };
  const { loop, script, later, told } = bench(t, { onFailure });
  script.push(fails("one"));
  loop.wake();
  assert.match(String(await unhandled.promise), /cannot tell/);
  await later(99);
  assert.deepEqual(told(), ["pass at 1000", "idle"]);
  await later(1);
  assert.deepEqual(told(), ["pass at 1100", "idle"]);
  assert.equal(loop.idle(), true);
});

test("a wake during a pass that fails waits for the back-off; hurry does not", async (t) => {
  const { loop, script, later, told } = bench(t);
  script.push(() => {
    loop.wake();
    throw new Error("no");
  });
  loop.wake();
  await loop.settled();
  assert.deepEqual(told(), ["pass at 1000", "failed: no", "idle"]);
  loop.hurry();
  await loop.settled();
  assert.deepEqual(told(), ["pass at 1000", "idle"]);
  await later(1000);
  assert.deepEqual(told(), [], "the timer of the back-off is gone");
});

test("hurry during a pass that fails asks for one more at once, also when a wake comes after it", async (t) => {
  const { loop, script, told } = bench(t);
  script.push(() => {
    loop.hurry();
    loop.wake();
    throw new Error("no");
  });
  loop.wake();
  await loop.settled();
  assert.deepEqual(told(), ["pass at 1000", "failed: no", "pass at 1000", "idle"]);
});

test("a loop that waits for nothing but a wake is idle forever", async (t) => {
  const { loop, script } = bench(t);
  assert.equal(loop.idle(Infinity), true);
  script.push(() => 1500);
  loop.wake();
  await loop.settled();
  assert.equal(loop.idle(Infinity), false);
});

test("what a pass began keeps it from being idle until that wakes it", async (t) => {
  let calls = 1;
  const { loop, told } = bench(t, { underWay: () => calls > 0 });
  loop.wake();
  let isSettled = false;
  const settled = loop.settled().then(() => {
    isSettled = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  assert.deepEqual([isSettled, loop.idle()], [false, false]);
  calls = 0;
  loop.wake();
  await settled;
  assert.deepEqual(told(), ["pass at 1000", "pass at 1000", "idle"]);
});

test("stop begins no pass any more, and waits for nothing but the one that runs", async (t) => {
  const { loop, script, later, told } = bench(t, { underWay: () => true });
  const first = Promise.withResolvers<number>();
  script.push(() => first.promise);
  loop.wake();
  const settled = loop.settled();
  await setImmediate();
  loop.wake();
  loop.stop();
  assert.equal(loop.idle(), false);
  first.resolve(1100);
  await settled;
  assert.deepEqual([loop.idle(), loop.nextAt()], [true, undefined]);
  loop.wake();
  loop.hurry();
  await later(1000);
  assert.deepEqual(told(), ["pass at 1000", "idle"]);
});

test("stop before the pass that was asked for", async (t) => {
  const { loop, later, told } = bench(t);
  loop.wake();
  const settled = loop.settled();
  loop.stop();
  await settled;
  await later(1000);
  assert.deepEqual(told(), []);
});

test("wakes can be gathered for a while", async (t) => {
  const { loop, later, told } = bench(t, { gatherMs: 10 });
  loop.wake();
  await later(9);
  loop.wake();
  assert.deepEqual(told(), []);
  await later(1);
  assert.deepEqual(told(), ["pass at 1010", "idle"]);
});

test("a loop that wakes itself lets everything else have its turn", async (t) => {
  const { loop, script } = bench(t);
  const again: Pass = () => {
    script.push(again);
    loop.wake();
    return undefined;
  };
  script.push(again);
  loop.wake();
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  loop.stop();
  await loop.settled();
});
