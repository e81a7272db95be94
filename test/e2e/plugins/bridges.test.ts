import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { NewAction } from "../../../src/hooks/contexts/event-types.ts";
import type { Daemon } from "../../testing/daemon.ts";
import { story } from "../../testing/story.ts";
import { thorough } from "../../testing/thorough.ts";
import { type Line, makeExtended } from "../fixtures/extended.ts";

const actor = (name: string) => ({ module: "./plugins/actor.ts", config: { name, only: ["beforeRoute"] } });
const feeds = (name: string, more: object = {}) => ({ module: "./plugins/feed.ts", config: { name, ...more } });
const project = makeExtended({
  config: {
    bridges: { feed: feeds("feed", { target: "plan-side" }) },
    globalBridges: {
      hub: feeds("hub"),
      out: feeds("out", { target: "outside", silent: true }),
      weak: feeds("weak", { target: "weak", silent: true }),
      object: { module: "./plugins/object-bridge.mjs", config: { colour: "red" } },
      off: { module: "./plugins/not-there.ts", enabled: false },
      on: { module: "./plugins/object-bridge.mjs", enabled: true },
    },
    globalPlugins: { delta: actor("delta"), gamma: actor("gamma") },
  },
});
after(() => project.remove());

const { heard, journal, feed, feedActions } = project;
const comment = (message: string, token?: string, target = "outside"): NewAction => ({
  target: { target, ...(token === undefined ? {} : { token }) },
  payload: { type: "comment", message },
});
const message = (text: string): Line => ({ call: "actions", payload: { type: "comment", message: text } });
const deadOf = async (handler: string) =>
  (await project.status()).dead.letters.filter((one) => one.handler === handler);
let daemon: Daemon;

const step = story("bridges and what passes through them");

step("global bridges are polled without any plan, each with its config", async () => {
  const { code, stdout, stderr } = await project.work();
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(journal({ bridge: "hub", call: "events" }), [{ bridge: "hub", call: "events", plans: 0 }]);
  assert.deepEqual(journal({ bridge: "feed" }), []);
  // A slow machine polls a second time before it is idle.
  const configs = journal({ bridge: "object" }).map(({ config, worktree }) => JSON.stringify([config, worktree]));
  assert.deepEqual([...new Set(configs)], ['[{"colour":"red"},null]', "[{},null]"]);
});

step("bridges of plans are asked once the plan has a worktree", async () => {
  project.plan("one", ["first"]);
  project.plan("draft", ["never"], { status: "draft" });
  await project.work();
  const worktree = project.worktree("one");
  const [asked, ...more] = journal({ bridge: "feed", call: "events" });
  assert.deepEqual(more, []);
  assert.equal(asked?.plans, 2);
  assert.deepEqual([asked?.planId, asked?.worktree], ["one", worktree]);
  assert.match(JSON.stringify(asked?.progress), /"total":1/);
});

step("an action of any bus reaches a target of any scope", async () => {
  daemon = await project.start();
  feedActions("hub", undefined, comment("global to plan [read one]", "t", "plan-side"));
  feedActions("feed", "one", comment("plan to global", "t"), comment("plan to plan", "t", "plan-side"));
  const [toPlan] = await heard(message("global to plan [read one]"));
  assert.deepEqual([toPlan?.bridge, toPlan?.planId, toPlan?.worktree], ["feed", undefined, undefined]);
  const [toGlobal] = await heard(message("plan to global"));
  assert.deepEqual([toGlobal?.bridge, toGlobal?.planId], ["out", undefined]);
  const [own] = await heard(message("plan to plan"));
  assert.deepEqual([own?.bridge, own?.planId, own?.changeRequestRef], ["feed", "one", "local/one"]);
  const [read] = await heard({ read: toPlan?.id });
  assert.match(JSON.stringify(read?.plan), /Plan one/);
});

step("beforeRoute sees the actions of all buses, in the order of the config, before the bridge", () => {
  for (const text of ["global to plan [read one]", "plan to global"]) {
    const calls = journal({ payload: { type: "comment", message: text } });
    assert.deepEqual(calls.map(({ who, bridge }) => who ?? bridge).slice(0, 2), ["delta", "gamma"]);
    assert.equal(calls.length, 3);
    assert.deepEqual(calls[0]?.from, text.startsWith("plan") ? { planId: "one" } : {});
  }
});

