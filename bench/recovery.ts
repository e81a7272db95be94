import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bus, openBus } from "../src/bus/bus.ts";
import { systemClock } from "../src/kernel/clock.ts";
import { countCalls } from "./harness/counts.ts";
import { fillScope, logIn } from "./harness/journal.ts";
import { measurePairs, timedSync } from "./harness/measure.ts";
import { inFolder } from "./harness/project.ts";
import { type Bench, type Result, result, type Sizes } from "./harness/result.ts";

const LIMITS = { maxAttempts: 10, retryMinMs: 1000, retryMaxMs: 300_000 };
/** 3 s for a million events. */
const MS_PER_EVENT = 3 / 1000;

function recover(dir: string, stateFile: string | undefined): Bus {
  return openBus({ log: logIn(dir), scope: {}, stateFile, clock: systemClock, limits: LIMITS });
}

function parseLines(dir: string): number {
  let count = 0;
  for (const name of readdirSync(dir)) {
    if (!name.startsWith("settled")) continue;
    for (const line of readFileSync(join(dir, name), "utf8").split("\n")) {
      if (line === "") continue;
      JSON.parse(line);
      count += 1;
    }
  }
  return count;
}

async function withSnapshot(dir: string, stateFile: string, sizes: Sizes): Promise<Result> {
  const look = (): void => {
    if (recover(dir, stateFile).newEvents(1).length > 0) throw new Error("a settled event was offered again");
  };
  const counts = await countCalls(look);
  return result({
    name: "recovery",
    what: `a scope with ${sizes.events} events, snapshot there`,
    floorIs: "reading and parsing the snapshot",
    gates: [
      { what: "opened", counted: counts.opened, most: 1 },
      { what: "listed", counted: counts.listed, most: 3 },
      { what: "writes", counted: counts.written, most: 0 },
    ],
    budget: { ms: sizes.events * MS_PER_EVENT },
    times: await measurePairs({
      floor: () => timedSync(() => JSON.parse(readFileSync(stateFile, "utf8"))),
      ours: () => timedSync(look),
      pairs: sizes.pairs,
    }),
  });
}

async function withoutSnapshot(dir: string, sizes: Sizes): Promise<Result> {
  const look = (): void => {
    if (recover(dir, undefined).newEvents(1).length > 0) throw new Error("a settled event was offered again");
  };
  const counts = await countCalls(look);
  const segments = readdirSync(dir).filter((name) => name.startsWith("settled")).length;
  return result({
    name: "recovery",
    what: `a scope with ${sizes.events} events, no snapshot`,
    floorIs: "reading and parsing the lines of the settled log",
    gates: [
      // A thousand records are folded at a time, each time from where the last ones ended.
      { what: "opened", counted: counts.opened, most: segments + Math.ceil((2 * sizes.events) / 1000) },
      { what: "writes", counted: counts.written, most: 0 },
    ],
    budget: { ms: sizes.events * MS_PER_EVENT },
    times: await measurePairs({
      floor: () => timedSync(() => parseLines(dir)),
      ours: () => timedSync(look),
      pairs: Math.min(sizes.pairs, 5),
    }),
  });
}

export const recovery: Bench = {
  name: "recovery",
  run: (sizes) =>
    inFolder(async (dir) => {
      const stateFile = join(dir, "state", "dispatcher.json");
      fillScope(dir, sizes.events, true);
      recover(dir, stateFile).close();
      return [await withSnapshot(dir, stateFile, sizes), await withoutSnapshot(dir, sizes)];
    }),
};
