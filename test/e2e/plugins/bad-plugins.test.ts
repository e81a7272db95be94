import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { NewAction } from "../../../src/hooks/contexts/event-types.ts";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";
import { type Extended, makeExtended, QUICK } from "../fixtures/extended.ts";

const fresh = projectMaker(makeExtended);
function extended(config: Record<string, unknown>): Extended {
  return fresh({ config });
}

const bad = { module: "./plugins/bad.mjs" };
const good = (name: string) => ({ module: "./plugins/actor.ts", config: { name } });
const feeds = (name: string, more: object = {}) => ({ module: "./plugins/feed.ts", config: { name, ...more } });
const out = feeds("out", { target: "outside", silent: true });
const BUS = { ...QUICK, maxAttempts: 3, hookTimeout: "300ms", bridgeTimeout: "300ms" };

test("a plugin that misbehaves in every way: each outcome is defined, others go on, and the log names it", async () => {
  const project = extended({
    bus: BUS,
    plugins: { planBad: bad, alpha: good("alpha") },
    globalPlugins: { bad, gamma: good("gamma") },
    bridges: { feed: feeds("feed") },
    globalBridges: { hub: feeds("hub"), out },
  });
  writeFileSync(join(project.root, "package.json"), '{ "name": "tried" }');
  project.plan("one", ["x"]);
  project.plan("number", ["bad returns a number"]);
  project.plan("much", ["bad returns too much"]);
  assert.equal((await project.work()).code, 0);
  const deadly = [
    ["throws", /always/],
    ["throws-nothing", /./],
    ["throws-oddly", /./],
    ["hangs", /300 ms|0\.3 s|longer/],
    ["floods", /one call may emit 1000 actions/],
    ["wrong-id", /markEventHandled: the event of this call is "\w+-wrong-id", not "another"/],
    ["wrong-delay", /retryMs must be a number/],
    ["no-address", /target is missing/],
    ["no-payload", /payload/],
    ["no-json", /./],
    ["no-big-json", /./],
  ] as const;
  const harmless = ["sometimes", "nonsense", "mutates", "late", "floats"];
  const deeds = [...deadly.map(([deed]) => deed), ...harmless];
  for (const planId of ["one", undefined]) {
    const events = deeds.map((deed) => ({ id: `${planId ?? "global"}-${deed}`, body: `bad: ${deed}` }));
    project.feed(planId === undefined ? "hub" : "feed", planId, ...events);
  }
  const { code, stdout, stderr } = await project.work();
  const printed = stdout + stderr;
  assert.equal(code, 0, printed);
  const [, stacks = ""] = /\(stack: (\S+)\)/.exec(printed) ?? [];
  assert.match(readFileSync(stacks, "utf8"), /always\n.*\bbad\.mjs:\d+/, "where it threw is in the file that is named");
  // Its plugins are written in TypeScript, and its package.json says nothing of modules.
  assert.doesNotMatch(printed, /MODULE_TYPELESS|"type": "module"/);

  const { dead, deferred, plans } = await project.status();
  assert.equal(deferred.count, 0);
  for (const [where, handler] of [
    ["one", "onEvent:planBad"],
    ["global", "onGlobalEvent:bad"],
  ] as const) {
    const letters = new Map(
      dead.letters.filter((one) => one.handler === handler).map((one) => [one.record, one.reason]),
    );
    assert.deepEqual([...letters.keys()].sort(), deadly.map(([deed]) => `${where}-${deed}`).sort());
    for (const [deed, reason] of deadly) assert.match(letters.get(`${where}-${deed}`) ?? "", reason);
    for (const deed of deeds) {
      const heard = project.journal({ event: `${where}-${deed}` });
      assert.deepEqual(
        heard.map(({ who }) => who),
        [where === "one" ? "alpha" : "gamma"],
        `${where} ${deed}`,
      );
    }
    assert.match(printed, new RegExp(`${handler} threw on ${where}-throws \\(attempt .*always`));
    assert.match(printed, new RegExp(`${handler} gave up on ${where}-throws`));
  }
  assert.deepEqual(project.journal({ call: "actions" }), [], "nothing that failed was sent, and nothing late");
  assert.match(printed, /nobody waits for me/);
  assert.match(printed, /emitComment was called after \S+ for \S+ was over/);
  const mutated = (await project.log(undefined)).filter(({ id }) => id === "global-mutates");
  assert.match(JSON.stringify(mutated), /bad: mutates.*"read"/);
  const reasonOf = (id: string) => plans.find(({ planId }) => planId === id)?.blocked?.reason ?? "";
  assert.match(reasonOf("number"), /plugin planBad failed in beforeTodo: beforeTodo returned a number/);
  assert.match(reasonOf("much"), /plugin planBad failed in afterFinish: .*512 KB/);
  const [, stack = ""] = /threw on one-throws .*\(stack: (.*)\)/.exec(printed) ?? [];
  assert.match(readFileSync(stack, "utf8"), /^\S+ onEvent:\S+\nError: .*always\n {4}at .*bad\.mjs/m);
});

test(
  "an event that a plugin puts off for longer than there are dates waits, and can be looked at",
  thorough,
  async () => {
    const project = extended({ bus: BUS, plugins: { alpha: good("alpha") }, bridges: { feed: feeds("feed") } });
    project.plan("one", ["x"]);
    const never = [Number.MAX_SAFE_INTEGER, Number.MAX_VALUE].map((ms) => ({
      id: `for-${ms}`,
      body: `alpha: defer ${ms}`,
    }));
    project.feed("feed", "one", ...never);
    for (const start of ["first", "second"]) {
      const { code, stderr } = await project.work();
      assert.deepEqual([code, stderr], [0, ""], start);
    }
    const { deferred } = await project.status();
    assert.deepEqual(
      deferred.records.map(({ record, attempts, until }) => [record, attempts, Number.isNaN(Date.parse(until))]),
      never.map(({ id }) => [id, 0, false]),
    );
  },
);

