import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { gateStates, killed, showPlan, succeeds, untilIdle, waitingAtGate } from "../../testing/at-gate.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { makeGatedProject } from "../../testing/gated.ts";
import { CLI, NODE_FLAGS } from "../../testing/program.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

function gateFile(project: Project): string {
  return join(project.authority, "gates", readdirSync(join(project.authority, "gates"))[0] ?? "");
}

async function refuses(project: Project, expected: RegExp, ...args: string[]): Promise<void> {
  const { code, stderr } = await project.cli(args);
  assert.notEqual(code, 0);
  assert.match(stderr, expected);
}

describe("a gate", { concurrency: 2 }, () => {
  it("is not answered by an agent of the plan that hides its run", async () => {
    const project = await waitingAtGate();
    const env = { ...process.env, HOME: project.home, PRLOOM_RUN_ID: `${project.record("shop").uid}/1` };
    for (const words of [
      ["approve", "shop"],
      ["comment", "shop", "approved"],
    ]) {
      const args = [process.execPath, ...NODE_FLAGS, CLI, ...words].map((one) => `'${one}'`).join(" ");
      const script = `env -u PRLOOM_RUN_ID ${args}; exit $?`;
      const { status, stderr } = spawnSync("sh", ["-c", script], { cwd: project.root, env, encoding: "utf8" });
      assert.equal(status, 2, stderr);
      assert.match(stderr, /agents cannot change plans/);
    }
    assert.deepEqual(await gateStates(project), ["open"]);
    const tried = project.record("shop").ignored?.newest.map(({ kind, reason }) => [kind, reason]) ?? [];
    assert.deepEqual(
      tried.map(([kind]) => kind),
      ["agent", "agent"],
    );
    assert.match(tried.join("\n"), /tried `prloom comment shop` and was refused[\s\S]*tried `prloom approve shop`/);
    assert.match(await succeeds(project, "status"), /refused: 2 commands with which agents answer for you\n {2}shop/);
    assert.match(await succeeds(project, "show", "shop"), /IGNORED \(2\)[\s\S]*tried `prloom approve shop`/);
    project.remove();
  });

  it("is not answered before it is shown", thorough, async () => {
    const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
    project.plan("shop", ["make one"]);
    await killed(project, "gate:opened", "start", "--until-idle");
    await refuses(project, /it was not shown to anyone yet/, "approve", "shop");
    await untilIdle(project);
    assert.match((await showPlan(project)).thread[0]?.body ?? "", /waits for your answer/);
    await succeeds(project, "approve", "shop");
    project.remove();
  });

  it("is not answered after its time, though no dispatcher has looked since", thorough, async () => {
    const project = await waitingAtGate(["make one"], { gates: { expireAfter: "1h" } });
    const path = gateFile(project);
    const gate = JSON.parse(readFileSync(path, "utf8")) as object;
    writeFileSync(path, JSON.stringify({ ...gate, expiresAt: "2026-01-01T00:00:00.000Z" }));
    await refuses(project, /waited for an answer until 2026-01-01/, "approve", "shop");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["expired"]);
    project.remove();
  });

  it(
    "that cannot be read keeps no other from being listed, and is opened again when it was moved away",
    thorough,
    async () => {
      const project = await waitingAtGate();
      const path = gateFile(project);
      project.plan("other", ["make two"]);
      await untilIdle(project);
      writeFileSync(path, "{");
      const listed = JSON.parse(await succeeds(project, "gates", "--json")) as {
        gates: { plan: string }[];
        problems: string[];
      };
      assert.deepEqual(
        listed.gates.map(({ plan }) => plan),
        ["other"],
      );
      assert.match(listed.problems.join(), /^shop: .* is not a gate that can be read/);
      renameSync(path, join(project.home, "torn.json"));
      await untilIdle(project);
      assert.deepEqual(await gateStates(project), ["open"]);
      project.remove();
    },
  );

  it("of another plan opens no door", thorough, async () => {
    const project = await waitingAtGate();
    const path = gateFile(project);
    project.plan("other", ["make one"]);
    await untilIdle(project);
    await succeeds(project, "approve", "other");
    const [other] = (await showPlan(project, "other")).gates;
    const shop = JSON.parse(readFileSync(path, "utf8")) as { gateId: string; scope: string };
    writeFileSync(path, JSON.stringify({ ...other, gateId: shop.gateId, scope: shop.scope }));
    await project.work();
    assert.deepEqual(project.commits("shop"), []);
    await refuses(project, /is not one of shop/, "approve", "shop");
    project.remove();
  });

  it("is not listed any more when the plan was changed since: it is about to be shown again", thorough, async () => {
    const project = await waitingAtGate();
    const file = join(project.home, "other.md");
    writeFileSync(file, project.planText("shop").replace("make one", "make another"));
    await succeeds(project, "edit", "shop", "--file", file);
    const { gates } = JSON.parse(await succeeds(project, "gates", "--json")) as { gates: object[] };
    assert.deepEqual(gates, []);
    await untilIdle(project);
    const events = readFileSync(join(project.authority, "bus", "events.jsonl"), "utf8");
    assert.deepEqual(events.match(/"gate_(?:opened|decided)"/g), ['"gate_opened"', '"gate_decided"', '"gate_opened"']);
    project.remove();
  });

  it("is withdrawn for a plan in review: it is not merged, and shown again first", thorough, async () => {
    const project = await waitingAtGate();
    await succeeds(project, "approve", "shop");
    await untilIdle(project);
    await succeeds(project, "withdraw", "shop");
    await refuses(project, /The approval of shop was withdrawn/, "merge", "shop");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["withdrawn", "open"]);
    assert.equal(project.record("shop").status, "active");
    await succeeds(project, "approve", "shop");
    await untilIdle(project);
    await succeeds(project, "merge", "shop");
    await refuses(project, /the plan is done/, "withdraw", "shop");
    project.remove();
  });

  it(
    "is withdrawn, and the plan sent back: the designer runs, and no worker before the next approval",
    thorough,
    async () => {
      const { project, halfWay } = makeGatedProject({ config: { gates: { plan: true, advisory: true } } });
      project.plan("shop", ["[waits] make one"]);
      await untilIdle(project);
      await succeeds(project, "approve", "shop");
      const dispatcher = await startDaemon(project);
      await halfWay(dispatcher, "shop");
      await succeeds(project, "withdraw", "shop");
      await dispatcher.said("shop", /waits for your answer/);
      await succeeds(project, "revise", "shop", "Another way.");
      await dispatcher.said("shop", /designed: 3 TODOs/);
      await dispatcher.end();
      await untilIdle(project);
      const runs = join(project.authority, "plans", "shop", "runs");
      const stages = readdirSync(runs)
        .map((run) => join(runs, run, "run.json"))
        .filter((path) => existsSync(path))
        .map((path) => (JSON.parse(readFileSync(path, "utf8")) as { stage: string }).stage);
      assert.deepEqual(stages, ["worker", "designer"]);
      assert.deepEqual(await gateStates(project), ["withdrawn", "revised", "open"]);
      assert.deepEqual(project.commits("shop"), []);
      project.remove();
    },
  );

  it(
    "keeps a designer from running that nothing keeps from writing, also where only the plan asks for a gate",
    thorough,
    async () => {
      const project = makeProject();
      project.plan("shop", [], { status: "queued", metadata: { gates: { plan: true } } });
      await project.work();
      assert.match(project.record("shop").blocked?.reason ?? "", /nothing keeps the agent test from writing/);
      assert.throws(() => project.runFile("shop", 1, "prompt.md"), { code: "ENOENT" });
      project.remove();
    },
  );

  it("ends the run of a plan that a person changes: it is shown again before any work goes on", thorough, async () => {
    const { project, halfWay } = makeGatedProject({ config: { gates: { plan: true, advisory: true } } });
    project.plan("shop", ["[waits] make one", "make two"]);
    await untilIdle(project);
    await succeeds(project, "approve", "shop");
    const dispatcher = await startDaemon(project);
    await halfWay(dispatcher, "shop");
    const file = join(project.home, "other.md");
    writeFileSync(file, project.planText("shop").replace("make two", "make three"));
    await succeeds(project, "edit", "shop", "--file", file);
    await dispatcher.said("shop", /not approved as it is now: ending the run/);
    await dispatcher.said("shop", /waits for your answer/);
    assert.deepEqual(
      project.processes().filter((one) => one.includes("test-agent")),
      [],
    );
    await dispatcher.end();
    assert.deepEqual(await gateStates(project), ["approved", "open"]);
    project.remove();
  });

  it("that is taken back ends a worker of a plugin, too", thorough, async () => {
    const { project } = makeGatedProject({
      config: { gates: { plan: true, advisory: true } },
      env: { BEHAVIOUR: "waits" },
    });
    mkdirSync(join(project.root, "plugins"));
    const said = join(project.home, "said");
    const code = `import { writeFileSync } from "node:fs";
      const tell = (error) => writeFileSync(${JSON.stringify(said)}, String(error?.message));
      export default () => ({ beforeTodo: (text, ctx) => ctx.runAgent("go", { stage: "worker" }).then(tell, tell).then(() => text) });`;
    writeFileSync(join(project.root, "plugins", "eager.mjs"), code);
    project.config({ plugins: { eager: { module: "./plugins/eager.mjs" } } });
    project.plan("shop", ["make one"]);
    await untilIdle(project);
    await succeeds(project, "approve", "shop");
    const dispatcher = await startDaemon(project);
    await dispatcher.said("shop", /approved by/);
    await appears(join(project.worktree("shop"), "half.txt"));
    await succeeds(project, "withdraw", "shop");
    await dispatcher.said("shop", /its approval was withdrawn: ending the run/);
    await appears(said);
    assert.match(readFileSync(said, "utf8"), /the agent was interrupted/);
    await dispatcher.said("shop", /waits for your answer/);
    await dispatcher.end();
    assert.equal(project.record("shop").blocked, undefined);
    project.remove();
  });

  it("keeps an agent of a plugin from changing files", thorough, async () => {
    const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
    mkdirSync(join(project.root, "plugins"));
    const call = `ctx.runAgent("go", { stage: "worker" })`;
    const said = join(project.home, "said");
    const code = `import { writeFileSync } from "node:fs";
      const tell = (error) => writeFileSync(${JSON.stringify(said)}, String(error?.message));
      export default () => ({ onEvent: (event, ctx) => ${call}.then(tell, tell) });`;
    writeFileSync(join(project.root, "plugins", "eager.mjs"), code);
    project.config({ plugins: { eager: { module: "./plugins/eager.mjs" } } });
    project.plan("shop", ["make one"]);
    await untilIdle(project);
    await succeeds(project, "comment", "shop", "What about the tests?");
    await untilIdle(project);
    assert.match(readFileSync(said, "utf8"), /shop is not approved, so no agent may change files/);
    project.remove();
  });
});
