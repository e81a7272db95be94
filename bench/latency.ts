import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { BusEvent } from "../src/bus/types.ts";
import { CHANNEL_MODULES, type Channel, letDispatcherSee, type Running, withDispatcher } from "./harness/dispatcher.ts";
import { sampleEvent } from "./harness/journal.ts";
import { measurePairs, timedSync } from "./harness/measure.ts";
import { addRestingPlans, inFolder, makeProject, type Project, planId } from "./harness/project.ts";
import { type Bench, type Result, result, type Sizes } from "./harness/result.ts";

/** For a ninety-ninth percentile that is more than the slowest one. */
const PER_PAIR = 20;
/** Between two samples, so that each event comes to a dispatcher that has come to rest. */
const REST_MS = 5;

/** Remembers when the hook was called with the event that is waited for. */
class Ear implements Channel {
  #waiting: ((at: number) => void) | undefined;
  #bringing: BusEvent[] = [];
  calls = 0;
  broughtAt = 0;

  poll() {
    const events = this.#bringing;
    this.#bringing = [];
    if (events.length > 0) this.broughtAt = performance.now();
    return { events };
  }

  heard(event: BusEvent): void {
    // What prloom tells of its own plans is not what is measured.
    if (event.source === "prloom") return;
    this.calls += 1;
    this.#waiting?.(performance.now());
  }

  next(): Promise<number> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  bring(event: BusEvent): void {
    this.#bringing.push(event);
  }
}

/** The event has to be on the disk before anything acts on it, wherever it comes from. */
function writeOne(file: string): number {
  const line = `${JSON.stringify(sampleEvent(0))}\n`;
  return timedSync(() => {
    const fd = openSync(file, "a");
    writeSync(fd, line);
    fsyncSync(fd);
    closeSync(fd);
  });
}

interface Way {
  readonly what: string;
  /** Makes one event come, and gives the milliseconds from then to the call of the hook. */
  come(): Promise<number>;
}

function ways(ear: Ear, { send }: Running, sizes: Sizes): Way[] {
  const plan = planId(0);
  let number = 0;
  return [
    {
      what: `a comment is sent → onEvent is called, ${sizes.plans} plans`,
      async come() {
        const heard = ear.next();
        const start = performance.now();
        const sent = send("comment", { plan, body: "Please also add a test.", author: "someone" });
        const at = await heard;
        await sent;
        return at - start;
      },
    },
    {
      what: `a bridge returns an event → onGlobalEvent is called, ${sizes.plans} plans`,
      async come() {
        const heard = ear.next();
        number += 1;
        ear.bring(sampleEvent(number));
        const sent = send("poll", { bridge: "bench" });
        const at = await heard;
        await sent;
        return at - ear.broughtAt;
      },
    },
  ];
}

async function measure(project: Project, sizes: Sizes): Promise<Result[]> {
  const ear = new Ear();
  await letDispatcherSee(project, ear);
  return withDispatcher(project, ear, async (running) => {
    const results: Result[] = [];
    for (const { what, come } of ways(ear, running, sizes)) {
      const ours = async (): Promise<number> => {
        const ms = await come();
        await sleep(REST_MS);
        return ms;
      };
      for (let warm = 0; warm < PER_PAIR; warm += 1) await ours();
      const before = ear.calls;
      let events = 0;
      const times = await measurePairs({
        floor: () => writeOne(join(project.root, "..", "floor.jsonl")),
        ours: () => {
          events += 1;
          return ours();
        },
        pairs: sizes.pairs * PER_PAIR,
      });
      results.push(
        result({
          name: "latency",
          what,
          floorIs: "one event written and synced",
          gates: [{ what: "calls beyond one per event", counted: ear.calls - before - events, most: 0 }],
          budget: { ms: 20, p99: 100 },
          times,
        }),
      );
    }
    return results;
  });
}

export const latency: Bench = {
  name: "latency",
  run: (sizes) =>
    inFolder(async (dir) => {
      const project = makeProject(dir, CHANNEL_MODULES);
      addRestingPlans(project, sizes.plans);
      return measure(project, sizes);
    }),
};
