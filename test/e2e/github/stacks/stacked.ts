import assert from "node:assert/strict";
import type { Issue, Pull } from "../../../testing/github/world.ts";
import type { Project } from "../../../testing/project.ts";
import type { PublishingProject } from "../publishing-project.ts";

/** Of a plan that is stacked on `lower`. */
export const STACKED = { status: "queued", metadata: { dependsOn: ["lower"], stack: true } };

/** `upper` is stacked on `lower`, and both are in review. */
export async function stacked(made: PublishingProject): Promise<PublishingProject> {
  const { project, work } = made;
  project.plan("lower", ["make one"]);
  project.plan("upper", ["make two"], STACKED);
  await work();
  for (const id of ["lower", "upper"]) assert.equal(project.record(id).status, "review", id);
  assert.equal(made.pulls().length, 2);
  return made;
}

export const head = (project: Project, id: string): string => project.git("rev-parse", `prloom/${id}`).trim();

/** The newest pull request of a plan. */
export function pullOf({ pulls }: PublishingProject, id: string): Issue & { pull: Pull } {
  const found = pulls().findLast(({ pull }) => pull?.head.branch === `prloom/${id}`);
  assert.ok(found?.pull, `${id} has no pull request`);
  return found as Issue & { pull: Pull };
}

/** The upper plan is on main with its own commit alone, is published so, and has its pull request. */
export async function assertAlone(made: PublishingProject): Promise<void> {
  const { project: one, there, cli } = made;
  const { status, blocked, stack, behind, baseBranch, published } = one.record("upper");
  assert.deepEqual(
    { status, blocked, stack, behind, baseBranch, trouble: published?.trouble },
    {
      status: "review",
      blocked: undefined,
      stack: undefined,
      behind: undefined,
      baseBranch: "main",
      trouble: undefined,
    },
  );
  const main = there("main") ?? "";
  assert.equal(one.git("log", "--format=%s", `${main}..prloom/upper`).trim().split("\n").length, 1);
  assert.equal(one.git("merge-base", main, "prloom/upper").trim(), main);
  assert.equal(there("prloom/upper"), head(one, "upper"));
  const pull = pullOf(made, "upper");
  assert.deepEqual([pull.state, pull.pull.base.branch, pull.pull.isDead], ["open", "main", false]);
  assert.doesNotMatch((await cli("status")).stdout, /stacked on/);
}
