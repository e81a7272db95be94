import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import type { Daemon } from "../../testing/daemon.ts";
import { story } from "../../testing/story.ts";
import { type Line, makeExtended } from "../fixtures/extended.ts";

const actor = (name: string) => ({ module: "./plugins/actor.ts", config: { name } });
const project = makeExtended({
  config: {
    cleanAfter: "0s",
    plugins: { alpha: actor("alpha") },
    globalPlugins: { gamma: actor("gamma") },
    globalBridges: { hub: { module: "./plugins/feed.ts", config: { name: "hub" } } },
  },
});
const gate = join(project.home, "gate");
mkdirSync(gate);
const { test: agent } = project.config().agents as Record<string, Record<string, unknown>>;
project.config({ agents: { test: { ...agent, env: { GATE: gate } } } });
after(() => project.remove());

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const inboxFile = (id: string): string => join(project.inbox, `${id}.md`);
const TEXT = "## Title\n\nA plan\n\n## TODO\n\n- [ ] one\n- [ ] two\n";
let daemon: Daemon;

/** What plugins were told about a plan so far: `type context`, without what all have. */
async function toldOf(id: string): Promise<{ type: string; context: Line }[]> {
  const events = (await project.log(undefined)) as { type: string; context?: Line }[];
  return events.flatMap(({ type, context = {} }) => (context.planId === id ? [{ type, context }] : []));
}
/** Resolves when so many events about a plan were heard by the global plugin. */
const heard = (about: string, type: string, count = 1) => project.heard({ who: "gamma", about, type }, count);
const upsert = (id: string, planMarkdown: string, more: object = {}) => ({
  target: { target: "prloom-core" },
  payload: { type: "upsert_plan" as const, source: { system: "board", kind: "card", id }, planMarkdown, ...more },
});

const step = story("what is told about plans, from the first to the last");

step("a plan that appears is told of once, however it was made", async () => {
  daemon = await project.start();
  await project.type("new", "By command");
  project.planFile("dropped", TEXT, { status: "draft" });
  project.feedActions("hub", undefined, upsert("7", TEXT, { title: "A card" }));
  await heard("by-command", "plan_created");
  await heard("dropped", "plan_created");
  const { plans } = await project.status();
  const card = plans.find(({ source }) => source?.id === "7")?.planId ?? "";
  await heard(card, "plan_created");
  const [told, ...more] = await toldOf(card);
  assert.deepEqual(more, []);
  assert.deepEqual(told?.context, {
    planId: card,
    source: { system: "board", kind: "card", id: "7" },
    location: "inbox",
    status: "draft",
    hash: hashOf(readFileSync(inboxFile(card), "utf8")),
  });
  assert.equal((await toldOf("dropped"))[0]?.context.hash, hashOf(TEXT));
});

step("an editor's change is told with both hashes; ticks do not change the digest", async () => {
  const ticked = TEXT.replace("- [ ] one", "- [x] one");
  const other = TEXT.replace("one", "another");
  for (const [index, text] of [ticked, other, TEXT].entries()) {
    writeFileSync(inboxFile("dropped"), text);
    await heard("dropped", "plan_edited", index + 1);
  }
  const edits = (await toldOf("dropped")).filter(({ type }) => type === "plan_edited");
  assert.deepEqual(
    edits.map(({ context: { oldHash, newHash, digestChanged, location } }) => [
      oldHash,
      newHash,
      digestChanged,
      location,
    ]),
    [
      [hashOf(TEXT), hashOf(ticked), false, "inbox"],
      [hashOf(ticked), hashOf(other), true, "inbox"],
      [hashOf(other), hashOf(TEXT), true, "inbox"],
    ],
  );
});

step("what happened without a dispatcher is told by the next one; no change means no event", async () => {
  await daemon.end("SIGKILL");
  const before = (await project.log(undefined)).length;
  assert.equal((await project.work()).code, 0);
  assert.equal((await project.log(undefined)).length, before, "a restart alone tells nothing");
  writeFileSync(inboxFile("dropped"), TEXT.replace("two", "three"));
  project.planFile("meanwhile", TEXT, { status: "draft" });
  rmSync(inboxFile("by-command"));
  assert.equal((await project.work()).code, 0);
  assert.equal((await toldOf("dropped")).length, 5);
  assert.deepEqual(
    (await toldOf("meanwhile")).map(({ type }) => type),
    ["plan_created"],
  );
  const [, gone] = await toldOf("by-command");
  assert.deepEqual([gone?.type, gone?.context.reason], ["plan_deleted", "file_removed"]);
  daemon = await project.start();
});

