import assert from "node:assert/strict";
import { mkdtempSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openForReading } from "../../../src/dispatcher/commands/open-for-reading.ts";
import { readStatus } from "../../../src/dispatcher/report/read.ts";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { finished, makeProject } from "../../testing/project.ts";
import { story } from "../../testing/story.ts";
import { thorough } from "../../testing/thorough.ts";
import { makeExtended } from "../fixtures/extended.ts";

const HOUR_MS = 3_600_000;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const feeds = (name: string) => ({ module: "./plugins/feed.ts", config: { name } });
const project = makeExtended({
  config: {
    plugins: {
      alpha: { module: "./plugins/actor.ts", config: { name: "alpha", only: ["onEvent"] } },
      beta: { module: "./plugins/actor.ts", config: { name: "beta", only: ["onEvent"] } },
    },
    globalPlugins: {
      gamma: { module: "./plugins/actor.ts", config: { name: "gamma", only: ["onGlobalEvent"] } },
      bad: { module: "./plugins/bad.mjs" },
    },
    bridges: { feed: feeds("feed") },
    globalBridges: { hub: feeds("hub") },
    notify: {
      channels: {
        chat: { kind: "slack", urlEnv: "CHAT_URL" },
        hook: { kind: "webhook", urlEnv: "HOOK_URL", headersEnv: { Authorization: "HOOK_TOKEN" } },
      },
    },
  },
});
after(() => project.remove());

/** One world: what one step leaves is what the next one looks at. */
const step = story("a dispatcher with plugins and bridges, and what is told of it");

const tracker = { module: "./plugins/bad-bridge.mjs", config: { kind: "throws" } };
const letter = (name: string) => ({ id: name, body: "alpha: throw-times 99" });

step("status tells what waits, what was given up and which bridges fail", async () => {
  project.plan("one", ["first"]);
  await project.work();
  project.config({ globalBridges: { hub: feeds("hub"), tracker } });
  const daemon = await project.start();
  project.feed("feed", "one", { id: "later", body: `alpha: defer ${2 * HOUR_MS}` }, letter("lost"), letter("gone"));
  project.feed("hub", undefined, { id: "sooner", body: `gamma: defer ${HOUR_MS}` });
  await daemon.said("one", /onEvent:alpha gave up on lost/);
  await daemon.said("one", /onEvent:alpha gave up on gone/);
  await project.heard({ who: "gamma", event: "sooner" });
  await daemon.said(undefined, /tracker.*no connection/);
  const [failing] = (await project.status()).bridges.failing;
  assert.deepEqual([failing?.bridge, failing?.error], ["tracker", "no connection"]);
  assert.match(failing?.since ?? "", ISO);
  assert.match(await project.type("status"), /^bridge tracker: failing for \d+[smh]: .*no connection$/m);
  await daemon.end();
  // `--until-idle` would wait for it.
  project.config({ globalBridges: { hub: feeds("hub") } });

  const { deferred, dead, bridges } = await project.status();
  assert.deepEqual(bridges, { failing: [] }, "it is not polled any more");
  assert.equal(deferred.count, 2);
  const [sooner, later] = deferred.records;
  const { since, until, ...rest } = later ?? assert.fail("one waits for the plan");
  assert.deepEqual(rest, { record: "later", handler: "onEvent:alpha", planId: "one", reason: "not yet", attempts: 0 });
  assert.match(`${since}`, ISO);
  assert.match(until, ISO);
  assert.deepEqual([sooner?.record, sooner?.planId], ["sooner", undefined]);
  assert.deepEqual(Object.keys(dead.letters[0] ?? {}).sort(), [
    "attempts",
    "handler",
    "planId",
    "reason",
    "record",
    "since",
  ]);
  assert.match(dead.letters[0]?.since ?? "", ISO);
  const shown = await project.type("status");
  assert.match(
    shown,
    /^deferred: 2 .*\n {2}sooner {2}onGlobalEvent:gamma: not yet; next try in \d+ min\n {2}later of one/m,
  );
  assert.match(shown, /^dead: 2 .*prloom retry --drop <id>/m);
});

