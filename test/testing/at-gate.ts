import assert from "node:assert/strict";
import type { GateRecord } from "../../src/gate/gate-record.ts";
import { makeProject, type Project, type ProjectOptions } from "./project.ts";

/** What `prloom show --json` says of a plan with gates. */
export interface ShownPlan {
  readonly gates: readonly GateRecord[];
  readonly thread: readonly { readonly author: string; readonly body: string }[];
  readonly phase?: string;
}

export async function showPlan(project: Project, id = "shop"): Promise<ShownPlan> {
  return JSON.parse((await project.cli(["show", id, "--json"])).stdout) as ShownPlan;
}

export async function gateStates(project: Project, id = "shop"): Promise<string[]> {
  return (await showPlan(project, id)).gates.map(({ state }) => state);
}

export async function succeeds(project: Project, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await project.cli(args);
  assert.equal(code, 0, `${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}

export async function killed(project: Project, point: string, ...args: string[]): Promise<void> {
  const { signal, stdout, stderr } = await project.cli(args, { PRLOOM_CRASH_AT: point });
  assert.equal(signal, "SIGKILL", `${point} was not passed: ${stderr}${stdout}`);
}

export async function untilIdle(project: Project): Promise<void> {
  await succeeds(project, "start", "--until-idle");
}

/** A project with gates, and one plan, `shop`, that waits at its gate. */
export async function waitingAtGate(
  todos: readonly string[] = ["make one"],
  { gates = {}, ...options }: ProjectOptions & { readonly gates?: object } = {},
): Promise<Project> {
  const config = { ...options.config, gates: { plan: true, advisory: true, ...gates } };
  const project = makeProject({ ...options, config });
  project.plan("shop", todos);
  await untilIdle(project);
  return project;
}
