import { openAsOwner } from "../src/dispatcher/commands/open-as-owner.ts";
import { takeInbox } from "../src/dispatcher/intake/intake.ts";
import type { Loom } from "../src/dispatcher/loom.ts";
import { Scheduler } from "../src/dispatcher/steps/scheduler.ts";
import { countCalls, startedCount } from "./harness/counts.ts";
import { measurePairs, timed } from "./harness/measure.ts";
import { addInboxPlans, addRestingPlans, inFolder, makeProject, type Project, planId } from "./harness/project.ts";
import { type Bench, type Result, result, type Sizes } from "./harness/result.ts";

interface AtRest {
  readonly loom: Loom;
  readonly scheduler: Scheduler;
  /** Wakes one plan, and waits until it has come to rest again. */
  look(id: string): Promise<void>;
}

/** A scheduler over the project, which has looked at every plan once. */
async function atRest<T>(project: Project, work: (rest: AtRest) => Promise<T>): Promise<T> {
  const owned = await openAsOwner({ cwd: project.root });
  if (!owned) throw new Error("another process owns the project of a benchmark");
  const { loom, lock } = owned;
  let quiet = Promise.withResolvers<void>();
  const scheduler = new Scheduler(loom, {
    onLook: () => true,
    onStep: () => undefined,
    onQuiet: () => quiet.resolve(),
    stillOwner: () => lock.held(),
  });
  const look = (id: string): Promise<void> => {
    quiet = Promise.withResolvers();
    scheduler.wake(id);
    return quiet.promise;
  };
  try {
    const scan = loom.inbox.scan();
    takeInbox(loom, scan, scan.changed);
    await wakeAll(loom, scheduler);
    return await work({ loom, scheduler, look });
  } finally {
    scheduler.stop();
    loom.close();
    lock.release();
  }
}

async function wakeAll(loom: Loom, scheduler: Scheduler): Promise<void> {
  const { records } = loom.store.list({}, { limit: Number.MAX_SAFE_INTEGER });
  for (const record of records) scheduler.wake(record.id);
  await scheduler.settled();
}

/** A wake-up finds that nothing is to be done; the floor is a scheduler that has one plan in all. */
async function oneWake(sizes: Sizes): Promise<Result> {
  return inFolder(async (dir) => {
    const many = makeProject(`${dir}/many`);
    const one = makeProject(`${dir}/one`);
    addRestingPlans(many, sizes.plans);
    addRestingPlans(one, 1);
    const id = planId(0);
    return atRest(many, ({ look }) =>
      atRest(one, async ({ look: lookAlone }) => {
        const counts = await countCalls(() => look(id));
        const times = await measurePairs({
          floor: () => timed(() => lookAlone(id)),
          ours: () => timed(() => look(id)),
          pairs: sizes.pairs * 10,
        });
        return result({
          name: "tick",
          what: `wake-up with nothing to do, among ${sizes.plans} plans`,
          floorIs: "the same among one plan",
          gates: [
            { what: "opened", counted: counts.opened, most: 0 },
            { what: "listed", counted: counts.listed, most: 0 },
            { what: "looked", counted: counts.looked, most: 3 },
            { what: "started", counted: startedCount(counts), most: 0 },
          ],
          budget: { ms: 1 },
          times,
        });
      }),
    );
  });
}

/** Every plan is queued and waits for another one, and something wakes them all: a file in the inbox, a merge. */
async function wakeQueue(sizes: Sizes): Promise<Result> {
  return inFolder(async (dir) => {
    const project = makeProject(dir);
    const ids = Array.from({ length: sizes.plans }, (_, at) => planId(at));
    addInboxPlans(project, ids, { status: "queued", metadata: { dependsOn: ["not-written-yet"] } });
    return atRest(project, async ({ loom, scheduler }) => {
      const all = (): Promise<void> => wakeAll(loom, scheduler);
      const look = (): void => {
        loom.inbox.scan();
      };
      const counts = await countCalls(all);
      const times = await measurePairs({ floor: () => timed(look), ours: () => timed(all), pairs: sizes.pairs });
      return result({
        name: "tick",
        what: `${sizes.plans} queued plans woken at once, nothing to do`,
        floorIs: "looking at the inbox without finding anything",
        gates: [
          { what: "opened", counted: counts.opened, most: 0 },
          { what: "looked", counted: counts.looked, most: 3 * sizes.plans },
          { what: "started", counted: startedCount(counts), most: 0 },
        ],
        budget: {},
        times,
      });
    });
  });
}

export const tick: Bench = {
  name: "tick",
  run: async (sizes) => [await oneWake(sizes), await wakeQueue(sizes)],
};
