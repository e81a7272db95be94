import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";
import { type Extended, makeExtended, QUICK, WRITER } from "../fixtures/extended.ts";

const fresh = projectMaker(makeExtended);
function extended(config: Record<string, unknown>): Extended {
  return fresh({ config });
}
const actor = (name: string, ...only: string[]) => ({
  module: "./plugins/actor.ts",
  config: { name, ...(only.length > 0 ? { only } : {}) },
});
const feeds = (name: string, more: object = {}) => ({ module: "./plugins/feed.ts", config: { name, ...more } });
const bad = { module: "./plugins/bad.mjs" };

test("names and ids that mean something to JavaScript or to a shell mean nothing here", thorough, async () => {
  const project = extended({
    plugins: { constructor: actor("constructor", "onEvent") },
    bridges: { feed: feeds("feed") },
  });
  project.plan("one", ["x"]);
  await project.work();
  const ids = ["constructor", "toString", "hasOwnProperty", "a".repeat(300), "über ☃", "a b\nc", "../x", "x:y"];
  const body = "constructor: defer-times 2 1\nconstructor: set v";
  project.feed("feed", "one", ...ids.map((id) => ({ id, body })));
  project.feed("feed", "one", { id: "big", body: `constructor: set big\n${"x".repeat(900_000)}` });
  const { code, stdout, stderr } = await project.work();
  assert.equal(code, 0, stdout + stderr);
  for (const event of ids) assert.equal(project.journal({ event }).length, 3, event);
  assert.equal(project.journal({ event: "big" }).length, 1);
  const { deferred, dead } = await project.status();
  assert.deepEqual([deferred.count, dead.count], [0, 0]);
});

test(
  "presets give a plan other plugins and bridges; what no bridge delivers any more is a dead letter",
  thorough,
  async () => {
    const weak = feeds("weak", { target: "weak", silent: true });
    const project = extended({
      plugins: { alpha: actor("alpha"), bad },
      bridges: { feed: feeds("feed"), off: feeds("off", { target: "off" }) },
      globalBridges: { weak },
      presets: {
        other: {
          plugins: { alpha: { config: { name: "changed" } }, extra: actor("extra"), bad: { enabled: false } },
          pluginOrder: ["extra"],
          bridges: { off: { enabled: false } },
        },
      },
    });
    project.plan("one", ["x"]);
    project.plan("two", ["x"], { status: "queued", metadata: { preset: "other" } });
    const printed = await project.cli(["start", "--until-idle", "--json"]);
    assert.equal(printed.code, 0, printed.stderr);
    for (const line of printed.stdout.split("\n").slice(0, -1)) JSON.parse(line);
    assert.match(printed.stderr, /bad is here/);
    const who = (planId: string) => project.journal({ planId, hook: "beforeTodo" }).map((line) => line.who);
    assert.deepEqual([who("one"), who("two")], [["alpha"], ["extra", "changed"]]);
    const comment = (target: string, message: string) => ({
      target: { target, token: "t" },
      payload: { type: "comment" as const, message },
    });
    project.feedActions("feed", "one", comment("weak", "[broken-times 99]"), {
      target: { target: "local", token: "one" },
      payload: { type: "close_pr" },
    });
    project.feedActions("feed", "two", comment("off", "for nobody"));
    const daemon = await project.start();
    await project.heard({ call: "actions", bridge: "weak" });
    await daemon.said("two", /no bridge has the target off; configured targets: human, local, prloom-core, weak /);
    await daemon.end();
    project.config({ globalBridges: {} });
    assert.equal((await project.work()).code, 0);
    const { dead, deferred } = await project.status();
    assert.equal(deferred.count, 0);
    assert.deepEqual(dead.letters.map(({ reason }) => /has the target (\w+)/.exec(reason)?.[1]).sort(), [
      "off",
      "weak",
    ]);
    assert.equal(project.record("one").outcome, "closed");
  },
);

test("a plugin that hangs holds up its own plan only, and a global one none; commands go on working", async () => {
  const project = extended({
    bus: { ...QUICK, hookTimeout: "1h" },
    plugins: { planBad: bad, alpha: actor("alpha") },
    bridges: { feed: feeds("feed") },
    globalPlugins: { bad },
    globalBridges: { hub: feeds("hub"), out: feeds("out", { target: "outside", silent: true }) },
  });
  project.plan("one", ["x"]);
  project.plan("two", ["x"]);
  await project.work();
  project.feed("hub", undefined, { id: "global", body: "bad: hangs" });
  project.feed("feed", "one", { id: "own", body: "bad: hangs" });
  project.feed("feed", "two", { id: "other" });
  const daemon = await project.start();
  await project.heard({ event: "other", who: "alpha" });
  const message = { target: { target: "outside" }, payload: { type: "comment" as const, message: "out" } };
  project.feedActions("hub", undefined, message);
  await project.heard({ call: "actions" });
  project.plan("three", ["x"]);
  await project.heard({ planId: "three", hook: "afterFinish" });
  await project.type("block", "one", "enough");
  assert.equal(project.record("one").blocked?.reason, "enough");
  await project.type("delete", "one", "--yes");
  assert.deepEqual((await project.status()).plans.map(({ planId }) => planId).sort(), ["three", "two"]);
  assert.equal((await daemon.end()).code, 0);
});

test(
  "what a plugin throws at is triaged once it gave up, and not before; a retry asks it again, and not triage",
  thorough,
  async () => {
    const project = extended({ plugins: { bad, alpha: actor("alpha", "onEvent") }, bridges: { feed: feeds("feed") } });
    project.plan("one", ["x"]);
    await project.work();
    project.feed("feed", "one", { id: "sad", body: "please go on\nbad: throws", context: WRITER });
    project.feed("feed", "one", { id: "constructor", body: "please wait\nalpha: defer 7200000", context: WRITER });
    await project.work();
    assert.match(project.planText("one"), /- \[x\] go on/);
    assert.doesNotMatch(project.planText("one"), /- \[.\] wait/);
    const status = await project.status();
    assert.deepEqual([status.deferred.count, status.dead.count], [1, 1]);
    assert.match(await project.type("events", "one", "--log", "dead"), /sad/);

    assert.match(await project.type("retry", "sad"), /sad of \S+ is tried again by onEvent:bad/);
    await project.work();
    assert.equal((await project.status()).dead.count, 1, "it throws as ever");
    assert.equal(project.planText("one").match(/go on/g)?.length, 1, "and is not triaged twice");
  },
);

test("a stop does not wait for a hook or a bridge that hangs, and is not an attempt", thorough, async () => {
  const slow = { module: "./plugins/bad-bridge.mjs", config: { kind: "hangs" } };
  const project = extended({
    bus: { maxAttempts: 1, pollEvery: "100ms" },
    globalPlugins: { first: actor("first", "onGlobalEvent"), bad },
    globalBridges: { hub: feeds("hub"), slow, out: feeds("out", { target: "outside", silent: true }) },
  });
  project.feed("hub", undefined, { id: "stuck", body: "bad: hangs" });
  const hanging = { target: { target: "outside" }, payload: { type: "comment" as const, message: "[hang]" } };
  project.feedActions("hub", undefined, hanging);
  for (const count of [1, 2]) {
    const daemon = await project.start();
    await project.heard({ call: "actions" }, count);
    await project.heard({ event: "stuck" }, 1);
    const ended = await daemon.end();
    assert.equal(ended.code, 0, ended.stderr);
    assert(!existsSync(join(project.authority, "daemon.json")));
  }
  const { dead, deferred } = await project.status();
  assert.deepEqual([dead.letters, deferred.count], [[], 2]);
});
