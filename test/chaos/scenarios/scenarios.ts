import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { probeSandbox } from "../../../src/agents/sandbox/probe.ts";
import { addOutside } from "../../testing/outside.ts";
import { finished } from "../../testing/project.ts";
import type { ExpectedPlan } from "../invariants/invariants.ts";
import { outsideProblems } from "../invariants/outside-invariants.ts";
import type { CrashPoint } from "./crash-points.ts";
import { FLOW_POINTS } from "./flow-points.ts";
import { GATE_SCENARIOS } from "./gate-scenario.ts";
import { edited, paused, putBack, reloaded, ticked } from "./person-scenarios.ts";
import { addReviewer, addReviewStage, addSlowPlugin, revived } from "./plugin-scenarios.ts";
import { checkedMerge, givenUp, rebaseAsked, rebased, resolved, told } from "./rebase-scenarios.ts";
import { comment, crash, crashCommand, finish, noted, plan, type Scenario, succeed, twoPlans } from "./scenario.ts";

export const work: Scenario = async (project, point) => {
  const plans = twoPlans(project);
  await crash(project, point);
  return { plans };
};

/** Runs that have homes of their own; where there is no sandbox there are none. */
const sandboxed: Scenario = async (project, point) => {
  const { agents } = project.config() as { agents: { chaos: object } };
  project.config({ agents: { chaos: { ...agents.chaos, sandbox: "auto" } } });
  const plans = twoPlans(project, ["make one", "make two"]);
  if ((await probeSandbox()).works) await crash(project, point);
  else await finish(project);
  return { plans };
};

/** Comments that are there before the design: one plan's reach the designer, and the other has none. */
const designWithWords: Scenario = async (project, point) => {
  const [first, second] = [plan(project, "first", []), plan(project, "second", [])];
  const said = [await comment(project, "first", "please make two"), await comment(project, "first", "thanks for all")];
  await crash(project, point);
  const stages = Array.from({ length: project.record("first").runs }, (_, run) => {
    const { stage } = JSON.parse(project.runFile("first", run + 1, "run.json")) as { stage: string };
    return stage;
  });
  assert.ok(!stages.includes("triage"), `what was said before the design was triaged: ${stages.join(", ")}`);
  return { plans: [{ ...first, said }, second] };
};

const talk: Scenario = async (project, point) => {
  const [first, second] = twoPlans(project) as [ExpectedPlan, ExpectedPlan];
  const said = [await comment(project, "first", "please make two"), await comment(project, "first", "thanks for all")];
  const alsoSaid = [await comment(project, "second", "please make more")];
  await crash(project, point);
  return {
    plans: [
      { ...first, said },
      { ...second, said: alsoSaid },
    ],
  };
};

/** A thread of more than one segment (8 MB), so that the next answer begins a new one. */
const longThread: Scenario = async (project, point) => {
  const plans = twoPlans(project);
  const said = [await comment(project, "first", "please make two")];
  const bus = join(project.authority, "plans", "first", "bus");
  mkdirSync(bus, { recursive: true });
  const line = (number: number): string => {
    const data = { author: "somebody", body: "x".repeat(60_000), actionId: `old-${number}` };
    const ts = new Date(number).toISOString();
    return `\n${JSON.stringify({ ts, kind: "comment", schemaVersion: 1, id: data.actionId, data })}\n`;
  };
  writeFileSync(join(bus, "thread.jsonl"), Array.from({ length: 145 }, (_, number) => line(number)).join(""));
  await crash(project, point);
  return { plans: plans.map((expected) => (expected.id === "first" ? { ...expected, said } : expected)) };
};

/** A run that is killed in the middle of its work, and then the recovery from that. */
const recovery: Scenario = async (project, point) => {
  const plans = [plan(project, "first", ["[hold] make one"]), plan(project, "second", ["make one"])];
  const dispatcher = project.spawnCli(["start", "--until-idle"]);
  const ended = finished(dispatcher);
  const halfDone = untilThere(join(project.root, "prloom", ".local", "worktrees"), join("first", "half-0"));
  await Promise.race([halfDone, ended]);
  dispatcher.kill("SIGKILL");
  await ended;
  writeFileSync(join(project.authority, "plans", "first", "runs", "go"), "");
  await crash(project, point);
  return { plans };
};

