import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GateRecord } from "../../../src/gate/gate-record.ts";
import { identityOf } from "../../../src/kernel/system/process-tree.ts";
import type { Project } from "../../testing/project.ts";
import { addScripted, issue } from "../../testing/scripted-tracker.ts";
import { crash, crashCommand, finish, killedAt, type Scenario, succeed, twoPlans } from "./scenario.ts";

const IDS = ["first", "second"];

/** Two plans are shown, approved and implemented; a kill at any point of that repeats and forgets nothing. */
const gated: Scenario = async (project, point) => {
  project.config({ gates: { plan: true, advisory: true } });
  const plans = twoPlans(project);
  if (point.name === "gate:decided") {
    await finish(project);
    await crashCommand(project, point, ["approve", "first"]);
  } else {
    if (point.name === "gate:reminded") {
      await finish(project);
      ageGates(project);
    }
    await crash(project, point);
  }
  for (const id of IDS) {
    assert.equal(
      project.record(id).runs,
      point.name === "gate:decided" && id === "first" ? project.record(id).runs : 0,
    );
    const { code, stderr } = await project.cli(["approve", id]);
    const isLate = /is approved by/.test(stderr);
    assert.ok(code === 0 || isLate, stderr);
  }
  await finish(project);
  const reminders = point.name === "gate:reminded" ? 1 : 0;
  for (const id of IDS) await onceEach(project, id, [["approved", reminders]]);
  return { plans };
};

/** Two plans from a tracker: their source is told of each step once, in one comment for each. */
const writtenBack: Scenario = async (project, point) => {
  const tracker = addScripted(project);
  const plans = twoPlans(project);
  for (const id of IDS) project.plan(id, ["make one"], issue(id));
  await crash(project, point);
  for (const id of IDS) {
    const shown = tracker.shown(id).map(({ body }) => [...body.matchAll(/^- .* UTC: (.*)$/gm)].map(([, line]) => line));
    assert.deepEqual(shown, [
      ["the plan is complete", "the plan is being implemented", "all TODOs are done, and the change waits for review"],
    ]);
  }
  return { plans };
};

/**
 * The same for the way back: an approval is told, and taken back when the worker is about to start, by a command that is killed
 * or under a dispatcher that is; then it is given again.
 */
export const takenBack: Scenario = async (project, point) => {
  project.config({ gates: { plan: true, advisory: true } });
  const [first] = twoPlans(project).slice(0, 1);
  assert.ok(first);
  await succeed(project, ["delete", "second", "--yes"]);
  await finish(project);
  await succeed(project, ["approve", "first"]);
  await killedAt(project, { name: "run:prepared", variable: "PRLOOM_CRASH_AT" });
  if (point.name === "gate:decided") {
    await crashCommand(project, point, ["withdraw", "first"]);
    const { code, stderr } = await project.cli(["withdraw", "first"]);
    assert.ok(code === 0 || /is withdrawn by/.test(stderr), stderr);
    await finish(project);
  } else {
    await succeed(project, ["withdraw", "first"]);
    await crash(project, point);
  }
  assert.deepEqual(project.commits("first"), [], "nothing is done of what was taken back");
  await succeed(project, ["approve", "first"]);
  await finish(project);
  await onceEach(project, "first", [
    ["withdrawn", 0, 2],
    ["approved", 0],
  ]);
  return { plans: [first], neverBegun: ["second"] };
};

/** Two changes are shown, approved and ready. Where the decision itself is killed, the answer is given again. */
const prGated: Scenario = async (project, point) => {
  project.config({ gates: { pr: true, advisory: true } });
  const plans = twoPlans(project);
  await crash(project, point);
  for (const id of IDS) {
    assert.equal(project.record(id).changeRequest?.ready, false);
    const { code, stderr } = await project.cli(["approve", id]);
    assert.equal(code, 0, stderr);
  }
  await finish(project);
  for (const id of IDS) {
    await onceEach(project, id, [["approved", 0]]);
    assert.equal(project.record(id).changeRequest?.ready, true);
  }
  return { plans };
};

/** Two plans wait at gates that are then switched off: they are implemented, and what became of the gates is told once. */
const switchedOff: Scenario = async (project, point) => {
  project.config({ gates: { plan: true, advisory: true } });
  const plans = twoPlans(project);
  await finish(project);
  project.config({ gates: {} });
  await crash(project, point);
  for (const id of IDS) await onceEach(project, id, [["revised", 0, 1]], 0);
  return { plans };
};

