import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GateRecord } from "../../../src/gate/gate-record.ts";
import type { Project } from "../../testing/project.ts";
import { addScripted, issue } from "../../testing/scripted-tracker.ts";
import type { CrashPoint } from "./crash-points.ts";
import { crash, finish, type Scenario, twoPlans } from "./scenario.ts";

const IDS = ["first", "second"];

/** Two plans are shown, approved and implemented; a kill at any point of that repeats and forgets nothing. */
const gated: Scenario = async (project, point) => {
  project.config({ gates: { plan: true, advisory: true } });
  const plans = twoPlans(project);
  if (point.name === "gate:decided") {
    await finish(project);
    await answerKilled(project, point);
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
  for (const id of IDS) await onceEach(project, id, point.name === "gate:reminded" ? 1 : 0);
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
    await onceEach(project, id, 0);
    assert.equal(project.record(id).changeRequest?.ready, true);
  }
  return { plans };
};

async function answerKilled(project: Project, point: CrashPoint): Promise<void> {
  const { signal, stderr } = await project.cli(["approve", "first"], { [point.variable]: point.name });
  assert.equal(signal, "SIGKILL", stderr);
}

function ageGates(project: Project): void {
  const folder = join(project.authority, "gates");
  for (const name of readdirSync(folder)) {
    const gate = JSON.parse(readFileSync(join(folder, name), "utf8")) as GateRecord;
    writeFileSync(join(folder, name), JSON.stringify({ ...gate, openedAt: "2026-01-01T00:00:00.000Z" }));
  }
}

/** One gate, one post, one answer, one notice, and as many reminders as were due. */
async function onceEach(project: Project, id: string, reminders: number): Promise<void> {
  const shown = await project.cli(["show", id, "--json"]);
  const { thread, gates } = JSON.parse(shown.stdout) as { thread: { body: string }[]; gates: GateRecord[] };
  assert.deepEqual(
    gates.map(({ state, told, reminders: done }) => [state, told, done]),
    [["approved", "approved", reminders]],
  );
  const posts = thread.map(({ body }) => body.slice(0, 12)).sort();
  assert.deepEqual(posts, [gates[0]?.kind === "pr" ? "**The change" : "**The plan w", "approved by "]);
  const actions = readFileSync(join(project.authority, "plans", id, "bus", "settled.jsonl"), "utf8");
  assert.equal(actions.split(`"gate-${gates[0]?.gateId}-notice"`).length - 1 > 0, true);
  const sent = readFileSync(join(project.authority, "plans", id, "bus", "actions.jsonl"), "utf8");
  const notices = sent.split("\n").filter((line) => line.includes('"type":"notification"'));
  assert.equal(notices.length, 1 + reminders, "one notification for a gate, and one for each reminder");
  const events = readFileSync(join(project.authority, "bus", "events.jsonl"), "utf8");
  for (const type of ["gate_opened", "gate_decided"])
    assert.equal(events.split("\n").filter((line) => line.includes(type) && line.includes(`"${id}"`)).length, 1, type);
}

/** By the points that they pass. */
export const GATE_SCENARIOS: Readonly<Record<string, Scenario>> = {
  "gate:decided": gated,
  "gate:opened": gated,
  "gate:posted": gated,
  "gate:reminded": gated,
  "gate:told": gated,
  "gate:written": gated,
  "pr-gate:opened": prGated,
  "status:told": writtenBack,
};
