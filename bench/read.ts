import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bus, openBus } from "../src/bus/bus.ts";
import type { Log } from "../src/bus/ports.ts";
import { systemClock } from "../src/kernel/clock.ts";
import { countCalls } from "./harness/counts.ts";
import { EVENTS, fillScope, logIn, sampleEvent, sampleRecords } from "./harness/journal.ts";
import { measurePairs, percentile, timedSync } from "./harness/measure.ts";
import { inFolder } from "./harness/project.ts";
import { type Bench, type Result, result, type Sizes } from "./harness/result.ts";

const SMALL = 1000;
const READS = 20;

/** Appends one event (not timed) and reads what is new, a few times; gives the middle of the times of a read. */
function readNews(log: Log, name: string): () => number {
  let number = 0;
  return () => {
    const times: number[] = [];
    for (let read = 0; read < READS; read += 1) {
      const after = log.end(EVENTS);
      number += 1;
      log.append(
        EVENTS,
        sampleRecords(number, 1).map((record) => ({ ...record, id: `${name}-${record.id}` })),
      );
      const ms = timedSync(() => {
        if (log.read(EVENTS, after, 100).items.length !== 1) throw new Error("the new event was not read");
      });
      times.push(ms);
    }
    return percentile(times, 0.5);
  };
}

const LIMITS = { maxAttempts: 10, retryMinMs: 1000, retryMaxMs: 300_000 };
const PAGE = 100;

function busIn(dir: string): Bus {
  return openBus({ log: logIn(dir), scope: {}, stateFile: undefined, clock: systemClock, limits: LIMITS });
}

/** A plugin with a place of its own reads on, a page each time; after so many events it begins anew. */
function readPages(bus: Bus, total: number): () => void {
  let sinceId: string | undefined;
  let seen = 0;
  return () => {
    const { events, lastId } = bus.readEvents({ sinceId, limit: PAGE });
    if (events.length !== PAGE) throw new Error(`${events.length} events were read, not ${PAGE}`);
    seen = seen + 2 * PAGE > total ? 0 : seen + PAGE;
    sinceId = seen === 0 ? undefined : lastId;
  };
}

async function goingOn(large: string, small: string, sizes: Sizes): Promise<Result> {
  const [ours, floor] = [readPages(busIn(large), sizes.events), readPages(busIn(small), SMALL)];
  for (const page of [ours, floor]) page();
  const counts = await countCalls(ours);
  return result({
    name: "read",
    what: `readEvents goes on, ${PAGE} of ${sizes.events} events`,
    floorIs: `the same of ${SMALL}`,
    gates: [
      { what: "opened", counted: counts.opened, most: 2 },
      { what: "listed", counted: counts.listed, most: 0 },
    ],
    budget: { ratio: 1.15 },
    times: await measurePairs({
      floor: () => timedSync(floor),
      ours: () => timedSync(ours),
      pairs: sizes.pairs * 3,
    }),
  });
}

/** After a restart it is not known where an id lies, and the journals have no index. */
async function findingAgain(large: string, sizes: Sizes): Promise<Result> {
  const middle = Math.floor(sizes.events / 2);
  const { id: sinceId } = sampleEvent(middle);
  const find = (): void => {
    const { events } = busIn(large).readEvents({ sinceId, limit: 1 });
    if (events[0]?.id !== sampleEvent(middle + 1).id) throw new Error("another event was read than the next one");
  };
  const segments = readdirSync(large).filter((name) => name.startsWith("events"));
  const counts = await countCalls(find);
  return result({
    name: "read",
    what: `readEvents after a restart, from the middle of ${sizes.events} events`,
    floorIs: "reading the newer half of the files",
    gates: [{ what: "opened beyond the files", counted: counts.opened - segments.length, most: 2 }],
    budget: {},
    times: await measurePairs({
      // The current segment has no number; half of the others are newer than the middle.
      floor: () =>
        timedSync(() => {
          for (const name of segments.sort().slice(Math.floor(segments.length / 2))) readFileSync(join(large, name));
        }),
      ours: () => timedSync(find),
      pairs: Math.min(sizes.pairs, 5),
    }),
  });
}

export const read: Bench = {
  name: "read",
  run: (sizes) =>
    inFolder(async (dir) => {
      const [large, small] = [join(dir, "large"), join(dir, "small")];
      fillScope(large, sizes.events);
      fillScope(small, Math.min(SMALL, sizes.events));
      const [largeLog, smallLog] = [logIn(large, { fsync: false }), logIn(small, { fsync: false })];
      const ours = readNews(largeLog, "new");
      const after = largeLog.end(EVENTS);
      ours();
      const counts = await countCalls(() => largeLog.read(EVENTS, after, 100));
      const times = await measurePairs({ floor: readNews(smallLog, "new"), ours, pairs: sizes.pairs * 3 });
      return [
        result({
          name: "read",
          what: `what is new in a log of ${sizes.events} events`,
          floorIs: `the same in a log of ${SMALL}`,
          gates: [
            { what: "opened", counted: counts.opened, most: 1 },
            { what: "listed", counted: counts.listed, most: 0 },
            { what: "looked", counted: counts.looked, most: 1 },
          ],
          // Equal within noise: what neighbours of the same thing differ by on these machines.
          budget: { ms: 1, ratio: 1.15 },
          times,
        }),
        await goingOn(large, small, sizes),
        await findingAgain(large, sizes),
      ];
    }),
};