step("a whole life is a chain of statuses without a gap; activation is a status change only", async () => {
  await project.type("queue", "dropped");
  await heard("dropped", "plan_status_changed", 3);
  await project.type("comment", "dropped", "Well done.");
  await heard("dropped", "plan_status_changed", 5);
  await project.type("merge", "dropped");
  await heard("dropped", "plan_deleted");
  const life = (await toldOf("dropped")).slice(5);
  const statuses = life.flatMap(({ type, context }) =>
    type === "plan_status_changed" ? [`${context.oldStatus} → ${context.newStatus}`] : [],
  );
  assert.deepEqual(statuses, [
    "draft → queued",
    "queued → active",
    "active → review",
    "review → triaging",
    "triaging → review",
    "review → done",
  ]);
  const phases = life.filter(({ type }) => type === "plan_phase_changed");
  assert.deepEqual(
    phases.map(({ context }) => context.newPhase),
    ["planning_complete", "implementing"],
  );
  const others = life.filter(({ type }) => type !== "plan_status_changed" && type !== "plan_phase_changed");
  assert.deepEqual(others.at(-1)?.context.reason, "cleaned");
  assert.deepEqual(
    others.slice(0, -1).map(({ type, context }) => [type, context.location]),
    Array(2).fill(["plan_edited", "worktree"]),
    "one edit for each tick",
  );
});

step("an upsert during a run waits for its end, and is told once; so is a person's edit", async () => {
  const text = (...todos: string[]) =>
    `## Title\n\nBusy\n\n## TODO\n\n${todos.map((todo) => `- [ ] ${todo}\n`).join("")}`;
  project.feedActions("hub", undefined, upsert("8", text("[waits] one"), { title: "Busy", status: "queued" }));
  const { planId } = await project
    .heard({ hook: "beforeTodo", who: "alpha", todo: "[waits] one" })
    .then(([line]) => line as { planId: string });
  await daemon.said(planId, /worker started/);
  const before = project.planText(planId);
  project.feedActions("hub", undefined, upsert("8", text("[waits] one", "two")));
  // Another source's upsert does not wait for it; when that one is through, this one has been looked at.
  const created = project.journal({ who: "gamma", type: "plan_created" }).length;
  project.feedActions("hub", undefined, upsert("9", TEXT, { title: "Other" }));
  await project.heard({ who: "gamma", type: "plan_created" }, created + 1);
  assert.equal(project.planText(planId), before);
  writeFileSync(join(gate, planId), "go on\n");
  await project.heard({ hook: "beforeTodo", who: "alpha", todo: "two" });
  await project.heard({ hook: "afterFinish", who: "alpha", planId });
  assert.deepEqual(project.commits(planId), ["[waits] one", "two"]);
  const edits = (await toldOf(planId)).filter(({ type }) => type === "plan_edited");
  assert.deepEqual(
    edits.map(({ context }) => context.digestChanged),
    [false, true, false],
    "tick, upsert, tick",
  );
  const mine = join(project.home, "mine.md");
  writeFileSync(mine, `${project.planText(planId)}\n## Notes\n\nMine\n`);
  await project.type("edit", planId, "--file", mine);
  await heard(planId, "plan_edited", 4);
});

step("a deleted plan is told of as deleted", async () => {
  await project.type("delete", "meanwhile");
  await heard("meanwhile", "plan_deleted");
  assert.equal((await toldOf("meanwhile")).at(-1)?.context.reason, "deleted");
});

step("all numbers of a plan are there, in order, and each was heard once by global plugins only", async () => {
  const ended = await daemon.end();
  assert.equal(ended.code, 0, ended.stderr);
  const events = (await project.log(undefined)).map(({ id }) => String(id));
  const numbers = new Map<string, number[]>();
  for (const id of events) {
    const [, uid = "", seq, phase] = /^plan_[a-z_]+-(\w+)-(\d+)(-\w+)?$/.exec(id) ?? assert.fail(id);
    // Phases are counted by themselves.
    const series = phase === undefined ? uid : `${uid} phases`;
    numbers.set(series, [...(numbers.get(series) ?? []), Number(seq)]);
  }
  assert.ok(numbers.size > 5, `only ${numbers.size} plans were told of`);
  for (const [uid, seqs] of numbers)
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => index + 1),
      uid,
    );
  const told = project.journal({ hook: "onGlobalEvent" }).map(({ event }) => event);
  assert.deepEqual(told, events);
  assert.deepEqual(
    project.journal({ hook: "onEvent" }).filter(({ type }) => String(type).startsWith("plan_")),
    [],
  );
});
