import { join } from "node:path";
import type { Log } from "../src/bus/ports.ts";
import { countCalls } from "./harness/counts.ts";
import { EVENTS, fillScope, logIn, sampleRecords } from "./harness/journal.ts";
import { measurePairs, percentile, timedSync } from "./harness/measure.ts";
import { inFolder } from "./harness/project.ts";
import { type Bench, result } from "./harness/result.ts";

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
      ];
    }),
};