/** Waits for a file by looking whenever something in the folders above it changes. */
async function untilThere(root: string, relative: string): Promise<void> {
  let dir = root;
  mkdirSync(dir, { recursive: true });
  for (const part of relative.split("/")) {
    const path = join(dir, part);
    const watcher = watch(dir).unref();
    while (!existsSync(path)) await once(watcher, "change");
    watcher.close();
    dir = path;
  }
}

/** Every shim dies at the point, so the dispatcher is ended as soon as it has noticed the first one. */
const shim: Scenario = async (project, point) => {
  const plans = twoPlans(project);
  const dispatcher = project.spawnCli(["start", "--until-idle"], { [point.variable]: point.name });
  dispatcher.stdout?.on("data", (data) => String(data).includes("was interrupted") && dispatcher.kill("SIGKILL"));
  const result = await finished(dispatcher);
  assert.equal(result.signal, "SIGKILL", `no shim died at ${point.name}: ${result.stderr}${result.stdout}`);
  await finish(project);
  return { plans };
};

const agentSaysBlocked: Scenario = async (project, point) => {
  const plans = [plan(project, "first", ["[say-blocked] make one"]), plan(project, "second", ["make one"])];
  await crash(project, point);
  assert.match(project.record("first").blocked?.reason ?? "", /nobody said how/);
  const text = project.planText("first").replace(/- \[b\] .*\n( {2}.*\n)*/, "- [ ] make one\n");
  const file = join(project.home, "answered.md");
  writeFileSync(file, text);
  await succeed(project, ["edit", "first", "--file", file]);
  await succeed(project, ["unblock", "first"]);
  await finish(project);
  return { plans: plans.map((expected) => ({ ...expected, todos: ["make one"] })) };
};

/** One plan is finished by the dispatcher, which notices; the other by the person, who asks again. */
const merge: Scenario = async (project, point) => {
  twoPlans(project);
  await finish(project);
  await crashCommand(project, point, ["merge", "first"]);
  await finish(project);
  await crashCommand(project, point, ["merge", "second"]);
  await succeed(project, ["merge", "second"]);
  // What commands did is told by the dispatcher.
  await finish(project);
  for (const id of ["first", "second"]) {
    assert.equal(project.record(id).status, "done");
    assert.equal(project.record(id).outcome, "merged");
    assert.equal(project.git("show", `main:work-${id}.txt`), "begin make one\nmiddle make one\nend make one\n");
  }
  const subjects = project.git("log", "--format=%s", "main").trim().split("\n");
  assert.deepEqual(subjects.slice(0, -1), ["Plan second", "Plan first"]);
  return { plans: [], ended: ["first", "second"], endedWithWorktree: ["first", "second"] };
};

/** Asked for in a comment: an event, a hook, an action, and a deed of prloom's own instead of a message. */
const mergeByComment: Scenario = async (project, point) => {
  const outside = addOutside(project, 1);
  const calm = { OUTSIDE_CALM: "1" };
  const [, second] = twoPlans(project) as [ExpectedPlan, ExpectedPlan];
  await project.work(calm);
  await comment(project, "first", "/merge");
  const killed = await project.work({ ...calm, [point.variable]: point.name });
  assert.equal(killed.signal, "SIGKILL", `${point.name} was not passed: ${killed.stderr}${killed.stdout}`);
  const { code, stdout, stderr } = await project.work(calm);
  assert.equal(code, 0, `${stderr}${stdout}`);
  assert.equal(project.record("first").outcome, "merged");
  assert.deepEqual(project.git("log", "--merges", "--format=%s", "main").trim(), "Merge Plan first");
  assert.deepEqual(outsideProblems(project, outside), []);
  return { plans: [second], ended: ["first"], endedWithWorktree: ["first"] };
};

const remove: Scenario = async (project, point) => {
  const [, second] = twoPlans(project) as [ExpectedPlan, ExpectedPlan];
  await finish(project);
  await crashCommand(project, point, ["delete", "first", "--yes"]);
  await finish(project);
  await succeed(project, ["clean"]);
  assert.equal(project.record("first").deleted?.reason, "deleted");
  return { plans: [second], ended: ["first"] };
};

/** A plan that waits in the inbox: its text goes first, and whatever is left of it must not be carried out. */
const removeQueued: Scenario = async (project, point) => {
  const [, second] = twoPlans(project) as [ExpectedPlan, ExpectedPlan];
  await crashCommand(project, point, ["delete", "first", "--yes"]);
  await finish(project);
  assert.equal(project.record("first").deleted?.reason, "file_removed");
  assert.equal(project.record("first").runs, 0);
  return { plans: [second], neverBegun: ["first"] };
};

