import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import type { NewAction } from "../../../src/hooks/contexts/event-types.ts";
import { story } from "../../testing/story.ts";
import { thorough } from "../../testing/thorough.ts";
import { makeExtended, WRITER } from "../fixtures/extended.ts";

const actor = (name: string) => ({ module: "./plugins/actor.ts", config: { name, only: ["beforeUpsert"] } });
const hub = { module: "./plugins/feed.ts", config: { name: "hub" } };
const project = makeExtended({
  config: { globalBridges: { hub }, globalPlugins: { delta: actor("delta"), gamma: actor("gamma") } },
});
after(() => project.remove());

type Upsert = Record<string, unknown>;
const sourceOf = (id: string) => ({ system: "board", kind: "card", id });
const upsert = (id: string, more: Upsert = {}): NewAction => ({
  target: { target: "prloom-core" },
  payload: { type: "upsert_plan", source: sourceOf(id), ...more } as never,
});
async function bring(...actions: NewAction[]): Promise<string> {
  project.feedActions("hub", undefined, ...actions);
  const { code, stdout, stderr } = await project.work();
  assert.equal(code, 0, stdout + stderr);
  return stdout + stderr;
}
async function planOf(id: string, plans?: Awaited<ReturnType<typeof project.status>>["plans"]) {
  const found = (plans ?? (await project.status()).plans).filter(({ source }) => source?.id === id);
  assert.equal(found.length, 1, `${found.length} plans for ${id}`);
  return found[0]!;
}
const inboxText = (planId: string): string => readFileSync(join(project.inbox, `${planId}.md`), "utf8");

const step = story("what bridges make of plans");

step("a bridge makes plans; status, hidden and metadata are as it says", async () => {
  const printed = await bring(
    upsert("plain", { title: "From a card", planMarkdown: "Do it well.\n" }),
    upsert("queued", {
      title: "Queued",
      planMarkdown: "x\n",
      status: "queued",
      hidden: true,
      metadata: { colour: "red" },
    }),
    upsert("active", { title: "Active", planMarkdown: "x\n", status: "active" }),
    upsert("../../../etc", { title: "Outside", planMarkdown: "x\n" }),
    upsert("日本", { title: "日本語", planMarkdown: "x\n" }),
    {
      ...upsert("?"),
      payload: { type: "upsert_plan", source: { system: "board", kind: "card" }, title: "No id" } as never,
    },
  );
  const { plans, dead } = await project.status();
  const plain = await planOf("plain", plans);
  assert.deepEqual([plain.status, plain.hidden, plain.location, plain.title], ["draft", false, "inbox", "From a card"]);
  assert.deepEqual(JSON.parse(readFileSync(join(project.inbox, `${plain.planId}.json`), "utf8")), {
    status: "draft",
    hidden: false,
    source: sourceOf("plain"),
  });
  assert.match(inboxText(plain.planId), /Do it well\./);
  const queued = await planOf("queued", plans);
  assert.deepEqual([queued.status, queued.hidden], ["queued", true]);
  assert.deepEqual(project.record(queued.planId).metadata, { colour: "red" });
  assert.match(printed, /bridge hub: not taken: actions\[2\]:.*status/);
  assert.deepEqual(
    plans.map(({ planId }) => /^[a-z0-9][a-z0-9._-]*$/.test(planId)),
    [true, true, true, true],
  );
  assert(!existsSync(join(project.root, "..", "etc.md")));
  assert.equal(readdirSync(project.inbox).filter((name) => name === ".md").length, 0);
  const reasons = dead.letters.map(({ reason }) => reason).sort();
  assert.equal(dead.count, 2);
  assert.match(reasons[0] ?? "", /^actions: payload\.status/, "what a poll brought and could not be taken");
  assert.match(reasons[1] ?? "", /source\.id/);
  await project.type("retry", "--all");
});

step("a second upsert changes what it says, and nothing else", async () => {
  const { planId } = await planOf("plain");
  await bring(upsert("plain", { planMarkdown: "Do it better.\n" }));
  assert.match(inboxText(planId), /From a card[\s\S]*Do it better\./);
  assert.doesNotMatch(inboxText(planId), /Do it well/);
  const before = inboxText(planId);
  await bring(upsert("plain", { hidden: true }), upsert("plain", { status: "queued" }));
  assert.equal(inboxText(planId), before);
  const hidden = await planOf("plain");
  assert.deepEqual([hidden.status, hidden.hidden], ["queued", true]);
  await bring(upsert("plain", { status: "draft", title: "Another title" }));
  const titled = await planOf("plain");
  assert.deepEqual([titled.status, titled.title], ["queued", "Another title"]);
  const revision = project.record(planId).revision;
  const said = await bring(upsert("plain", { title: "Another title", hidden: true, planMarkdown: "Do it better.\n" }));
  assert.equal(project.record(planId).revision, revision, "a change of nothing is none");
  assert.doesNotMatch(said, /changed by board card plain/);
});