step("block, redirect, emit, throw; a loop ends", async () => {
  const thread = { target: "local", token: "one" };
  feedActions(
    "hub",
    undefined,
    comment("blocked\ndelta: block", "a"),
    comment(`elsewhere\ngamma: redirect ${JSON.stringify(thread)}`, "a"),
    comment("noisy\ndelta: also one more thing", "a"),
    comment("thrice\ngamma: throw-times 2", "b"),
    comment("never\ngamma: throw-times 99", "c"),
    comment("echo\ndelta: again", "d"),
    comment("after all", "a"),
  );
  await heard(message("after all"));
  await heard(message("one more thing"));
  await heard(message("thrice\ngamma: throw-times 2"));
  await daemon.said(undefined, /beforeRoute:gamma gave up on act-/);
  await daemon.said(undefined, /this looks like a loop/);
  assert.deepEqual(journal(message("blocked\ndelta: block")), []);
  assert.deepEqual(journal({ who: "gamma", payload: { type: "comment", message: "blocked\ndelta: block" } }), []);
  assert.deepEqual(await project.thread("one"), [`elsewhere\ngamma: redirect ${JSON.stringify(thread)}`]);
  assert.equal(journal(message("thrice\ngamma: throw-times 2")).length, 1);
  assert.deepEqual(journal(message("never\ngamma: throw-times 99")), []);
  assert.equal(journal(message("echo\ndelta: again")).length, 6, "itself and five more");
  assert.equal((await deadOf("beforeRoute:gamma")).length, 1);
});

step("delivery: order per address, one circuit per bridge, refusals and throws as they were decided", async () => {
  feedActions(
    "hub",
    undefined,
    comment("[broken-times 2] first", "x", "weak"),
    comment("second", "x", "weak"),
    comment("other address", "y", "weak"),
    comment("[refuse cats]", "r"),
    comment("[throw-times 2]", "s"),
    comment("[throw-times 99]", "never"),
    comment("[arrive-and-throw]", "u"),
    comment("[nonsense]", "n"),
    comment("[hang]", "h"),
    comment("nobody's", "v", "no-such-target"),
    comment("unaffected", "w"),
  );
  await heard(message("unaffected"));
  await heard(message("second"));
  await heard(message("[throw-times 2]"), 3);
  await heard(message("[nonsense]"), 2);
  await heard(message("[throw-times 99]"), 4);
  await heard(message("[hang]"), 1);
  const weak = journal({ call: "actions", bridge: "weak" }).map(
    ({ payload }) => (payload as { message: string }).message,
  );
  assert.deepEqual(
    weak.filter((text) => text !== "other address"),
    [...Array(3).fill("[broken-times 2] first"), "second"],
  );
  assert.equal(journal(message("[refuse cats]")).length, 1);
  assert.equal(journal(message("[arrive-and-throw]")).length, 1, "it is found, and not sent again");
  assert(journal({ call: "delivered" }).length >= 1);
  const { dead } = await project.status();
  const reasons = dead.letters.map(({ handler, reason }) => `${handler}: ${reason}`).join("\n");
  assert.match(reasons, /deliver:out: I do not take cats/);
  assert.match(reasons, /deliver:out: .*lost in the post/);
  assert.match(reasons, /no-such-target.*human, local, outside, plan-side, prloom-core, weak/);
  await daemon.said(undefined, /deliver:out .*lost in the post|lost in the post/);
});

step("retry: one, an unknown one, all; status lists what there is", async () => {
  let before = await project.status();
  let shown = await project.type("status");
  // What was given up between the two looks.
  for (let now = await project.status(); now.dead.count !== before.dead.count; now = await project.status()) {
    before = now;
    shown = await project.type("status");
  }
  const refused = before.dead.letters.find(({ reason }) => /I do not take cats/.test(reason));
  assert.match(shown, new RegExp(`dead: ${before.dead.count} records? given up`));
  const { code, stderr } = await project.cli(["retry", "nobody"]);
  assert.equal(code, 1);
  assert.match(stderr, /There is no dead letter "nobody"\. \[letter-not-found\]\n {2}hint: `prloom status`/);
  assert.equal((await project.cli(["retry"])).code, 2);
  assert.match(await project.type("retry", String(refused?.record)), /is tried again by deliver:out/);
  await heard(message("[refuse cats]"), 2);
  const lost = journal(message("[throw-times 99]")).length;
  const { retried } = JSON.parse(await project.type("retry", "--all", "--json"));
  assert(retried.length >= 3);
  await heard(message("[throw-times 99]"), lost + 4);
  await heard(message("[refuse cats]"), 3);
});

