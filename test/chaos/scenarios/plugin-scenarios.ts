import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "../../testing/project.ts";
import { crash, finish, type Scenario, twoPlans } from "./scenario.ts";

/** Puts a plugin into a project, beside what it has. */
function addPlugin(project: Project, name: string, text: string): void {
  mkdirSync(join(project.root, "plugins"), { recursive: true });
  writeFileSync(join(project.root, "plugins", `${name}.ts`), text);
  project.config({ plugins: { [name]: { module: `./plugins/${name}.ts` } } });
}

/** An agent of a plugin, called after each TODO, that leaves what it must not. */
export function addReviewer(project: Project): void {
  const { agents, stages } = project.config() as { agents: object; stages: object };
  const reviewer = { adapter: "command", command: "sh", args: ["-c", "cat; echo junk > junk.txt"] };
  project.config({ agents: { ...agents, reviewer }, stages: { ...stages, reviewer: "reviewer" } });
  const text = `export default () => ({ async afterTodo(_plan, ctx) { await ctx.runAgent("Look at it."); } });`;
  addPlugin(project, "review", text);
}

/** A plugin that takes longer than others wait for it. */
export function addSlowPlugin(project: Project): void {
  const text = `import { setTimeout } from "node:timers/promises";
    export default () => ({ async onEvent() { await setTimeout(2600); } });`;
  addPlugin(project, "slow", text);
}

/** A bridge that brings one event that cannot be taken, and knows how to repair it. */
function addWrongBridge(project: Project): void {
  mkdirSync(join(project.root, "plugins"), { recursive: true });
  const event = `{ id: "wrong-1", type: "note.made", severity: "loud", title: "", body: "" }`;
  const text = `export default () => ({
    name: "wrong",
    events: () => ({ events: [${event}], state: 1 }),
    repair: (_ctx, item) => ({ ...item, severity: "info" }),
  });`;
  writeFileSync(join(project.root, "plugins", "wrong.ts"), text);
  project.config({ globalBridges: { wrong: { module: "./plugins/wrong.ts" } } });
}

/** What a poll brought and could not be taken comes in once after `retry`, however often that is cut off. */
export const revived: Scenario = async (project, point) => {
  addWrongBridge(project);
  const plans = twoPlans(project);
  await finish(project);
  const letters = async () => JSON.parse((await project.cli(["status", "--json"])).stdout).dead.letters;
  assert.equal((await letters()).length, 1);
  assert.equal((await project.cli(["retry", "--all"])).code, 0);
  await crash(project, point);
  assert.deepEqual(await letters(), []);
  const { stdout } = await project.cli(["events", "--json"]);
  assert.equal(stdout.split('"wrong-1"').length - 1, 1, stdout);
  return { plans };
};

/** A reviewer after each TODO or at the end, that always says the same and changes what it must not. */
export function addReviewStage(project: Project, review: "todo" | "end", verdict: string): void {
  const { agents, stages, limits } = project.config() as Record<string, Record<string, { env: object }>>;
  const reviewer = { ...agents?.chaos, env: { ...agents?.chaos?.env, VERDICT: verdict } };
  project.config({
    review,
    agents: { ...agents, reviewer },
    stages: { ...stages, reviewer: "reviewer" },
    limits: { ...limits, reviewRounds: 1 },
  });
}
