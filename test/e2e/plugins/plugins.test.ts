import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import type { Daemon } from "../../testing/daemon.ts";
import { story } from "../../testing/story.ts";
import { type Line, makeExtended, WRITER } from "../fixtures/extended.ts";

const actor = (name: string, more: object = {}) => ({ module: "./plugins/actor.ts", config: { name, ...more } });
const project = makeExtended({
  config: {
    plugins: { zeta: actor("zeta"), alpha: actor("alpha", { append: ["afterDesign", "beforeTodo"] }) },
    pluginOrder: ["alpha"],
    globalPlugins: { gamma: actor("gamma"), delta: actor("delta") },
    globalPluginOrder: ["delta"],
    bridges: { feed: { module: "./plugins/feed.ts", config: { name: "feed" } } },
    globalBridges: {
      hub: { module: "./plugins/feed.ts", config: { name: "hub" } },
      out: { module: "./plugins/feed.ts", config: { name: "out", target: "outside", silent: true } },
    },
    presets: { bare: { plugins: { zeta: { enabled: false } }, bridges: { feed: { enabled: false } } } },
  },
});
const { agents, stages } = project.config() as { agents: object; stages: object };
const echo = { adapter: "command", command: "sh", args: ["-c", "echo heard:; cat"] };
project.config({ agents: { ...agents, echo }, stages: { ...stages, reviewer: "echo" } });
project.commit();
after(() => project.remove());

const { heard, journal, feed } = project;
const readState = (...path: string[]) => JSON.parse(readFileSync(join(project.authority, ...path), "utf8"));
const hooksOf = (planId: string): string[] =>
  journal({ planId })
    .filter(({ hook, who }) => hook !== "onEvent" && who !== undefined)
    .map(({ hook, who, todo }) => [hook, who, ...(todo === undefined ? [] : [todo])].join(" "));
let daemon: Daemon;
let count = 0;

/** One event on the bus of a plan, or on the global one; resolves when it was heard outside. */
async function say(planId: string | undefined, body: string, sign: (id: string) => Line): Promise<Line> {
  count += 1;
  const id = `e${count}`;
  feed(planId === undefined ? "hub" : "feed", planId, { id, body });
  const [line] = await heard(sign(id));
  return line ?? {};
}

const step = story("plugins of two plans and of the repository");

step("the hooks of a plan are called around its steps, in the order of the config", async () => {
  project.plan("one", ["first", "second"]);
  const { code, stdout, stderr } = await project.work();
  assert.equal(code, 0, stdout + stderr);
  assert.equal(project.record("one").status, "review", stdout);
  const each = (call: string): string[] => {
    const [hook, ...todo] = call.split(" ");
    return ["alpha", "zeta"].map((who) => [hook, who, ...todo].join(" "));
  };
  const points = ["beforeTodo first", "afterTodo first", "beforeTodo second", "afterTodo second", "beforeFinish"];
  assert.deepEqual(hooksOf("one"), [
    "afterActivate delta",
    "afterActivate gamma",
    ...[...points, "afterFinish"].flatMap(each),
  ]);
});

step("each is called where its name says", () => {
  const told = (hook: string) => journal({ planId: "one", hook });
  assert.deepEqual(
    told("afterActivate").map(({ there, location, status }) => [there, location, status]),
    Array(2).fill([true, "worktree", "active"]),
  );
  assert.deepEqual(
    told("beforeTodo").map(({ ended }) => ended),
    [0, 0, 1, 1],
  );
  assert.deepEqual(
    told("afterTodo").map(({ ended }) => ended),
    [1, 1, 2, 2],
  );
  for (const [hook, ready, status] of [
    ["beforeFinish", false, "active"],
    ["afterFinish", true, "review"],
  ] as const) {
    assert.deepEqual(
      told(hook).map((line) => [line.ready, line.status]),
      Array(2).fill([ready, status]),
    );
  }
});