const clean: Scenario = async (project, point) => {
  const [, second] = twoPlans(project) as [ExpectedPlan, ExpectedPlan];
  await finish(project);
  await succeed(project, ["merge", "first"]);
  await crashCommand(project, point, ["clean", "first"]);
  await succeed(project, ["clean"]);
  await finish(project);
  return { plans: [second], ended: ["first"] };
};

/** Git forgot the worktree of a plan, which is blocked for it and then unblocked. */
const forgotten: Scenario = async (project, point) => {
  const plans = twoPlans(project);
  await finish(project);
  rmSync(join(project.root, ".git", "worktrees", "first"), { recursive: true });
  await succeed(project, ["block", "first", "looks wrong"]);
  await crashCommand(project, point, ["unblock", "first"]);
  await succeed(project, ["unblock", "first"]);
  await finish(project);
  return { plans };
};

const review: Scenario = async (project, point) => {
  addReviewer(project);
  return work(project, point);
};

/** Asks for changes for as long as it may, so what it says first becomes a TODO, and then words. */
const reviewAtEnd: Scenario = async (project, point) => {
  addReviewStage(project, "end", "request_changes");
  const { plans } = await work(project, point);
  for (const { id } of plans) {
    const { stdout } = await project.cli(["show", id, "--json"]);
    const { thread } = JSON.parse(stdout) as { thread: { body: string }[] };
    const words = thread.filter(({ body }) => body.startsWith("Review: "));
    assert.equal(words.length, 1, `${id}: the findings are in the thread ${words.length} times`);
  }
  return { plans: plans.map((one) => ({ ...one, todos: [...one.todos, "Address the review: look again"] })) };
};

const slowPlugin: Scenario = async (project, point) => {
  addSlowPlugin(project);
  return talk(project, point);
};

/** Points that ordinary work on two plans does not pass, and what does. A new one that is not here must be passed by it. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...GATE_SCENARIOS,
  "poll:revived-appended": revived,
  "poll:revived-settled": revived,
  "bus.rolled": longThread,
  "clean:removed": clean,
  "delete:inbox": removeQueued,
  "delete:marked": remove,
  "design:given": designWithWords,
  "design:settled": designWithWords,
  "design:written": designWithWords,
  "done:due": talk,
  "done:told": talk,
  "edit:written": edited,
  "events:taken": talk,
  "home:kept": sandboxed,
  "home:old": sandboxed,
  "hook-agent:kept": review,
  "hook-agent:restored": review,
  "hook:hurried": slowPlugin,
  "hook:put-off": slowPlugin,
  "local:acted": mergeByComment,
  "merge:merged": merge,
  "merge:placed": checkedMerge,
  "merge:written": mergeByComment,
  "pause:noted": paused,
  "put-back:removed": putBack,
  "rebase:begun": rebaseAsked,
  "rebase:committed": resolved,
  "rebase:conflict": resolved,
  "rebase:moved": resolved,
  "rebase:placed": resolved,
  "rebase:rebased": rebased,
  "rebase:told": told,
  "rebase:undone": givenUp,
  "rebase:whole": resolved,
  "recover:ended": recovery,
  "recover:reset": recovery,
  "recover:survivors-ended": recovery,
  "reload:taken": reloaded,
  "ticked:judged": ticked,
  "resolve:judged": resolved,
  "review:posted": reviewAtEnd,
  "review:todos": reviewAtEnd,
  "shim-exit": shim,
  "shim-recorded": shim,
  "shim-spawned": shim,
  "side:left": reviewAtEnd,
  "triage:settled": talk,
  "triage:todos": talk,
  "verify:todo-blocked": agentSaysBlocked,
  "blocked:told": agentSaysBlocked,
  "watchdog:counted": noted,
  "worktree:forgotten": clean,
  "worktree:kept": clean,
  "worktree:readmitted": forgotten,
};

export function scenarioFor(point: CrashPoint): Scenario {
  return SCENARIOS[point.name] ?? (point.variable === "PRLOOM_SHIM_CRASH_AT" ? shim : work);
}

/** Names in the tables that no longer are in the source. */
export function staleScenarios(points: readonly CrashPoint[]): string[] {
  return [...Object.keys(SCENARIOS), ...FLOW_POINTS].filter((name) => points.every((point) => point.name !== name));
}
