import { lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createFilePlanStore } from "../src/bus/file/plan-store.ts";
import { openAsOwner } from "../src/dispatcher/commands/open-as-owner.ts";
import { type Inbox, openInbox } from "../src/dispatcher/intake/inbox.ts";
import { takeInbox } from "../src/dispatcher/intake/intake.ts";
import { systemClock } from "../src/kernel/clock.ts";
import { countCalls } from "./harness/counts.ts";
import { measurePairs, timedSync } from "./harness/measure.ts";
import { addRestingPlans, inFolder, makeProject, type Project } from "./harness/project.ts";
import { type Bench, type Result, result, type Sizes } from "./harness/result.ts";

/** Lets a dispatcher see the plans, and leave what makes its next start cheap. */
async function letDispatcherSee(project: Project): Promise<void> {
  const owned = await openAsOwner({ cwd: project.root });
  if (!owned) throw new Error("another process owns the project of a benchmark");
  const scan = owned.loom.inbox.scan();
  takeInbox(owned.loom, scan, scan.changed);
  owned.loom.saveCaches();
  owned.loom.close();
  owned.lock.release();
}

/** The same directories and files, looked at and nothing else. */
function lookOnly({ paths }: Project): void {
  for (const id of readdirSync(paths.plans)) statSync(join(paths.plans, id, "state.json"));
  for (const name of readdirSync(paths.inbox)) lstatSync(join(paths.inbox, name));
}

async function startUp(project: Project, sizes: Sizes): Promise<Result> {
  const open = (): Inbox => {
    createFilePlanStore({ plansDir: project.paths.plans, clock: systemClock });
    const inbox = openInbox(project.paths.inbox, project.paths.inboxCacheFile);
    inbox.scan();
    return inbox;
  };
  const counts = await countCalls(open);
  const inInbox = Math.ceil(sizes.plans / 2);
  return result({
    name: "scan",
    what: `start-up with ${sizes.plans} plans, ${inInbox} of them in the inbox`,
    floorIs: "readdir and stat of the same files",
    gates: [
      // The index of records and the cache of the inbox.
      { what: "opened", counted: counts.opened, most: 2 },
      { what: "listed", counted: counts.listed, most: 2 },
      { what: "looked", counted: counts.looked, most: sizes.plans + 3 * inInbox },
    ],
    budget: { ratio: 2 },
    times: await measurePairs({
      floor: () => timedSync(() => lookOnly(project)),
      ours: () => timedSync(open),
      pairs: sizes.pairs,
    }),
  });
}

async function safetyTick(project: Project, sizes: Sizes): Promise<Result> {
  const store = createFilePlanStore({ plansDir: project.paths.plans, clock: systemClock });
  const inbox = openInbox(project.paths.inbox, project.paths.inboxCacheFile);
  const look = (): void => {
    store.reload();
    inbox.scan();
  };
  look();
  const counts = await countCalls(look);
  return result({
    name: "scan",
    what: `safety tick over ${sizes.plans} plans`,
    floorIs: "readdir and stat of the same files",
    gates: [
      { what: "opened", counted: counts.opened, most: 0 },
      { what: "listed", counted: counts.listed, most: 2 },
      { what: "looked", counted: counts.looked, most: sizes.plans + 2 * Math.ceil(sizes.plans / 2) },
    ],
    budget: { ratio: 1.5 },
    times: await measurePairs({
      floor: () => timedSync(() => lookOnly(project)),
      ours: () => timedSync(look),
      pairs: sizes.pairs,
    }),
  });
}

export const scan: Bench = {
  name: "scan",
  run: (sizes) =>
    inFolder(async (dir) => {
      const project = makeProject(dir);
      addRestingPlans(project, sizes.plans);
      await letDispatcherSee(project);
      return [await startUp(project, sizes), await safetyTick(project, sizes)];
    }),
};
