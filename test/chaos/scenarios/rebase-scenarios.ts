import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "../../testing/project.ts";
import type { ExpectedPlan } from "../invariants/invariants.ts";
import { comment, crash, crashCommand, finish, type Scenario, succeed, twoPlans } from "./scenario.ts";

/** Base has a commit that the plans' branches do not have, with a file: what their checks have seen is not checked again. */
export function moveBase(project: Project): void {
  appendFileSync(join(project.root, "more.txt"), "more\n");
  project.git("add", "more.txt");
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-q", "-m", "more");
}

export const rebased: Scenario = async (project, point) => {
  const [first, second] = twoPlans(project) as [ExpectedPlan, ExpectedPlan];
  await finish(project);
  moveBase(project);
  const said = [await comment(project, "first", "rebase")];
  await crash(project, point);
  return { plans: [{ ...first, said }, second] };
};

/** A person's command is killed; the next start goes on with it. */
export const rebaseAsked: Scenario = async (project, point) => {
  const plans = twoPlans(project);
  await finish(project);
  moveBase(project);
  for (const name of [point.name, "rebase:rebased"]) {
    await crashCommand(project, { ...point, name }, ["rebase", "first"]);
    await finish(project);
    assert.equal(project.git("rev-parse", "prloom/first^"), project.git("rev-parse", "main"));
    moveBase(project);
  }
  return { plans };
};

/** A plan that is done, and whose first commit conflicts with what base got meanwhile. */
export async function conflicting(
  project: Project,
  how: string,
  ask = (): Promise<unknown> => succeed(project, ["rebase", "first"]),
): Promise<ExpectedPlan[]> {
  const { agents } = project.config() as { agents: { chaos: { env: object } } };
  project.config({ agents: { chaos: { ...agents.chaos, env: { ...agents.chaos.env, RESOLVE: how } } } });
  const plans = twoPlans(project, ["make one", "make two"]);
  await finish(project);
  writeFileSync(join(project.root, "work-first.txt"), "of a person\n");
  project.git("add", "work-first.txt");
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "the same file");
  await ask();
  return plans;
}

/** A comment asks for the rebase, and is told how it ended. */
export const told: Scenario = async (project, point) => {
  const said: ExpectedPlan["said"][number][] = [];
  const ask = async () => said.push(await comment(project, "first", "rebase"));
  const [first, second] = (await conflicting(project, "keeps-own", ask)) as [ExpectedPlan, ExpectedPlan];
  await crash(project, point);
  return { plans: [{ ...first, said }, second] };
};

export const resolved: Scenario = async (project, point) => {
  const plans = await conflicting(project, "keeps-own");
  await crash(project, point);
  assert.equal(project.git("merge-base", "main", "prloom/first"), project.git("rev-parse", "main"));
  assert.equal(project.git("-C", project.worktree("first"), "status", "--porcelain"), "");
  return { plans };
};

export const givenUp: Scenario = async (project, point) => {
  const plans = await conflicting(project, "gives-up");
  const before = project.git("rev-parse", "prloom/first");
  await crash(project, point);
  assert.equal(project.git("rev-parse", "prloom/first"), before);
  assert.equal(project.git("-C", project.worktree("first"), "status", "--porcelain"), "");
  await succeed(project, ["unblock", "first"]);
  await finish(project);
  return { plans };
};

/** The checks of a merge are what the worktree holds for a while. */
export const checkedMerge: Scenario = async (project, point) => {
  const [, second] = twoPlans(project) as [ExpectedPlan, ExpectedPlan];
  project.config({ checks: ["true"] });
  await finish(project);
  moveBase(project);
  await crashCommand(project, point, ["merge", "first"]);
  await finish(project);
  await succeed(project, ["merge", "first"]);
  await finish(project);
  return { plans: [second], ended: ["first"], endedWithWorktree: ["first"] };
};
