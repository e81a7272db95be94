import { appendFileSync, lstatSync } from "node:fs";
import { takeInbox } from "../src/dispatcher/intake/intake.ts";
import type { Loom } from "../src/dispatcher/loom.ts";
import { homeOf, inboxOf } from "../src/dispatcher/paths.ts";
import { systemClock } from "../src/kernel/clock.ts";
import { type Counts, startCounting } from "./harness/counts.ts";
import { openHooked } from "./harness/hooked.ts";
import { measurePairs, timedSync } from "./harness/measure.ts";
import { addRestingPlans, inFolder, makeProject, type Project, planId } from "./harness/project.ts";
import { type Bench, type Result, result, type Sizes } from "./harness/result.ts";

interface Watched {
  readonly project: Project;
  readonly loom: Loom;
  /** Changes one plan as a person with an editor does. */
  edit(): void;
  /** Looks at all of them. */
  look(): void;
}

/** A project whose plans are all told of. */
async function watched(dir: string, plans: number): Promise<Watched> {
  const project = makeProject(dir);
  addRestingPlans(project, plans);
  const loom = await openHooked(project, { clock: systemClock });
  const scan = loom.inbox.scan();
  takeInbox(loom, scan, scan.changed);
  const lifecycle = loom.lifecycle();
  const lookAll = (): string[] => lifecycle.lookAt(loom.store.list().records.map(({ id }) => id));
  lookAll();
  const { text } = inboxOf(project.paths, planId(0));
  return {
    project,
    loom,
    edit: () => appendFileSync(text, "- Edited.\n"),
    look() {
      const changed = lookAll();
      if (changed.length !== 1) throw new Error(`${changed.length} plans were told of, not the one that was edited`);
    },
  };
}

function countLook({ edit, look }: Watched, below?: string): Counts {
  edit();
  let counts: Counts | undefined;
  const stop = startCounting(below);
  try {
    look();
  } finally {
    counts = stop();
  }
  return counts;
}

/** One look at each text, wherever it lies. */
function lookOnly({ project, loom }: Watched): void {
  for (const { id, status } of loom.store.list({}, { limit: Number.MAX_SAFE_INTEGER }).records) {
    lstatSync(status === "draft" ? inboxOf(project.paths, id).text : homeOf(project.paths, id).plan);
  }
}

async function compare(many: Watched, one: Watched, sizes: Sizes): Promise<Result> {
  const { inbox, plans } = many.project.paths;
  const texts = countLook(many, inbox).opened;
  // The only thing in the homes that is opened is the record of that one plan: written anew under another name.
  const homes = countLook(many, plans);
  const all = countLook(many);
  const alone = countLook(one);
  return result({
    name: "lifecycle",
    what: `${sizes.plans} plans, one was edited`,
    floorIs: "a look at each text",
    gates: [
      { what: "texts opened", counted: texts, most: 1 },
      { what: "homes opened", counted: homes.opened, most: 2 },
      { what: "opened beyond those with one plan", counted: all.opened - alone.opened, most: 0 },
      { what: "synced beyond those with one plan", counted: all.synced - alone.synced, most: 0 },
      { what: "looked per plan", counted: Math.round((10 * all.looked) / sizes.plans) / 10, most: 1.1 },
    ],
    budget: {},
    times: await measurePairs({
      floor: () => timedSync(() => lookOnly(many)),
      ours: () => {
        many.edit();
        return timedSync(() => many.look());
      },
      pairs: sizes.pairs,
    }),
  });
}

export const lifecycle: Bench = {
  name: "lifecycle",
  run: (sizes) =>
    inFolder(async (dir) => {
      const [many, one] = [await watched(`${dir}/many`, sizes.plans), await watched(`${dir}/one`, 1)];
      try {
        return [await compare(many, one, sizes)];
      } finally {
        for (const { loom } of [many, one]) loom.close();
      }
    }),
};
