import { join } from "node:path";
import { configForPlan } from "../src/config/presets.ts";
import { openAsOwner } from "../src/dispatcher/commands/open-as-owner.ts";
import type { OwnedLoom } from "../src/dispatcher/compose.ts";
import { takeInbox } from "../src/dispatcher/intake/intake.ts";
import { activate as performActivate } from "../src/dispatcher/perform/activate.ts";
import { requireRecord } from "../src/dispatcher/records.ts";
import { countCalls } from "./harness/counts.ts";
import { measurePairs, timed } from "./harness/measure.ts";
import { run } from "./harness/programs.ts";
import { addInboxPlans, inFolder, makeProject, type Project, planId } from "./harness/project.ts";
import { type Bench, type Result, result, type Sizes } from "./harness/result.ts";

const FILES = 200;

async function compare(project: Project, loom: OwnedLoom, sizes: Sizes): Promise<Result> {
  let plans = 0;
  let bare = 0;
  const next = (): string => {
    plans += 1;
    const id = planId(plans);
    addInboxPlans(project, [id], { status: "queued" });
    const scan = loom.inbox.scan();
    takeInbox(loom, scan, scan.changed);
    return id;
  };
  const config = configForPlan(loom.config, {});
  if (!config.ok) throw new Error(config.reason);
  const ours = (id: string): Promise<void> => performActivate(loom, requireRecord(loom, id), config.config);
  const floor = (): Promise<number> => {
    bare += 1;
    const args = [
      "worktree",
      "add",
      "-q",
      "--no-track",
      "-b",
      `bare-${bare}`,
      join(project.root, "..", `bare-${bare}`),
    ];
    return timed(() => run("git", [...args, "main"], { cwd: project.root, env: project.env }));
  };
  const id = next();
  const counts = await countCalls(() => ours(id));
  return result({
    name: "activate",
    what: `inbox to worktree, ${FILES} files`,
    floorIs: "git worktree add",
    gates: [
      { what: "git started", counted: counts.started.git ?? 0, most: 3 },
      { what: "others started", counted: Object.keys(counts.started).filter((name) => name !== "git").length, most: 0 },
      // One is the name of the worktree, before it is ready: what a person changes there outlives a kill.
      { what: "synced", counted: counts.synced, most: 6 },
    ],
    budget: { above: 15 },
    times: await measurePairs({
      floor,
      ours: () => {
        const fresh = next();
        return timed(() => ours(fresh));
      },
      pairs: sizes.pairs,
    }),
  });
}

export const activate: Bench = {
  name: "activate",
  run: (sizes) =>
    inFolder(async (dir) => {
      const project = makeProject(dir, { files: FILES });
      const owned = await openAsOwner({ cwd: project.root });
      if (!owned) throw new Error("another process owns the project of a benchmark");
      try {
        return [await compare(project, owned.loom, sizes)];
      } finally {
        owned.loom.close();
        owned.lock.release();
      }
    }),
};