step("an upsert onto a plan in work keeps its ticks, wherever the plan is", thorough, async () => {
  const text = (...todos: string[]) =>
    `## Title\n\nWork\n\n## TODO\n\n${todos.map((todo) => `- [ ] ${todo}\n`).join("")}`;
  await bring(upsert("work", { planMarkdown: text("one", "two"), status: "queued", metadata: { a: 1 } }));
  const { planId, status } = await planOf("work");
  assert.equal(status, "review");
  assert.deepEqual(project.record(planId).metadata, { a: 1 });
  assert(!existsSync(join(project.inbox, `${planId}.md`)));
  await bring(upsert("work", { planMarkdown: text("one", "two", "three") }));
  assert.deepEqual(project.commits(planId), ["one", "two", "three"]);
  assert.equal(project.record(planId).status, "review");
  assert.equal(project.planText(planId).match(/- \[x\]/g)?.length, 3);

  await project.type("block", planId, "wait");
  await bring(upsert("work", { planMarkdown: text("one", "two", "three", "four") }));
  assert.match(project.planText(planId), /- \[ \] four/);
  assert.equal(project.record(planId).blocked?.reason, "wait");
  await project.type("unblock", planId);
  await project.work();
  await project.type("merge", planId);
  await project.work();
  assert.equal(project.record(planId).status, "done");
  await bring(upsert("work", { planMarkdown: text("again") }));
  const { plans } = await project.status();
  const fresh = plans.filter(({ source }) => source?.id === "work");
  assert.deepEqual(fresh.map((plan) => plan.status).sort(), ["done", "draft"]);
  assert.equal(project.record(planId).status, "done");
});

step("beforeUpsert changes, refuses and puts off, one plugin after the other", async () => {
  const printed = await bring(
    upsert("chained", { title: "Chained", planMarkdown: "Begin\ndelta: add by delta\ngamma: add by gamma\n" }),
    upsert("rejected", { title: "Rejected", planMarkdown: "delta: reject not on Fridays\n" }),
    upsert("thrice", { title: "Thrice", planMarkdown: "gamma: throw-times 2\n" }),
    upsert("never", { title: "Never", planMarkdown: "gamma: throw-times 99\n" }),
  );
  assert.match(inboxText((await planOf("chained")).planId), /by delta\nby gamma\n$/);
  const asked = (source: string) => project.journal({ hook: "beforeUpsert", source }).map(({ who }) => who);
  assert.deepEqual(asked("rejected"), ["delta"], "who comes later is not asked");
  assert.match(printed, /upsert rejected by delta: not on Fridays/);
  assert.deepEqual(asked("thrice"), ["delta", "gamma", "gamma", "gamma"]);
  await planOf("thrice");
  assert.deepEqual(asked("never"), ["delta", "gamma", "gamma", "gamma", "gamma"]);
  const { plans, dead, deferred } = await project.status();
  assert.deepEqual(
    plans.filter(({ source }) => ["rejected", "never"].includes(source?.id ?? "")),
    [],
  );
  assert.deepEqual(
    dead.letters.map(({ handler }) => handler).filter((name) => name.includes("gamma")),
    ["beforeUpsert:gamma"],
  );
  assert.equal(deferred.count, 0);
});

step("an upsert that a stranger caused is refused; onto a plan in work it is kept as a proposal", async () => {
  project.plan("mine", ["one"], { status: "queued", source: sourceOf("mine") });
  await project.work();
  const before = project.planText("mine");
  const related = (relatedEventId: string, id: string): NewAction => ({
    ...upsert(id, { planMarkdown: "Mine now\n" }),
    relatedEventId,
  });
  project.feed("hub", undefined, { id: "by-mallory" }, { id: "by-ada", context: WRITER });
  const printed = await bring(
    related("by-mallory", "strange"),
    related("by-mallory", "mine"),
    related("by-ada", "friendly"),
  );
  assert.match(printed, /not delivered: "upsert_plan" was asked for by reader, who may not write/);
  await planOf("friendly");
  const { plans } = await project.status();
  assert.deepEqual(
    plans.filter(({ source }) => source?.id === "strange"),
    [],
  );
  assert.equal(project.planText("mine"), before);
  const proposal = readFileSync(join(project.authority, "plans", "mine", "proposed.md"), "utf8");
  assert.match(proposal, /proposed by reader[\s\S]*Mine now/);
});
