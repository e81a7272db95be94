import { cpSync } from "node:fs";
import { join } from "node:path";
import type { BusEvent } from "../src/bus/types.ts";
import { upsertPlans } from "../src/dispatcher/buses/upsert.ts";
import { takeInbox } from "../src/dispatcher/intake/intake.ts";
import type { NewAction } from "../src/hooks/contexts/event-types.ts";
import { systemClock } from "../src/kernel/clock.ts";
import { type Counts, countCalls } from "./harness/counts.ts";
import { CHANNEL_MODULES, type Channel, letDispatcherSee, type Running, withDispatcher } from "./harness/dispatcher.ts";
import { openHooked } from "./harness/hooked.ts";
import { measurePairs } from "./harness/measure.ts";
import { addRestingPlans, inFolder, makeProject, type Project } from "./harness/project.ts";
import { type Bench, type Gate, type Result, result, type Sizes } from "./harness/result.ts";

/** Plans that are there before. */
const MAX_PLANS = 1000;
const STEP = 50;
const FEW = 500;

function upsertOf(number: number) {
  return {
    type: "upsert_plan" as const,
    source: { system: "board", kind: "card", id: String(number) },
    title: `Card ${number}`,
    planMarkdown: `## TODO\n\n- [ ] Do what card ${number} says\n`,
  };
}

/** Brings cards, and waits until the plan of each is made and told of. */
class Board implements Channel {
  #cards = 0;
  #told = 0;
  #bringing: NewAction[] = [];
  #wanted: { readonly count: number; resolve(): void } | undefined;

  get cards(): number {
    return this.#cards;
  }

  poll() {
    const actions = this.#bringing;
    this.#bringing = [];
    return { events: [], actions };
  }

  heard(event: BusEvent): void {
    const source = event.context?.source as { system?: string } | undefined;
    if (event.type !== "plan_created" || source?.system !== "board") return;
    this.#told += 1;
    if (this.#wanted && this.#told >= this.#wanted.count) this.#wanted.resolve();
  }

  /** Milliseconds per plan. */
  async bring(count: number, { send }: Running): Promise<number> {
    for (let card = 0; card < count; card += 1) {
      this.#cards += 1;
      this.#bringing.push({ target: { target: "prloom-core" }, payload: upsertOf(this.#cards) });
    }
    const all = Promise.withResolvers<void>();
    this.#wanted = { count: this.#cards, resolve: all.resolve };
    const start = performance.now();
    await send("poll", { bridge: "bench" });
    await all.promise;
    return (performance.now() - start) / count;
  }
}

interface Comparing {
  readonly total: number;
  readonly pairs: number;
  /** All after the first fifty with one poll, not only the last fifty of them. */
  readonly atOnce: boolean;
}

/** Floor: the first fifty into a fresh copy of the project. Ours: the last fifty of all, or all the others, in the same one. */
async function compare(template: string, dir: string, { total, pairs, atOnce }: Comparing) {
  let made = 0;
  let end: (() => Promise<void>) | undefined;
  let current: { board: Board; running: Running } | undefined;
  const fresh = async (): Promise<{ board: Board; running: Running }> => {
    await end?.();
    made += 1;
    const project = copyOf(template, join(dir, `${total}-${atOnce}-${made}`));
    const board = new Board();
    const up = Promise.withResolvers<Running>();
    const down = Promise.withResolvers<void>();
    const dispatcher = withDispatcher(project, board, (running) => {
      up.resolve(running);
      return down.promise;
    });
    dispatcher.catch(up.reject);
    end = () => {
      down.resolve();
      return dispatcher;
    };
    const running = await up.promise;
    await board.bring(10, running);
    return { board, running };
  };
  try {
    return await measurePairs({
      floor: async () => {
        current = await fresh();
        return current.board.bring(STEP, current.running);
      },
      ours: async () => {
        if (!current) throw new Error("ours before its floor");
        const { board, running } = current;
        if (atOnce) return board.bring(total, running);
        while (board.cards + STEP < total) await board.bring(Math.min(STEP, total - STEP - board.cards), running);
        return board.bring(STEP, running);
      },
      pairs,
    });
  } finally {
    await end?.();
  }
}

function copyOf(template: string, dir: string): Project {
  const project = makeProject(dir, CHANNEL_MODULES);
  for (const folder of ["inbox", "plans"] as const) {
    cpSync(join(template, folder), project.paths[folder], { recursive: true });
  }
  return project;
}

/** What fifty ask of the system that are made together, the first and the last of so many. */
async function counted(template: string, dir: string, upserts: number): Promise<{ early: Counts; late: Counts }> {
  const loom = await openHooked(copyOf(template, dir), { clock: systemClock });
  const scan = loom.inbox.scan();
  takeInbox(loom, scan, scan.changed);
  const counts: Counts[] = [];
  for (let from = 1; from <= upserts; from += STEP) {
    const some = Array.from({ length: Math.min(STEP, upserts) }, (_, at) => upsertOf(from + at));
    counts.push(await countCalls(() => upsertPlans(loom, some).safe));
  }
  loom.close();
  const [early, late] = [counts[0], counts.at(-1)];
  if (!early || !late) throw new Error("too few upserts to compare");
  return { early, late };
}

function gatesOf({ early, late }: { early: Counts; late: Counts }): Gate[] {
  const more = (what: "opened" | "looked" | "listed" | "synced"): Gate => ({
    what: `${what} beyond the first`,
    counted: late[what] - early[what],
    most: 0,
  });
  return [
    // Four files of each, read by their syncs again, and a note of all.
    { what: "opened", counted: late.opened, most: 9 * STEP },
    // The note and its folder; the files are synced while everything else goes on.
    { what: "synced", counted: late.synced, most: 2 },
    ...(["opened", "looked", "listed", "synced"] as const).map(more),
  ];
}

async function rows(dir: string, sizes: Sizes): Promise<Result[]> {
  const plans = Math.min(MAX_PLANS, sizes.plans);
  const template = join(dir, "template");
  const project = makeProject(template, CHANNEL_MODULES);
  addRestingPlans(project, plans);
  // Else the first fifty would share the disk with a dispatcher that tells of a thousand plans for the first time.
  await letDispatcherSee(project, new Board());
  for (const folder of ["inbox", "plans"] as const) {
    cpSync(project.paths[folder], join(template, folder), { recursive: true });
  }
  const results: Result[] = [];
  for (const total of new Set([Math.min(FEW, sizes.upserts), sizes.upserts])) {
    const gates = gatesOf(await counted(template, join(dir, `counted-${total}`), total));
    const pairs = Math.min(sizes.pairs, total > FEW ? 2 : 5);
    results.push(
      result({
        name: "upsert",
        what: `the last ${STEP} of ${total} into ${plans} plans, each`,
        floorIs: `the first ${STEP}, each`,
        gates,
        budget: { ratio: 1.3, ms: 1 },
        times: await compare(template, dir, { total, pairs, atOnce: false }),
      }),
    );
    if (total !== FEW) continue;
    results.push(
      result({
        name: "upsert",
        what: `${total} that one poll brings into ${plans} plans, each`,
        floorIs: `${STEP} that one poll brings, each`,
        gates: [],
        budget: { ms: 1 },
        times: await compare(template, dir, { total, pairs, atOnce: true }),
      }),
    );
  }
  return results;
}

export const upsert: Bench = {
  name: "upsert",
  run: (sizes) => inFolder((dir) => rows(dir, sizes)),
};