test(
  "a plan that no dispatcher has seen yet has its file's own times, and one whose text was written since has that time",
  thorough,
  async () => {
    const own = makeProject();
    after(() => own.remove());
    own.plan("p", ["one"], {});
    const text = join(own.inbox, "p.md");
    const old = new Date("2026-01-02T03:04:05.000Z");
    for (const file of [text, join(own.inbox, "p.json")]) utimesSync(file, old, old);
    const [unseen] = (await own.status()).plans;
    assert.equal(unseen?.createdAt, old.toISOString());
    assert.equal(unseen?.updatedAt, old.toISOString());
    await own.cli(["hide", "p"]);
    const later = new Date(Date.now() + HOUR_MS);
    utimesSync(text, later, later);
    const [seen] = (await own.status()).plans;
    assert.equal(seen?.updatedAt, later.toISOString());
    assert.ok(Date.parse(seen?.createdAt ?? "") < later.getTime());
  },
);

step("a plan at rest is shown without opening its bus", async () => {
  project.plan("quiet", ["only"]);
  project.feed("feed", "quiet", letter("sad"));
  await project.work();
  await project.type("comment", "one", "wakes only this one");
  const loom = await openForReading({ cwd: project.root });
  const opened: string[] = [];
  const bus = (id: string) => {
    opened.push(id);
    return loom.bus(id);
  };
  const { plans, dead } = await readStatus({ ...loom, bus });
  loom.close();
  assert.deepEqual(plans.map(({ planId }) => planId).sort(), ["one", "quiet"]);
  assert.deepEqual([...new Set(opened)], ["one"]);
  assert.deepEqual(
    dead.letters.filter(({ planId }) => planId === "quiet").map(({ record }) => record),
    ["sad"],
  );
});

step("retry --drop gives letters up for good: one, an unknown one, all", thorough, async () => {
  assert.match(await project.type("retry", "--drop", "lost"), /^lost of one is dropped for onEvent:alpha\n$/);
  const letters = async () => (await project.status()).dead.letters.map(({ record }) => record).sort();
  assert.deepEqual(await letters(), ["gone", "sad"]);
  const again = await project.cli(["retry", "--drop", "lost"]);
  assert.match(again.stderr, /There is no dead letter "lost"\. \[letter-not-found\]/);
  assert.equal((await project.cli(["retry", "--drop"])).code, 2);
  const calls = project.journal({ who: "alpha", event: "gone" }).length;
  const { dropped } = JSON.parse(await project.type("retry", "--drop", "--all", "--json"));
  const owners = dropped.map(({ record, planId }: Record<string, string>) => `${record} of ${planId}`);
  assert.deepEqual(owners.sort(), ["gone of one", "sad of quiet"]);
  await project.work();
  assert.deepEqual(await letters(), []);
  assert.equal(project.journal({ who: "alpha", event: "gone" }).length, calls, "no plugin is called with it again");
});

step("a record that two plugins gave up counts once", thorough, async () => {
  project.feed("feed", "one", { id: "both", body: "alpha: throw-times 99\nbeta: throw-times 99" });
  await project.work();
  const { dead } = await project.status();
  assert.deepEqual(dead.letters.map(({ handler }) => handler).sort(), ["onEvent:alpha", "onEvent:beta"]);
  assert.equal(dead.count, 1);
  await project.type("retry", "--drop", "both");
});

step("start lists the mistakes of a config that it does not use, one per line", thorough, async () => {
  const child = project.spawnCli(["start"], { OUTSIDE: project.outside });
  const ended = finished(child);
  await appears(join(project.authority, "daemon.json"));
  const told = Promise.withResolvers<void>();
  child.stdout?.on("data", (text: string) => /agnets/.test(text) && told.resolve());
  project.config({ cheks: [], agnets: {} });
  await Promise.race([told.promise, ended]);
  child.kill("SIGTERM");
  // What is undefined is left out of the file: it is as before.
  project.config({ cheks: undefined, agnets: undefined });
  const { stdout } = await ended;
  assert.match(stdout, /is not used: .*2 mistakes:\n {4,}\S.*cheks.*\n {4,}\S.*agnets.*\n/);
});

