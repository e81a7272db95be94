import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { statKey } from "../../../src/dispatcher/intake/stat-key.ts";
import { story } from "../../testing/story.ts";
import { thorough } from "../../testing/thorough.ts";
import { makeExtended } from "../fixtures/extended.ts";

const project = makeExtended({ config: { plugins: { spin: { module: "./plugins/spin.mjs" } } } });
after(() => project.remove());

/** Blocks the loop before the first TODO of `evil`, as long as its file is there; before that others get their turns. */
const spins = join(project.root, "plugins", "spins");
writeFileSync(
  join(project.root, "plugins", "spin.mjs"),
  `import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
export default () => ({
  async beforeTodo(_todo, context) {
    if (context.planId !== "evil") return;
    await delay(50);
    while (existsSync(${JSON.stringify(spins)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  },
});
`,
);

const work = () => project.work({ PRLOOM_WATCHDOG_MS: "1500" });

const step = story("a plan that blocks the dispatcher");

step("a plan that blocks the dispatcher is named, is blocked the second time, and the others go on", async () => {
  writeFileSync(spins, "");
  for (const id of ["evil", "good", "fine"]) project.plan(id, ["x"]);
  for (const round of [1, 2]) {
    const { signal, stdout, stderr } = await work();
    assert.equal(signal, "SIGKILL", stdout + stderr);
    assert.match(stderr, /^prloom: plan evil \(beforeTodo:spin\) blocked the dispatcher for 2 s/m);
    const note = JSON.parse(readFileSync(join(project.authority, "watchdog.json"), "utf8"));
    assert.deepEqual([note.plan, note.label], ["evil", "beforeTodo:spin"]);
    assert.match(await project.type("status"), /ended by its watchdog \(.*\): plan evil \(beforeTodo:spin\)/);
    assert.equal(project.record("evil").blocked, undefined, `round ${round}`);
  }
  const { code, stdout, stderr } = await work();
  assert.equal(code, 0, stdout + stderr);
  const { blocked } = project.record("evil");
  assert.match(blocked?.reason ?? "", /^It blocked the dispatcher for 2 s, twice \(beforeTodo:spin\)/);
  assert.match(blocked?.hint ?? "", /`prloom unblock evil` gives it another chance/);
  for (const id of ["good", "fine"]) assert.equal(project.record(id).status, "review", id);

  // Nothing of it is looked at by the next ones either.
  const again = await work();
  assert.equal(again.code, 0, again.stdout + again.stderr);
});

step("unblock gives it another chance", async () => {
  rmSync(spins, { force: true });
  await project.type("unblock", "evil");
  const { code, stdout, stderr } = await work();
  assert.equal(code, 0, stdout + stderr);
  assert.equal(project.record("evil").status, "review");
});

test("a kill between counting a note and removing it counts once", thorough, async () => {
  project.plan("unlucky", ["x"]);
  await work();
  const note = { schemaVersion: 1, at: new Date().toISOString(), label: "verify", plan: "unlucky", blockedMs: 30_000 };
  writeFileSync(join(project.authority, "watchdog.json"), JSON.stringify(note));
  const killed = await project.work({ PRLOOM_CRASH_AT: "watchdog:counted" });
  assert.equal(killed.signal, "SIGKILL");
  await work();
  const { plans } = JSON.parse(readFileSync(join(project.authority, "stalls.json"), "utf8"));
  assert.equal(plans.unlucky.count, 1);
  assert.equal(project.record("unlucky").blocked, undefined);
});

test(
  "a draft that blocks the dispatcher before it is a plan is shown, and taken once it changes",
  thorough,
  async () => {
    for (const dir of [project.inbox, project.authority]) mkdirSync(dir, { recursive: true });
    const file = join(project.inbox, "issue.md");
    writeFileSync(file, "## TODO\n\n- [ ] x\n");
    const stall = { count: 2, label: "taking it from the inbox", blockedMs: 30_000, of: statKey(file) };
    const stalls = { schemaVersion: 1, counted: "", plans: { issue: stall } };
    writeFileSync(join(project.authority, "stalls.json"), JSON.stringify(stalls));
    assert.equal((await work()).code, 0);
    const { problems } = await project.status();
    const told = problems.find((problem) => problem.file === "issue.md");
    assert.match(told?.reason ?? "", /blocked the dispatcher for 30 s, twice \(taking it from the inbox\)/);
    assert.match(told?.hint ?? "", /`prloom unblock issue`/);
    assert.throws(() => project.record("issue"));

    writeFileSync(file, "## TODO\n\n- [ ] y\n");
    assert.equal((await work()).code, 0);
    assert.equal(project.record("issue").status, "draft");
    assert.equal((await project.status()).problems.length, 0);
  },
);