step("what a text hook returns is the plan, and the next one gets it", () => {
  const [, zeta] = journal({ planId: "one", hook: "beforeTodo" });
  assert.match(String(zeta?.plan), /<!-- alpha in beforeTodo -->/);
  assert.equal(project.planText("one").match(/alpha in beforeTodo/g)?.length, 2, "once for each TODO");
});

step("afterDesign sees what the designer made, and may change it", async () => {
  project.plan("drawn", []);
  await project.work();
  const [alpha] = journal({ planId: "drawn", hook: "afterDesign" });
  assert.match(String(alpha?.plan), /- \[ \] designed one/);
  assert.match(project.planText("drawn"), /<!-- alpha in afterDesign -->/);
  assert.equal(project.record("drawn").status, "review");
});

step("a hook that throws blocks its plan and no other; unblock calls it again", async () => {
  project.plan("no", ["alpha throws in beforeTodo"]);
  project.planFile("never", "## Title\n\ngamma throws in afterActivate\n\n## TODO\n\n- [ ] x\n");
  project.plan("yes", ["goes on"]);
  await project.work();
  const { plans } = await project.status();
  const reasonOf = (id: string) => plans.find(({ planId }) => planId === id)?.blocked?.reason ?? "";
  assert.equal(reasonOf("no"), "The plugin alpha failed in beforeTodo: I say no");
  assert.match(reasonOf("never"), /^The plugin gamma failed in afterActivate: not this one/);
  assert.equal(project.record("yes").status, "review");
  assert.equal(journal({ planId: "no", hook: "beforeTodo" })[0]?.ended, 0);
  await project.type("unblock", "no");
  await project.type("delete", "never", "--yes");
  writeFileSync(join(project.outside, "repaired"), "");
  await project.work();
  assert.equal(project.record("no").status, "review");
});

step("after a poll without a dispatcher the next start has the global events first", async () => {
  feed("feed", "one", { id: "early" });
  feed("hub", undefined, { id: "early" });
  await project.type("poll");
  assert.deepEqual(journal({ event: "early" }), [], "no plugin is there to be called");
  daemon = await project.start();
  await heard({ event: "early", who: "zeta" });
  // The same id on two buses is two events.
  assert.deepEqual(
    journal({ event: "early" }).map(({ hook, who }) => `${hook} ${who}`),
    ["onGlobalEvent delta", "onGlobalEvent gamma", "onEvent alpha", "onEvent zeta"],
  );
});

step("a module is loaded once, onStartup comes first, and each key has its own hooks", async () => {
  const all = journal();
  const begin = all.findLastIndex(({ imported }) => imported === "actor");
  const now = all.slice(begin);
  assert.equal(now.filter(({ imported }) => imported !== undefined).length, 1);
  assert.deepEqual(
    now
      .filter(({ who }) => who)
      .slice(0, 2)
      .map(({ who, hook }) => `${who} ${hook}`),
    ["delta onStartup", "gamma onStartup"],
  );
  assert.equal(now.filter(({ hook }) => hook === "onStartup").length, 2);
  const planHooks = ["onEvent", "beforeTodo", "afterTodo", "beforeFinish", "afterFinish", "afterDesign"];
  for (const { who, hook } of all.filter((line) => line.hook !== undefined)) {
    assert.equal(planHooks.includes(String(hook)), ["alpha", "zeta"].includes(String(who)), `${who} ${hook}`);
  }
});

step("every plugin gets every event; one that throws does not repeat the other", async () => {
  await say("one", "alpha: handle\nzeta: throw-times 2", (event) => ({ who: "zeta", event, hook: "onEvent" }));
  const id = `e${count}`;
  await heard({ call: "actions", payload: { type: "comment", message: `effect of ${id}` } });
  assert.deepEqual(
    journal({ event: id }).map(({ who }) => who),
    ["alpha", "zeta", "zeta", "zeta"],
  );
  assert.equal(journal({ call: "actions", payload: { type: "comment", message: `effect of ${id}` } }).length, 1);
  await daemon.said("one", /onEvent:zeta threw on e\d+ \(attempt \d of 4[^)]*\): not e\d+ yet/, 2);
  assert.equal((await say("one", `zeta: get thrown ${id}`, (got) => ({ got }))).global, 3);
});

