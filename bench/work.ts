import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { homeOf } from "../src/dispatcher/paths.ts";
import { measurePairs, timed } from "./harness/measure.ts";
import { prepareCli, run, runCounted } from "./harness/programs.ts";
import { addInboxPlans, inFolder, makeProject, NOOP_AGENT, type Project, planId } from "./harness/project.ts";
import { type Bench, result, type Sizes } from "./harness/result.ts";

const AT_ONCE = 3;
const MAX_MEMORY = 250_000_000;
const FILES = 50;

function plansOf(sizes: Sizes): string[] {
  return Array.from({ length: sizes.worked }, (_, at) => planId(at));
}

function queuedProject(dir: string, sizes: Sizes): Project {
  const project = makeProject(dir, { files: FILES, limits: { maxRunningAgents: AT_ONCE } });
  addInboxPlans(project, plansOf(sizes), { status: "queued" }, 1);
  return project;
}

/** What has to be done in any case: a worktree, the agent, a commit; as many at once as the dispatcher. */
async function workBare(project: Project, ids: readonly string[]): Promise<void> {
  const waiting = [...ids];
  // `git worktree add` fails when it meets another one that is half done, so these cannot be done side by side.
  let lastAdded: Promise<void> = Promise.resolve();
  const add = (args: readonly string[]): Promise<void> => {
    lastAdded = lastAdded.then(() => run("git", ["worktree", "add", ...args], { cwd: project.root, env: project.env }));
    return lastAdded;
  };
  const worker = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await workOn(project, id, add);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function workOn(project: Project, id: string, add: (args: readonly string[]) => Promise<void>): Promise<void> {
  const { env, root } = project;
  const tree = join(root, "..", "bare", id);
  const planFile = join(root, "..", "bare", `${id}.md`);
  mkdirSync(join(root, "..", "bare"), { recursive: true });
  writeFileSync(planFile, "- [ ] Do it\n");
  await add(["-q", "-b", `bare/${id}`, tree, "main"]);
  await run(process.execPath, [NOOP_AGENT], {
    cwd: tree,
    env: { ...env, PRLOOM_PLAN_FILE: planFile, PRLOOM_WORKTREE: tree },
  });
  await run("git", ["add", "-A"], { cwd: tree, env });
  const person = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost"];
  await run("git", [...person, "commit", "-qm", id], { cwd: tree, env });
}

/** Work that was not done must not count as fast. */
function requireDone(project: Project, ids: readonly string[]): void {
  for (const id of ids) {
    const { record } = homeOf(project.paths, id);
    const commits = execFileSync("git", ["rev-list", "--count", `main..prloom/${id}`], { cwd: project.root });
    if (Number(commits) !== 1) throw new Error(`${id} has ${commits} commits, see ${record}`);
  }
}

export const work: Bench = {
  name: "work",
  run: (sizes) =>
    inFolder(async (dir) => {
      const cli = prepareCli(dir, sizes);
      const ids = plansOf(sizes);
      let made = 0;
      const fresh = (): Project => {
        made += 1;
        return queuedProject(join(dir, String(made)), sizes);
      };
      const start = ["start", "--until-idle", "--json"];
      const counted = fresh();
      const counts = await runCounted(counted, cli, start);
      requireDone(counted, ids);
      const { git = 0, bwrap = 0, ...others } = counts.started;
      const processes = Object.values(others).reduce((sum, one) => sum + one, 0);
      const times = await measurePairs({
        floor: () => {
          const project = fresh();
          return timed(() => workBare(project, ids));
        },
        ours: async () => {
          const project = fresh();
          const ms = await timed(() => run(process.execPath, [cli, ...start], { cwd: project.root, env: project.env }));
          requireDone(project, ids);
          return ms;
        },
        pairs: Math.min(2, sizes.pairs),
      });
      const perTodo = (count: number): number => Math.round((count / ids.length) * 10) / 10;
      return [
        result({
          name: "work",
          what: `${ids.length} plans of one TODO, agent does nothing`,
          floorIs: `worktree add, the agent, add and commit; ${AT_ONCE} at once`,
          gates: [
            { what: "git per TODO", counted: perTodo(git), most: 7 },
            // A shim for each agent that works at the same time, and one that starts git.
            { what: "shims and delegate", counted: processes, most: AT_ONCE + 1 },
            { what: "probes", counted: bwrap, most: 1 },
            // Three are for the events of the plan's lifecycle, the others for what is about to follow from its record.
            // One of them is for the change of phase that is told.
            { what: "synced per TODO", counted: perTodo(counts.synced), most: 13 },
            { what: "synced aside per TODO", counted: perTodo(counts.syncedAside), most: 7 },
            { what: "peak MB", counted: Math.round(counts.peakMemory / 1e6), most: MAX_MEMORY / 1e6 },
          ],
          budget: { ratio: 2.25 },
          times,
        }),
      ];
    }),
};
