import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { handleGlobalEvents } from "../src/dispatcher/buses/handle-events.ts";
import { systemClock } from "../src/kernel/clock.ts";
import { countCalls } from "./harness/counts.ts";
import { openHooked } from "./harness/hooked.ts";
import { sampleEvent } from "./harness/journal.ts";
import { measurePairs, timed, timedSync } from "./harness/measure.ts";
import { inFolder, makeProject, type Project, type ProjectOptions } from "./harness/project.ts";
import { type Bench, type Gate, type Result, result, type Sizes } from "./harness/result.ts";

const PLUGINS = 3;
/** Events that are handled between two syncs. */
const BATCH = 100;
/** No caller appends more than this at once. */
const APPENDED = 10_000;
const SEGMENT_BYTES = 8 * 1024 * 1024;
/** From here on one turn takes half a minute. */
const MANY = 20_000;

/** One only looks, one counts in its memory, one is responsible for the events. */
const THREE: ProjectOptions = {
  config: {
    globalPlugins: {
      looks: { module: "./prloom/looks.mjs" },
      counts: { module: "./prloom/counts.mjs" },
      handles: { module: "./prloom/handles.mjs" },
    },
  },
  modules: {
    looks: "export default () => ({ onGlobalEvent(event) { if (event.title === undefined) throw new Error(); } });\n",
    counts: `export default () => ({
  async onGlobalEvent(event, ctx) {
    ctx.setGlobalState("events", (ctx.getGlobalState("events") ?? 0) + 1);
  },
});\n`,
    handles: "export default () => ({ onGlobalEvent(event, ctx) { ctx.markEventHandled(event.id); } });\n",
  },
};

/** One line for each call, written at once and synced with every hundredth event: what a note of each call costs. */
function noteCalls(file: string, events: number): void {
  const fd = openSync(file, "a");
  for (let event = 0; event < events; event += 1) {
    for (let plugin = 0; plugin < PLUGINS; plugin += 1) {
      const line = { record: `comment-${event}`, handler: `onGlobalEvent:plugin-${plugin}`, outcome: "passed" };
      writeSync(fd, `${JSON.stringify(line)}\n`);
    }
    if (event % BATCH === BATCH - 1) fsyncSync(fd);
  }
  closeSync(fd);
}

/** Opens a fresh project on which this many events wait, and hands over how they are handled. */
async function prepared(dir: string, events: number): Promise<{ handle(): Promise<void>; close(): void }> {
  const project: Project = makeProject(dir, THREE);
  const loom = await openHooked(project, { clock: systemClock });
  const bus = loom.globalBus();
  for (let from = 0; from < events; from += APPENDED) {
    const count = Math.min(APPENDED, events - from);
    bus.appendEvents(Array.from({ length: count }, (_, at) => sampleEvent(from + at)));
  }
  return {
    handle: () => handleGlobalEvents(loom),
    close() {
      const counted = loom.stores.read({ kind: "global", plugin: "counts" }).events;
      loom.close();
      if (counted !== events) throw new Error(`a plugin saw ${String(counted)} of ${events} events`);
    },
  };
}

async function gates(dir: string, events: number): Promise<Gate[]> {
  const { handle, close } = await prepared(dir, events);
  const counts = await countCalls(handle);
  close();
  const batches = Math.ceil(events / BATCH);
  const rolls = Math.floor(counts.bytesWritten / SEGMENT_BYTES);
  return [
    // For each plugin one line before its call and one after it.
    { what: "writes per event", counted: Math.round((10 * counts.written) / events) / 10, most: 2 * PLUGINS + 0.1 },
    { what: "bytes per event", counted: Math.round(counts.bytesWritten / events), most: 1400 },
    // A new segment of the journal also makes its name safe, and the one before it is synced once more.
    { what: "synced beyond one per 100 events", counted: counts.synced - batches, most: 1 + 2 * rolls },
  ];
}

async function measure(dir: string, sizes: Sizes): Promise<Result> {
  const events = sizes.hooked;
  let made = 0;
  const fresh = (): string => {
    made += 1;
    return join(dir, String(made));
  };
  return result({
    name: "hooks",
    what: `${events} events through ${PLUGINS} plugins`,
    floorIs: "a line for each call, written alone; synced once per 100 events",
    gates: await gates(fresh(), events),
    budget: {},
    per: events,
    times: await measurePairs({
      floor: () => timedSync(() => noteCalls(join(dir, "floor.jsonl"), events)),
      ours: async () => {
        const { handle, close } = await prepared(fresh(), events);
        const ms = await timed(handle);
        close();
        return ms;
      },
      pairs: Math.min(sizes.pairs, events > MANY ? 2 : 5),
    }),
  });
}

export const hooks: Bench = {
  name: "hooks",
  run: (sizes) => inFolder(async (dir) => [await measure(dir, sizes)]),
};