step("what an event hook returns changes no plan", async () => {
  const before = project.planText("one");
  await say("one", "alpha: return", (event) => ({ who: "zeta", event }));
  assert.equal(project.planText("one"), before);
});

step("contexts have what belongs to their scope", async () => {
  const own = await say("one", "alpha: look", (looked) => ({ looked }));
  assert.deepEqual(own.has, ["planId", "worktree", "changeRequestRef", "runAgent", "readPlan", "readEvents"]);
  assert.deepEqual([own.planId, own.repoRoot], ["one", project.root]);
  assert.equal(own.worktree, project.worktree("one"));
  assert.deepEqual(own.plan, { content: project.planText("one"), progress: { total: 2, completed: 2 } });
  assert.equal(own.gone, null);
  const global = await say(undefined, "gamma: look", (looked) => ({ looked }));
  assert.deepEqual(global.has, ["listPlans", "readPlan", "readEvents"]);
  assert.deepEqual([global.planId, global.worktree, global.repoRoot], [undefined, undefined, project.root]);
  assert.match(String(global.refused), /readPlan\(planId\): planId is missing in onGlobalEvent/);
});

step("listPlans filters by status, hidden, source and location", async () => {
  const source = { system: "board", kind: "card", id: "7" };
  project.plan("draft", ["x"], { status: "draft", source, metadata: { colour: "red" } });
  project.plan("veiled", ["x"], { status: "queued", hidden: true });
  for (const about of ["draft", "veiled"]) await heard({ who: "gamma", type: "plan_created", about });
  const list = async (filter?: object): Promise<string[]> => {
    const line = await say(undefined, `gamma: list ${filter ? JSON.stringify(filter) : ""}`, (listed) => ({ listed }));
    return (line.plans as { planId: string }[]).map(({ planId }) => planId).sort();
  };
  assert.deepEqual(await list({ status: "draft" }), ["draft"]);
  assert.deepEqual(await list({ status: ["draft", "queued"] }), ["draft", "veiled"]);
  assert.deepEqual(await list({ hidden: true }), ["veiled"]);
  assert.deepEqual(await list({ location: "inbox", hidden: false }), ["draft"]);
  assert.deepEqual(await list({ location: "worktree", status: "review" }), ["drawn", "no", "one", "yes"]);
  for (const part of [{ system: "board" }, { system: "board", kind: "card" }, source]) {
    assert.deepEqual(await list({ source: part }), ["draft"]);
  }
  assert.deepEqual(await list({ source: { system: "board", id: "8" } }), []);
  const [plan] = (journal().findLast(({ listed, plans }) => listed && (plans as object[]).length === 1)?.plans ??
    []) as Record<string, unknown>[];
  const keys = ["planId", "title", "status", "hidden", "location", "source", "progress", "createdAt", "updatedAt"];
  assert.deepEqual(
    keys.filter((key) => plan?.[key] === undefined),
    [],
  );
});

step("memory per plan and for the repository, each in its file", async () => {
  const got = (line: Line) => [line.own, line.global];
  await say("one", "alpha: set mine\nalpha: set-global ours", (event) => ({ event, who: "zeta" }));
  assert.deepEqual(got(await say("one", "alpha: get", (id) => ({ got: id }))), ["mine", "ours"]);
  assert.deepEqual(got(await say("yes", "alpha: get", (id) => ({ got: id }))), [undefined, "ours"]);
  assert.deepEqual(got(await say("one", "zeta: get", (id) => ({ got: id }))), [undefined, undefined]);
  await say(undefined, "gamma: set wide", (event) => ({ event, who: "gamma" }));
  assert.deepEqual(got(await say(undefined, "gamma: get", (id) => ({ got: id }))), ["wide", "wide"]);
  await daemon.end("SIGKILL");
  daemon = await project.start();
  assert.deepEqual(got(await say("one", "alpha: get", (id) => ({ got: id }))), ["mine", "ours"]);
  assert.match(JSON.stringify(readState("plans", "one", "plugin-state", "alpha.json")), /"mine"/);
  assert.match(JSON.stringify(readState("plugin-state-global", "alpha.json")), /"ours"/);
  assert.match(JSON.stringify(readState("plugin-state-global", "gamma.json")), /"wide"/);
});

