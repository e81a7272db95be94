import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openBus } from "../src/bus/bus.ts";
import { systemClock } from "../src/kernel/clock.ts";
import { type Counts, countCalls } from "./harness/counts.ts";
import { EVENTS, logIn, sampleEvent, sampleRecords } from "./harness/journal.ts";
import { measurePairs, type Sample, timedSync } from "./harness/measure.ts";
import { inFolder } from "./harness/project.ts";
import { type Bench, type Gate, result } from "./harness/result.ts";

const LIMITS = { maxAttempts: 10, retryMinMs: 1000, retryMaxMs: 300_000 };
const MOST = 10_000;

/** A bare loop: one write per line that is already made, one sync. */
function writeLines(file: string, lines: readonly string[]): void {
  const fd = openSync(file, "a");
  for (const line of lines) writeSync(fd, line);
  fsyncSync(fd);
  closeSync(fd);
}

function gates(counts: Counts, bytes: number): Gate[] {
  return [
    { what: "bytes beyond the floor's", counted: counts.bytesWritten - bytes, most: 0 },
    { what: "writes", counted: counts.written, most: 1 },
    // The journal, and its folder because the file is new.
    { what: "synced", counted: counts.synced, most: 2 },
    // The journal; the ids in it and in the segment before; the folder.
    { what: "opened", counted: counts.opened, most: 4 },
  ];
}

export const append: Bench = {
  name: "append",
  run: (sizes) =>
    inFolder(async (dir) => {
      const count = Math.min(MOST, sizes.events);
      const events = Array.from({ length: count }, (_, at) => sampleEvent(at));
      const records = sampleRecords(0, count);
      let folder = 0;
      const fresh = (): string => {
        folder += 1;
        const path = join(dir, String(folder));
        mkdirSync(path);
        return path;
      };
      const byLog = (path: string): void => {
        logIn(path).append(EVENTS, records);
      };
      const byBus = (path: string): void => {
        openBus({ log: logIn(path), scope: {}, stateFile: undefined, clock: systemClock, limits: LIMITS }).appendEvents(
          events,
        );
      };
      const model = fresh();
      byLog(model);
      const bytes = readFileSync(join(model, "events.jsonl"));
      const lines = bytes
        .toString("utf8")
        .split("\n\n")
        .map((line, at) => (at === 0 ? `${line}\n` : `\n${line}\n`));
      const floor: Sample = () => {
        const path = join(fresh(), "events.jsonl");
        return timedSync(() => writeLines(path, lines));
      };
      const compare = async (what: string, ours: (path: string) => void) => {
        const path = fresh();
        const counts = await countCalls(() => ours(path));
        const sample: Sample = () => {
          const next = fresh();
          return timedSync(() => ours(next));
        };
        return result({
          name: "append",
          what,
          floorIs: "a loop that writes the same lines, one sync",
          gates: gates(counts, bytes.length),
          budget: { ratio: 2 },
          times: await measurePairs({ floor, ours: sample, pairs: sizes.pairs }),
        });
      };
      return [
        await compare(`${count} events to the log, one batch`, byLog),
        await compare(`${count} events to the bus, each checked`, byBus),
      ];
    }),
};
