import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "../../testing/project.ts";
import { THOROUGH } from "../../testing/thorough.ts";
import type { Expected, ExpectedPlan } from "../invariants/invariants.ts";
import type { CrashPoint } from "./crash-points.ts";

/** Makes two plans, lets the named point kill the process that passes it, and goes on until all is done again. */
export type Scenario = (project: Project, point: CrashPoint) => Promise<Expected>;

export function plan(project: Project, id: string, todos: readonly string[]): ExpectedPlan {
  project.plan(id, todos);
  return { id, todos: todos.length > 0 ? todos : ["designed one", "designed two"], said: [] };
}

/** A home is new for the first TODO of a plan, and kept from then on. */
export function twoPlans(project: Project, todos: readonly string[] = ["make one"]): ExpectedPlan[] {
  return [plan(project, "first", todos), plan(project, "second", todos)];
}

export async function finish(project: Project): Promise<void> {
  const result = await project.work();
  assert.equal(result.code, 0, `the start after the kill failed: ${result.stderr}${result.stdout}`);
}

export async function killedAt(project: Project, point: CrashPoint): Promise<void> {
  const { signal, stdout, stderr } = await project.work({ [point.variable]: point.name });
  assert.equal(signal, "SIGKILL", `${point.name} was not passed: ${stderr}${stdout}`);
}

/** Killed at the first passage, in the whole run also at the second if there still is one, then left alone. */
export async function crash(project: Project, point: CrashPoint): Promise<void> {
  await killedAt(project, point);
  if (THOROUGH) {
    const second = await project.work({ [point.variable]: `${point.name}:2` });
    assert.ok(second.signal === "SIGKILL" || second.code === 0, `${second.stderr}${second.stdout}`);
  }
  await finish(project);
}

/** The dispatcher before was ended by its watchdog, while it was at the first plan. */
export const noted: Scenario = async (project, point) => {
  const plans = twoPlans(project);
  const note = { schemaVersion: 1, at: new Date().toISOString(), label: "verify", plan: "first", blockedMs: 30_000 };
  mkdirSync(project.authority, { recursive: true });
  writeFileSync(join(project.authority, "watchdog.json"), JSON.stringify(note));
  await crash(project, point);
  return { plans };
};

export async function crashCommand(project: Project, point: CrashPoint, args: readonly string[]): Promise<void> {
  const result = await project.cli(args, { [point.variable]: point.name });
  assert.equal(result.signal, "SIGKILL", `${point.name} was not passed: ${result.stderr}${result.stdout}`);
}

export async function succeed(project: Project, args: readonly string[]): Promise<void> {
  const result = await project.cli(args);
  assert.equal(result.code, 0, `${args.join(" ")}: ${result.stderr}${result.stdout}`);
}

export async function comment(project: Project, id: string, body: string): Promise<{ body: string; confirmed: true }> {
  await succeed(project, ["comment", id, body]);
  return { body, confirmed: true };
}
