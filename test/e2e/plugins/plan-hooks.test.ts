import assert from "node:assert/strict";
import { after, test } from "node:test";
import { thorough } from "../../testing/thorough.ts";
import { makeExtended } from "../fixtures/extended.ts";

const steps = { module: "./plugins/steps.ts" };
const out = { module: "./plugins/feed.ts", config: { name: "out", target: "outside", silent: true } };
const project = makeExtended({
  config: { plugins: { steps }, globalPlugins: { alsoSteps: steps }, globalBridges: { out } },
});
after(() => project.remove());

const sent = (): string[] =>
  project.journal({ call: "actions" }).map(({ payload }) => (payload as { message: string }).message);
const sentOf = (planId: string): string[] => sent().filter((message) => message.startsWith(`${planId} `));

const startups = (): number => sent().filter((message) => message === "onStartup").length;

test("what hooks of a plan emit and remember is committed with them, once", async () => {
  const before = startups();
  project.plan("one", []);
  const { code, stdout, stderr } = await project.work();
  assert.equal(code, 0, stdout + stderr);
  const todo = ["beforeTodo", "afterTodo"];
  const points = ["afterDesign", ...todo, ...todo, "beforeFinish", "afterFinish"];
  const numbered = points.map((point, index) => `one ${point} ${index + 1}`);
  assert.deepEqual(sentOf("one").sort(), ["one afterActivate", ...numbered].sort());
  assert.equal(startups(), before + 1);
  await project.work();
  assert.equal(startups(), before + 2, "once for each start");
  assert.equal(sentOf("one").length, numbered.length + 1);
});

test("what afterTodo leaves in the worktree is part of the commit; beforeFinish may add a TODO", async () => {
  project.plan("two", ["format and add one"]);
  await project.work();
  assert.deepEqual(project.commits("two"), ["format and add one", "extra"]);
  assert.equal(project.git("show", "prloom/two~1:formatted.txt"), "formatted\n");
  assert.equal(project.git("show", "prloom/two:formatted.txt"), "formatted\nformatted\n");
  assert.equal(sentOf("two").filter((message) => message.includes("Finish")).length, 3, "before, before again, after");
  assert.equal(project.record("two").status, "review");
});

test("a hook that hangs blocks its plan when its time is over, and what it emitted is not sent", thorough, async () => {
  project.plan("three", ["hang in beforeTodo"]);
  const { code } = await project.work();
  assert.equal(code, 0);
  assert.match(
    project.record("three").blocked?.reason ?? "",
    /plugin steps failed in beforeTodo: it did not return within 1 s/,
  );
  assert.deepEqual(sentOf("three"), ["three afterActivate"]);
  await project.type("delete", "three", "--yes");
});

const CRASHES = ["hook:attempted", "hook:called", "hook:settled", "hook:all-called"];
for (const [index, point] of CRASHES.entries()) {
  test(`killed at ${point}, a round of hooks is finished once`, thorough, async () => {
    const id = `killed-${index}`;
    project.plan(id, ["sign it"]);
    // The first call of a process is that of onStartup; the others are of the plan.
    let kills = 0;
    for (const count of point === "hook:all-called" ? [1, 3, 1] : [3, 4, 3]) {
      const { signal } = await project.work({ PRLOOM_CRASH_AT: `${point}:${count}` });
      if (signal === "SIGKILL") kills += 1;
    }
    assert(kills >= 2, `${kills} kills`);
    const { code, stdout, stderr } = await project.work();
    assert.equal(code, 0, stdout + stderr);
    assert.equal(project.record(id).status, "review");
    const points = ["beforeTodo 1", "afterTodo 2", "beforeFinish 3", "afterFinish 4"];
    assert.deepEqual(sentOf(id).sort(), [`${id} afterActivate`, ...points.map((one) => `${id} ${one}`)].sort());
    assert.deepEqual(project.planText(id).match(/^Signed .*$/gm), ["Signed 4"]);
  });
}