test("a plugin that misbehaves on the way out: nothing passes that it did not let pass", async () => {
  const project = extended({ bus: BUS, globalPlugins: { bad }, globalBridges: { hub: feeds("hub"), out } });
  const comment = (message: string): NewAction => ({
    target: { target: "outside", token: message },
    payload: { type: "comment", message },
  });
  const card = (id: string, planMarkdown: string): NewAction => ({
    target: { target: "prloom-core" },
    payload: { type: "upsert_plan", source: { system: "s", kind: "k", id }, title: id, planMarkdown },
  });
  const deeds = ["throws", "hangs", "nonsense"];
  project.feedActions("hub", undefined, ...deeds.map((deed) => comment(`bad: ${deed}`)), comment("good"));
  project.feedActions("hub", undefined, ...deeds.map((deed) => card(deed, `bad: ${deed}\n`)), card("fine", "Good\n"));
  const { code, stdout } = await project.work();
  assert.equal(code, 0, stdout);
  const sent = project.journal({ call: "actions" }).map(({ target }) => (target as { token: string }).token);
  assert.deepEqual(sent, ["good"]);
  const { plans, dead } = await project.status();
  assert.deepEqual(
    plans.map(({ source }) => source?.id),
    ["fine"],
  );
  const count = (handler: string) => dead.letters.filter((one) => one.handler === handler).length;
  assert.deepEqual([count("beforeRoute:bad"), count("beforeUpsert:bad")], [3, 3]);
});

test("bridges that misbehave: good events are taken, nothing else, and the log says which", thorough, async () => {
  const failing = ["bigint", "circular", "throws", "hangs", "nonsense", "nothing", "thousands", "trap"];
  const kinds = [...failing, "duplicates", "malformed"];
  const bridges = Object.fromEntries(
    kinds.map((kind) => [kind, { module: "./plugins/bad-bridge.mjs", config: { kind } }]),
  );
  const project = extended({
    bus: { ...BUS, pollEvery: "1h" },
    globalBridges: { ...bridges, hub: feeds("hub"), out },
    globalPlugins: { gamma: good("gamma") },
  });
  project.feed("hub", undefined, { id: "unaffected" });
  const { code, stdout, stderr } = await project.work();
  const printed = stdout + stderr;
  assert.equal(code, 0, printed);
  assert.deepEqual(
    project
      .journal({ hook: "onGlobalEvent" })
      .map(({ event }) => event)
      .sort(),
    ["fine", "twice", "unaffected"],
  );
  for (const kind of failing) assert.match(printed, new RegExp(`the poll of bridge ${kind} failed: `), kind);
  for (const index of [1, 2, 3, 4, 5, 6])
    assert.match(printed, new RegExp(`bridge malformed: not taken: events\\[${index}\\]: `));
  assert.match(printed, /bridge malformed: not taken: actions\[0\]: /);
  assert.equal(project.journal({ call: "actions" }).length, 1);

  const failed = await project.cli(["poll", "throws"]);
  assert.deepEqual([failed.code, /throws: failed: .*no connection/.test(failed.stdout)], [1, true], failed.stdout);
  const again = await project.cli(["poll", "malformed", "--json"]);
  const { polls } = JSON.parse(again.stdout);
  assert.deepEqual([polls[0].events, polls[0].refused.length], [0, 7], again.stdout);
});

test(
  "the watchdog: a call that blocks ends the dispatcher, is told of, and is a dead letter at last",
  thorough,
  async () => {
    const project = extended({
      bus: { ...BUS, maxAttempts: 2 },
      globalPlugins: { bad, gamma: good("gamma") },
      globalBridges: { hub: feeds("hub"), out },
    });
    const events = [{ id: "stuck", body: "bad: blocks" }, { id: "gone", body: "bad: exits" }, { id: "fine" }];
    project.feed("hub", undefined, ...events);
    const comment = (message: string): NewAction => ({
      target: { target: "outside", token: message },
      payload: { type: "comment", message },
    });
    project.feedActions("hub", undefined, comment("[block]"), comment("behind it"));
    const ends: (string | number | null)[] = [];
    let printed = "";
    while (ends.at(-1) !== 0 && ends.length < 10) {
      const { code, signal, stdout, stderr } = await project.work({ PRLOOM_WATCHDOG_MS: "2000" });
      ends.push(signal ?? code);
      printed += stdout + stderr;
    }
    assert.equal(ends.at(-1), 0, printed);
    assert.deepEqual(ends.map(String).sort(), ["0", "3", "3", ...Array(4).fill("SIGKILL")], printed);
    for (const label of ["onGlobalEvent:bad", "deliver:out"]) {
      assert.match(printed, new RegExp(`${label} blocked the dispatcher for 2 s; ended it`));
      assert.match(printed, new RegExp(`the last dispatcher was ended by its watchdog: ${label} blocked it`));
    }
    const { dead } = await project.status();
    assert.deepEqual(dead.letters.map(({ handler }) => handler).sort(), [
      "deliver:out",
      "onGlobalEvent:bad",
      "onGlobalEvent:bad",
    ]);
    const heard = project.journal({ who: "gamma", hook: "onGlobalEvent" }).map(({ event }) => event);
    assert.deepEqual(heard, ["stuck", "gone", "fine"]);
    assert.equal(project.journal({ payload: { type: "comment", message: "behind it" }, call: "actions" }).length, 1);
  },
);