step("poll: now, one bridge, one that there is not, one that fails", async () => {
  feed("hub", undefined, { id: "new" });
  assert.match(await project.type("poll", "hub"), /^hub: [01] new events?, 0 actions\n$/);
  const unknown = await project.cli(["poll", "hup"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /There is no bridge "hup" to poll\. \[usage\]\n {2}hint: There are: .*hub/);
  const none = await project.cli(["poll", "out"]);
  assert.match(none.stderr, /There is no bridge "out" to poll/, "it has no events()");
  const all = await project.type("poll");
  assert.match(all, /^hub: 0/m);
  assert.match(all, /^feed for one: 0/m);
});

step("both buses have the same files with the same envelope, and the paths in the checkout lead there", async () => {
  feed("feed", "one", { id: "said" });
  await daemon.end();
  assert.equal((await project.work()).code, 0);
  const local = join(project.root, "prloom", ".local");
  const buses = [join(local, "bus"), join(local, "worktrees", "one", "prloom", ".local", "bus")];
  for (const [index, bus] of buses.entries()) {
    const files = readdirSync(bus, { recursive: true }).map(String);
    assert(
      files.includes(join("state", "dispatcher.json")) &&
        files.includes(join("state", `bridge.${["hub", "feed"][index]}.json`)),
    );
    for (const name of ["dispatcher", `bridge.${["hub", "feed"][index]}`]) {
      assert.equal(JSON.parse(readFileSync(join(bus, "state", `${name}.json`), "utf8")).schemaVersion, 1);
    }
    const journals = files.filter((file) => /events.*\.jsonl$|actions.*\.jsonl$/.test(file));
    assert(journals.length >= 2, journals.join());
    const lines = journals.flatMap((file) =>
      readFileSync(join(bus, file), "utf8")
        .split("\n")
        .filter((line) => line !== ""),
    );
    for (const line of lines) {
      const { ts, kind, schemaVersion, data, id: _id, ...rest } = JSON.parse(line);
      assert.deepEqual(
        [typeof ts, typeof kind, schemaVersion, typeof data, rest],
        ["string", "string", 1, "object", {}],
      );
    }
    assert(lines.some((line) => line.includes(index === 0 ? '"new"' : '"said"')));
    assert(!lines.some((line) => line.includes(index === 0 ? '"id":"said"' : '"id":"new"')));
  }
  assert(!existsSync(join(local, "bus", "state", "bridge.prloom-core.json")), "it is never polled");
});

test(
  "an item of a poll whose bridge is gone stays a dead letter that names the bridge, and is taken when it is back",
  thorough,
  async () => {
    const one = makeExtended({ config: { bridges: { feed: feeds("feed") }, globalBridges: { hub: feeds("hub") } } });
    after(() => one.remove());
    const { bridges, globalBridges } = one.config();
    const reasons = async () => (await one.status()).dead.letters.map(({ reason }) => reason).toSorted();
    const gone = (name: string) => `bridge ${name} is not in the config, so it cannot be tried again`;
    one.plan("one", ["first"]);
    one.feed("hub", undefined, { id: "loud", severity: "loud" as never });
    one.feed("feed", "one", { id: "louder", severity: "loud" as never });
    await one.work();
    assert.equal((await reasons()).length, 2);
    // Revived while they were there, and gone at the next start.
    assert.match(await one.type("retry", "--all"), /is tried again by poll:hub/);
    one.config({ bridges: {}, globalBridges: {} });
    await one.type("start", "--until-idle");
    assert.deepEqual(await reasons(), [gone("feed"), gone("hub")]);
    assert.match(await one.type("retry", "--all"), new RegExp(`stays a dead letter: ${gone("hub")}`));
    assert.deepEqual(await reasons(), [gone("feed"), gone("hub")]);
    one.config({ bridges, globalBridges });
    await one.type("start", "--until-idle");
    await one.type("retry", "--all");
    await one.type("start", "--until-idle");
    const judged = await reasons();
    assert.equal(judged.length, 2);
    for (const reason of judged) assert.match(reason, /severity must be/, "it is judged again");
  },
);