step("two plans that count at the same time lose nothing", async () => {
  const bodies = (plan: string) => Array.from({ length: 60 }, (_, i) => ({ id: `${plan}${i}`, body: "alpha: count" }));
  feed("feed", "one", ...bodies("one"), { id: "last-one" });
  feed("feed", "yes", ...bodies("yes"), { id: "last-yes" });
  await heard({ event: "last-one", who: "zeta" });
  await heard({ event: "last-yes", who: "zeta" });
  await daemon.end();
  assert.match(JSON.stringify(readState("plugin-state-global", "alpha.json")), /"count":(\{"value":)?120\b/);
  daemon = await project.start();
});

step("readEvents has its own cursor", async () => {
  const read = async (options: object): Promise<Line> =>
    say("yes", `alpha: events ${JSON.stringify(options)}`, (id) => ({ readEvents: id }));
  const { events, lastId } = await read({ limit: 2 });
  const order = (await project.log("yes")).map(({ id }) => id);
  assert.deepEqual([events, lastId], [order.slice(0, 2), order[1]]);
  assert.deepEqual((await read({ sinceId: "yes1", limit: 1 })).events, ["yes2"]);
  assert.deepEqual((await read({ types: ["comment"] })).events, []);
  assert.deepEqual((await read({ types: ["note.said"], sinceId: "yes58", limit: 1 })).events, ["yes59"]);
  assert.match(String((await read({ sinceId: "nobody" })).error), /nobody/);
});

step("the emitters reach the bridge of their target, from both scopes", async () => {
  const review = { verdict: "comment", summary: "good", comments: [{ path: "a.txt", line: 1, message: "here" }] };
  const wanted = [
    ["comment hello", { type: "comment", message: "hello" }],
    [`review ${JSON.stringify(review)}`, { type: "review", review }],
  ] as const;
  for (const [verb, payload] of wanted) {
    for (const [plan, who] of [
      ["one", "alpha"],
      [undefined, "gamma"],
    ] as const) {
      const before = journal({ call: "actions", payload }).length;
      await say(plan, `${who}: ${verb}`, (event) => ({ event, who: plan === undefined ? "gamma" : "zeta" }));
      const line = (await heard({ call: "actions", payload }, before + 1)).at(-1);
      assert.match(String(line?.id), /^act-/);
    }
  }
  feed("feed", "one", { id: "m", body: "alpha: merge x", context: WRITER });
  await heard({ call: "actions", payload: { type: "merge", method: "squash" } });
});

step("runAgent gives what the agent printed", async () => {
  const { answer } = await say("one", "alpha: agent What is this?", (agent) => ({ agent }));
  assert.match(String(answer), /^heard:\nWhat is this\?[\s\S]*README\.md[\s\S]*A project/);
});

step("presets switch plan plugins and bridges off for their plan", async () => {
  project.plan("plain", ["x"], { status: "queued", metadata: { preset: "bare" } });
  await daemon.said("plain", /review|ready/i);
  assert.deepEqual(new Set(journal({ planId: "plain", hook: "beforeTodo" }).map(({ who }) => who)), new Set(["alpha"]));
  assert.deepEqual(journal({ bridge: "feed", call: "events", planId: "plain" }), []);
});

step("plans hear only what was said to them; the dispatcher ends in order", async () => {
  const named = journal({ hook: "onEvent" }).filter(({ event }) => /^(one|yes)\d+$/.test(String(event)));
  assert.deepEqual(new Set(named.map(({ planId }) => planId)), new Set(["one", "yes"]));
  for (const { event, planId } of named) assert(String(event).startsWith(String(planId)), `${event} at ${planId}`);
  const ended = await daemon.end();
  assert.equal(ended.code, 0, ended.stderr);
});