/** An approval is taken back while a person has an agent open: that one is ended, whatever is killed meanwhile. */
const openedBefore: Scenario = async (project, point) => {
  project.config({ gates: { plan: true, advisory: true } });
  const plans = twoPlans(project);
  await finish(project);
  await succeed(project, ["approve", "first"]);
  const state = join(project.authority, "plans", "first", "state.json");
  const record = JSON.parse(readFileSync(state, "utf8")) as { uid: string };
  const agent = spawn("sleep", ["600"], { env: { ...process.env, PRLOOM_RUN_ID: `${record.uid}/open` } });
  const ended = once(agent, "exit");
  const who = identityOf(agent.pid ?? 0);
  const opened = { ...who, at: new Date().toISOString(), implements: true };
  writeFileSync(state, JSON.stringify({ ...record, opened }));
  await crashCommand(project, point, ["withdraw", "first"]);
  await finish(project);
  await ended;
  for (const id of IDS) await succeed(project, ["approve", id]);
  await finish(project);
  return { plans };
};

function ageGates(project: Project): void {
  const folder = join(project.authority, "gates");
  for (const name of readdirSync(folder)) {
    const gate = JSON.parse(readFileSync(join(folder, name), "utf8")) as GateRecord;
    writeFileSync(join(folder, name), JSON.stringify({ ...gate, openedAt: "2026-01-01T00:00:00.000Z" }));
  }
}

type Ended = readonly [state: GateRecord["state"], reminders: number, answers?: number];

/** Of each gate one post, one answer (none where it was not answered), one notice, and as many reminders as were due; of the plan one start. */
async function onceEach(project: Project, id: string, expected: readonly Ended[], answered = 1): Promise<void> {
  const shown = await project.cli(["show", id, "--json"]);
  const { thread, gates } = JSON.parse(shown.stdout) as { thread: { body: string }[]; gates: GateRecord[] };
  assert.deepEqual(
    gates.map(({ state, told, reminders }) => [state, told, reminders]),
    expected.map(([state, reminders]) => [state, state, reminders]),
  );
  const count = (part: string): number => thread.filter(({ body }) => body.includes(part)).length;
  for (const [at, { gateId }] of gates.entries()) {
    assert.equal(count(`waits for your answer** (gate ${gateId}`), 1, "posts");
    assert.equal(count(`(gate ${gateId})`), answered * (expected[at]?.[2] ?? 1), "what became of it");
  }
  const bus = join(project.authority, "plans", id, "bus");
  const actions = readFileSync(join(bus, "actions.jsonl"), "utf8").split("\n");
  const notices = gates.flatMap(({ gateId, reminders }) => [
    `gate-${gateId}-notice`,
    ...Array.from({ length: reminders }, (_, at) => `gate-${gateId}-reminder-${at + 1}`),
  ]);
  const notified = actions.filter((line) => line.includes('"type":"notification"'));
  assert.equal(notified.length, notices.length, "notifications");
  for (const notice of notices)
    assert.ok(
      notified.some((line) => line.includes(`"${notice}"`)),
      notice,
    );
  const events = readFileSync(join(project.authority, "bus", "events.jsonl"), "utf8").split("\n");
  const told = (type: string): number =>
    events.filter((line) => line.includes(`"${type}"`) && line.includes(`"planId":"${id}"`)).length;
  assert.equal(told("gate_opened"), gates.length);
  assert.equal(
    told("gate_decided"),
    expected.reduce((sum, [, , answers = 1]) => sum + answers, 0),
  );
  assert.equal(project.commits(id).length, 1);
  const runs = readdirSync(join(project.authority, "plans", id, "runs"));
  const started = runs.filter((run) => existsSync(join(project.authority, "plans", id, "runs", run, "exit.json")));
  assert.equal(started.length, 1, "starts");
}

/** By the points that they pass. */
export const GATE_SCENARIOS: Readonly<Record<string, Scenario>> = {
  "gate:decided": gated,
  "gate:dropped": switchedOff,
  "gate:opened": gated,
  "gate:posted": gated,
  "gate:reminded": gated,
  "gate:told": gated,
  "gate:written": gated,
  "opened:ending": openedBefore,
  "pr-gate:opened": prGated,
  "status:told": writtenBack,
};