step("status and doctor tell that the watchdog ended the last dispatcher", thorough, async () => {
  project.feed("hub", undefined, { id: "stuck", body: "bad: blocks" });
  const { signal, stdout, stderr } = await project.work({ PRLOOM_WATCHDOG_MS: "500" });
  assert.equal(signal, "SIGKILL", stdout + stderr);
  const told = /ended by its watchdog \(.*\): onGlobalEvent:bad blocked it for \d+ s/;
  assert.match(await project.type("status"), new RegExp(`^problem: .*${told.source}\\n {2}hint: .*prloom start`, "m"));
  assert.match(await project.type("doctor"), told);
  const { problems } = await project.status();
  assert(problems.some(({ reason }) => told.test(reason)));
});

step("doctor names variables of notify that are not set", async () => {
  const text = await project.cli(["doctor"], { CHAT_URL: "http://localhost" });
  assert.equal(text.code, 0, text.stdout);
  assert.match(
    text.stdout,
    /^! notify: the channel "hook" needs the variable HOOK_URL, which is not set\n {2}hint: Set/m,
  );
  assert.match(text.stdout, /^! notify: the channel "hook" needs the variable HOOK_TOKEN/m);
  assert.doesNotMatch(text.stdout, /CHAT_URL/);
});

step("doctor and start print hints of several lines as lines", thorough, async () => {
  writeFileSync(join(project.root, "plugins", "seven.mjs"), "export default 7;\n");
  project.config({ plugins: { seven: { module: "./plugins/seven.mjs" } } });
  for (const command of ["doctor", "start"]) {
    const { code, stdout, stderr } = await project.cli([command]);
    assert.equal(code, 1);
    assert.match(stdout + stderr, /^ {2}hint: It must be a function.*:\n {4,}\S.*\n/m);
    assert.doesNotMatch(stdout + stderr, /\\n/);
  }
});

test(
  "a plan that waits for a place among the agents says so, and at rest no bus is opened to tell",
  thorough,
  async () => {
    const gate = mkdtempSync(join(tmpdir(), "prloom-gate-"));
    const crowded = makeProject({ env: { GATE: gate }, config: { limits: { maxRunningAgents: 1 } } });
    after(() => crowded.remove());
    crowded.plan("first", ["[waits] one"]);
    const daemon = await startDaemon(crowded);
    await daemon.said("first", /worker started/);
    crowded.plan("second", ["one"]);
    await daemon.said("second", /TODO 1/);
    const waits = async () => (await crowded.status()).plans.find(({ planId }) => planId === "second")?.waiting;
    assert.match((await waits()) ?? "", /waits for an agent \(limits\.maxRunningAgents\)/);
    writeFileSync(join(gate, "first"), "");
    await daemon.said("second", /in review/);
    assert.equal((await daemon.end()).code, 0);
    const loom = await openForReading({ cwd: crowded.root });
    const opens = (): never => assert.fail("a bus at rest is opened");
    const { deferred, dead } = await readStatus({ ...loom, bus: opens, globalBus: opens });
    loom.close();
    assert.deepEqual([deferred.count, dead.count], [0, 0]);
  },
);

test("a link that leads in a circle in the inbox is told, and hides no other plan", async (t) => {
  const linked = makeProject();
  t.after(() => linked.remove());
  linked.plan("good", ["one"]);
  symlinkSync("circle.md", join(linked.inbox, "circle.md"));
  const { code, stdout, stderr } = await linked.cli(["status"]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /good\s+queued/);
  assert.match(stdout, /inbox\/circle\.md is not a regular file/);
});

test("a command that changes nothing about a plan leaves the time of its last change", thorough, async () => {
  const own = makeProject();
  after(() => own.remove());
  own.plan("p", ["one"]);
  own.plan("later", ["one"], { status: "draft" });
  const worked = await own.work();
  assert.equal([...worked.stdout.matchAll(/prloom queue later/g)].length, 1, "a draft is told of once");
  const { updatedAt } = own.record("p");
  for (const command of ["resume", "unhide", "unblock", "rebase"])
    assert.equal((await own.cli([command, "p"])).code, 0, command);
  assert.equal(own.record("p").updatedAt, updatedAt);
  assert.equal((await own.cli(["pause", "p"])).code, 0);
  assert.notEqual(own.record("p").updatedAt, updatedAt);
});
