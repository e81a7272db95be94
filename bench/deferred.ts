import type { DeliveryResult } from "../src/bridges/contract.ts";
import { actionId } from "../src/bus/names.ts";
import { BusLoop } from "../src/dispatcher/buses/bus-loop.ts";
import { handleGlobalEvents } from "../src/dispatcher/buses/handle-events.ts";
import type { Loom } from "../src/dispatcher/loom.ts";
import { countCalls } from "./harness/counts.ts";
import { BenchClock, openHooked } from "./harness/hooked.ts";
import { sampleEvent } from "./harness/journal.ts";
import { measurePairs, timed } from "./harness/measure.ts";
import { inFolder, makeProject, type ProjectOptions } from "./harness/project.ts";
import { type Bench, type Result, result, type Sizes } from "./harness/result.ts";

const HOUR = 3_600_000;
const SECOND = 1000;
/** Actions of one settlement. */
const AT_ONCE = 1000;
/** One that becomes due again and again; the others wait for a year. */
const SOON = "soon";

const DEFERS: ProjectOptions = {
  config: { globalPlugins: { defers: { module: "./prloom/defers.mjs" } } },
  modules: {
    defers: `export default () => ({
  onGlobalEvent(event, ctx) {
    ctx.markEventDeferred(event.id, "not yet", event.id === "${SOON}" ? ${SECOND} : ${365 * 24 * HOUR});
  },
});\n`,
  },
};

interface Waiting {
  readonly loom: Loom;
  readonly clock: BenchClock;
  look(): Promise<void>;
}

/** A global bus with this many events that a plugin put off, and one that it puts off for a second each time. */
async function withDeferred(dir: string, count: number): Promise<Waiting> {
  const clock = new BenchClock();
  const loom = await openHooked(makeProject(dir, DEFERS), { clock });
  const events = Array.from({ length: count }, (_, at) => sampleEvent(at));
  loom.globalBus().appendEvents([...events, { ...sampleEvent(count), id: SOON }]);
  const look = (): Promise<void> => handleGlobalEvents(loom);
  await look();
  const waiting = loom.globalBus().deferredSummary().count;
  if (waiting !== count + 1) throw new Error(`${waiting} events wait, not ${count + 1}`);
  return { loom, clock, look };
}

async function noneDue(many: Waiting, one: Waiting, sizes: Sizes): Promise<Result> {
  const counts = await countCalls(many.look);
  return result({
    name: "deferred",
    what: `a look, ${sizes.deferred} events wait and none is due`,
    floorIs: "the same, one waits",
    gates: [
      // What is new in the journal is looked for at its end.
      { what: "opened", counted: counts.opened, most: 1 },
      { what: "writes", counted: counts.written, most: 0 },
    ],
    budget: { ms: 1 },
    times: await measurePairs({
      floor: () => timed(one.look),
      ours: () => timed(many.look),
      pairs: sizes.pairs * 10,
    }),
  });
}

async function oneDue(many: Waiting, one: Waiting, sizes: Sizes): Promise<Result> {
  const next = ({ clock, look }: Waiting) => {
    clock.move(SECOND);
    return look;
  };
  const counts = await countCalls(next(many));
  const alone = await countCalls(next(one));
  return result({
    name: "deferred",
    what: `a look, ${sizes.deferred} events wait and one is due`,
    floorIs: "the same, one waits",
    gates: [
      // The attempt and the settlement.
      { what: "writes", counted: counts.written, most: 2 },
      { what: "opened beyond the floor's", counted: counts.opened - alone.opened, most: 0 },
      { what: "synced beyond the floor's", counted: counts.synced - alone.synced, most: 0 },
    ],
    budget: {},
    times: await measurePairs({
      floor: () => timed(next(one)),
      ours: () => timed(next(many)),
      pairs: sizes.pairs * 10,
    }),
  });
}

interface Delivering {
  /** Calls of the bridge whose way is broken. */
  broken(): number;
  /** Has one action delivered by the bridge that works. */
  deliver(): Promise<void>;
  close(): void;
}

/** The global loop with this many actions, each for another address, that wait for a bridge whose way is broken. */
async function withBroken(dir: string, count: number): Promise<Delivering> {
  const calls = { down: 0, up: 0 };
  const down = (): DeliveryResult => {
    calls.down += 1;
    return { success: false, error: "down", retryable: true, retryAfterMs: HOUR };
  };
  const up = (): DeliveryResult => {
    calls.up += 1;
    return { success: true };
  };
  const loom = await openHooked(makeProject(dir), {
    clock: new BenchClock(),
    bridges: [
      { name: "down", targets: ["down"], actions: down },
      { name: "up", targets: ["up"], actions: up },
    ],
  });
  const loop = new BusLoop({ loom, first: async () => undefined, onPass: () => undefined, onIdle: () => undefined });
  let put = 0;
  const send = async (target: string, many: number): Promise<void> => {
    put += 1;
    const actions = Array.from({ length: many }, (_, ordinal) => ({
      id: actionId({ scope: {}, recordId: `said-${put}`, handler: "bench", ordinal }),
      type: "respond" as const,
      target: { target, token: `${put}-${ordinal}` },
      payload: { type: "comment" as const, message: "Done." },
    }));
    loom.globalBus().settle({ record: `said-${put}`, handler: "bench", outcome: "handled", actions });
    loop.wake();
    await loop.settled();
  };
  for (let sent = 0; sent < count; sent += AT_ONCE) await send("down", Math.min(AT_ONCE, count - sent));
  return {
    broken: () => calls.down,
    async deliver() {
      const before = calls.up;
      await send("up", 1);
      if (calls.up !== before + 1) throw new Error("the action was not delivered");
    },
    close() {
      loop.stop();
      loom.close();
    },
  };
}

async function openCircuit(many: Delivering, none: Delivering, sizes: Sizes): Promise<Result> {
  await many.deliver();
  await none.deliver();
  const before = many.broken();
  const counts = await countCalls(() => many.deliver());
  const alone = await countCalls(() => none.deliver());
  const times = await measurePairs({
    floor: () => timed(() => none.deliver()),
    ours: () => timed(() => many.deliver()),
    pairs: sizes.pairs * 3,
  });
  return result({
    name: "deferred",
    what: `a delivery, ${sizes.deferred} actions wait for another bridge`,
    floorIs: "the same, none waits",
    gates: [
      { what: "calls of the broken bridge", counted: many.broken() - before, most: 0 },
      { what: "opened beyond the floor's", counted: counts.opened - alone.opened, most: 0 },
      { what: "writes beyond the floor's", counted: counts.written - alone.written, most: 0 },
      { what: "synced beyond the floor's", counted: counts.synced - alone.synced, most: 0 },
    ],
    budget: {},
    times,
  });
}

export const deferred: Bench = {
  name: "deferred",
  run: (sizes) =>
    inFolder(async (dir) => {
      const many = await withDeferred(`${dir}/many`, sizes.deferred);
      const one = await withDeferred(`${dir}/one`, 0);
      const results = [await noneDue(many, one, sizes), await oneDue(many, one, sizes)];
      for (const { loom } of [many, one]) loom.close();
      const broken = await withBroken(`${dir}/broken`, sizes.deferred);
      const none = await withBroken(`${dir}/none`, 0);
      try {
        return [...results, await openCircuit(broken, none, sizes)];
      } finally {
        for (const each of [broken, none]) each.close();
      }
    }),
};
