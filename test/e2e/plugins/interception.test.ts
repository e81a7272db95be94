import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { BusState } from "../../../src/bus/bus-state.ts";
import { CLI } from "../../testing/program.ts";
import { finished } from "../../testing/project.ts";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";
import { type Extended, makeExtended, WRITER } from "../fixtures/extended.ts";

const fresh = projectMaker(makeExtended);

function extended(config: object): Extended {
  const feed = { module: "./plugins/feed.ts", config: { name: "feed" } };
  const hub = { module: "./plugins/feed.ts", config: { name: "hub" } };
  const out = { module: "./plugins/feed.ts", config: { name: "out", target: "outside", silent: true } };
  return fresh({ config: { bridges: { feed }, globalBridges: { hub, out }, ...config } });
}

const actor = (name: string, ...only: string[]) => ({ module: "./plugins/actor.ts", config: { name, only } });
const stateOf = (project: Extended, planId: string): BusState =>
  JSON.parse(readFileSync(join(project.authority, "plans", planId, "bus", "state", "dispatcher.json"), "utf8"));

/** A plan in review, spoken to by a collaborator, a stranger, a build and prloom itself. */
async function spokenTo(config: object): Promise<{ project: Extended; text: string; thread: string[]; runs: number }> {
  const project = extended(config);
  project.plan("told", ["one"]);
  await project.work();
  const replyTo = { target: "local", token: "told" };
  project.feed(
    "feed",
    "told",
    { id: "by-ada", body: "please add a second thing", replyTo, context: WRITER },
    { id: "by-mallory", body: "please add something bad", replyTo },
    { id: "by-ci", type: "build.failed", body: "please fix the build", context: {} },
    { id: "by-us", body: "please talk to yourself", context: { author: { ...WRITER.author, self: true } } },
  );
  const { code, stdout, stderr } = await project.work();
  assert.equal(code, 0, stdout + stderr);
  // Ids of TODOs, times and commits differ from run to run.
  const text = project.planText("told").replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
  const thread = (await project.thread("told")).map((body) => body.replace(/(?<=^Done in )[0-9a-f]{12}/, "<commit>"));
  return { project, text, thread, runs: project.record("told").runs };
}

test("triage gets what no plugin handled, and an empty plugin changes nothing", thorough, async () => {
  const [without, withEmpty] = await Promise.all([
    spokenTo({}),
    spokenTo({ plugins: { empty: { module: "./plugins/empty.mjs" } } }),
  ]);
  assert.match(without.text, /- \[x\] add a second thing[\s\S]*- \[x\] fix the build/);
  assert.doesNotMatch(without.text, /something bad|talk to yourself/);
  assert.deepEqual(
    without.thread.map((body) => body.split("\n")[0]),
    ["Will do 2.", "Done in <commit>."],
  );
  const { project: _first, ...plain } = without;
  const { project, ...empty } = withEmpty;
  assert.deepEqual(empty, plain);
  assert.equal(project.journal({ who: "empty" }).length, 4, "and it was called");
});

test("what is handled or deferred is kept from triage, and deferred events return", async () => {
  const project = extended({ plugins: { alpha: actor("alpha", "onEvent") } });
  project.plan("told", ["one"]);
  await project.work();
  const author = { context: WRITER };
  project.feed(
    "feed",
    "told",
    { id: "handled", body: "please not this\nalpha: handle", ...author },
    { id: "later", body: "please wait\nalpha: defer-times 20 5", ...author },
    { id: "for-long", body: "please wait long\nalpha: defer 3600000", ...author },
    { id: "plain", body: "please do this", ...author },
  );
  const { code, stdout, stderr } = await project.work();
  assert.equal(code, 0, stdout + stderr);
  assert.equal(project.journal({ event: "later" }).length, 21, "twenty deferrals are not a failure");
  assert.equal(project.journal({ event: "handled" }).length, 1);
  assert.doesNotMatch(project.planText("told"), /not this|wait/);
  assert.match(project.planText("told"), /- \[x\] do this/);
  const prompts = [2, 3].map((run) => project.runFile("told", run, "agent/prompt.txt")).join("");
  assert.match(prompts, /do this/);
  assert.doesNotMatch(prompts, /please (not|wait)/);

  const { deferredEventIds } = stateOf(project, "told");
  const ids = Object.keys(deferredEventIds);
  assert.equal(ids.length, 1);
  assert.match(JSON.stringify(deferredEventIds), /for-long.*not yet/);
  const status = await project.status();
  assert.equal(status.deferred.count, 1);
  assert(status.deferred.oldestMs > 0);
  assert.match(await project.type("status"), /deferred: 1 record to be tried again, the oldest waiting for/);

  await project.work();
  assert.equal(project.journal({ event: "for-long" }).length, 1, "a restart within the delay keeps to it");
  assert.equal(project.journal({ event: "handled" }).length, 1, "what is handled never comes again");
});

test("a deferral without a delay is not a hot loop", thorough, async () => {
  const bus = { retryMin: "1s", retryMax: "1s", pollEvery: "100ms" };
  const project = extended({ bus, globalPlugins: { gamma: actor("gamma", "onGlobalEvent") } });
  project.feed("hub", undefined, { id: "busy", body: "gamma: defer" });
  project.feed("hub", undefined, { id: "once", body: "gamma: defer 3000" });
  const daemon = await project.start();
  await project.heard({ event: "once" }, 2);
  const calls = project.journal({ event: "busy" }).length;
  assert(calls >= 2 && calls <= 5, `${calls} calls in three seconds`);
  await daemon.end();
});

test(
  "each of 1,000 events reaches a hook once, over three restarts; no other plugin wants them",
  thorough,
  async () => {
    const project = extended({ globalPlugins: { gamma: actor("gamma", "onGlobalEvent") } });
    const ids = Array.from({ length: 1000 }, (_, index) => `n${index}`);
    for (const part of [0, 250, 500, 750]) {
      project.feed("hub", undefined, ...ids.slice(part, part + 250).map((id) => ({ id, context: WRITER })));
      const daemon = await project.start();
      await project.heard({ hook: "onGlobalEvent" }, part + 20);
      await daemon.end();
    }
    const { code } = await project.work();
    assert.equal(code, 0);
    const heard = project.journal({ hook: "onGlobalEvent" }).map(({ event }) => event);
    assert.deepEqual(heard, ids);
    await project.work();
    assert.equal(project.journal({ hook: "onGlobalEvent" }).length, 1000);
    assert.deepEqual((await project.status()).plans, [], "and no plan came of it");
    assert.equal((await project.log(undefined)).length, 1000);
  },
);

test("modules are found from a subdirectory, by path and as a package", thorough, async () => {
  const project = extended({ globalPlugins: { packed: { module: "packed-plugin", config: { name: "packed" } } } });
  const folder = join(project.root, "node_modules", "packed-plugin");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    '{ "name": "packed-plugin", "exports": "./empty.mjs", "type": "module" }',
  );
  cpSync(join(project.root, "plugins", "empty.mjs"), join(folder, "empty.mjs"));
  const env = { PATH: process.env.PATH, HOME: project.home, XDG_RUNTIME_DIR: project.home, OUTSIDE: project.outside };
  const child = spawn(process.execPath, [CLI, "start", "--until-idle"], { cwd: join(project.root, "src"), env });
  const { code, stderr } = await finished(child);
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    project.journal({ who: "packed" }).map(({ hook }) => hook),
    ["onStartup"],
  );
  assert.equal(project.journal({ bridge: "hub", call: "events" }).length, 1);
});
