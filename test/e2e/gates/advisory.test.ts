import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { probeSandbox } from "../../../src/agents/sandbox/probe.ts";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { showPlan, succeeds, untilIdle } from "../../testing/at-gate.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

const UNKEPT = (name: string): RegExp =>
  new RegExp(`nothing keeps the agent ${name} from writing[\\s\\S]*"advisory": true`);

async function refused(project: Project, expected: RegExp, ...args: string[]): Promise<void> {
  const { code, stderr } = await project.cli(args);
  assert.equal(code, 1, args.join(" "));
  assert.match(stderr, expected);
}

describe("a gate with an agent that nothing keeps from writing", { concurrency: 2 }, () => {
  it("is not switched on by a reload, unless that is said", async () => {
    const project = makeProject();
    project.plan("shop", ["make one"], { status: "draft" });
    const daemon = await startDaemon(project);
    project.config({ gates: { plan: true } });
    await refused(project, UNKEPT("test"), "reload", "--yes");
    // Nothing of it was applied.
    const { pinned } = JSON.parse(await succeeds(project, "status", "--json")) as { pinned: { changes: object[] } };
    assert.equal(pinned.changes.length, 1);
    project.config({ gates: { plan: true, advisory: true } });
    await succeeds(project, "reload", "--yes");
    await succeeds(project, "queue", "shop");
    await daemon.said("shop", /^waits for your answer/);
    assert.match((await showPlan(project)).thread[0]?.body ?? "", /It is advisory/);
    const listed = await project.cli(["gates"]);
    assert.match(`${listed.stdout}${listed.stderr}`, /They are advisory/);
    await daemon.end();
    assert.equal(project.record("shop").runs, 0);
    project.remove();
  });

  it("is not switched on by a preset, also if that has the agent itself", thorough, async (t) => {
    if (!(await probeSandbox()).works) return t.skip("there is no sandbox here");
    const project = makeProject({ sandbox: "bwrap" });
    const { agents } = project.config() as { agents: { test: object } };
    const own = { other: { ...agents.test, sandbox: "none" } };
    project.config({ presets: { careful: { gates: { plan: true } } }, agents: { ...agents, ...own } });
    await refused(project, UNKEPT("other"), "start", "--until-idle");
    project.config({ presets: { careful: { gates: { plan: true } } }, agents });
    project.plan("shop", ["make one"], { status: "queued", metadata: { preset: "careful" } });
    await untilIdle(project);
    const { phase, thread } = await showPlan(project);
    assert.equal(phase, "plan_gate");
    assert.doesNotMatch(thread[0]?.body ?? assert.fail("nothing is shown"), /advisory/);
    project.config({ presets: { careful: { gates: { plan: true }, agents: own } } });
    await refused(project, UNKEPT("other"), "start", "--until-idle");
    project.remove();
  });

  it("asks in vain for an agent of the config that a stage uses or not", thorough, async (t) => {
    if (!(await probeSandbox()).works) return t.skip("there is no sandbox here");
    const project = makeProject({ sandbox: "bwrap", config: { gates: { pr: true } } });
    const { agents } = project.config() as { agents: { test: object } };
    project.config({ agents: { ...agents, spare: { ...agents.test, sandbox: "none" } } });
    await refused(project, UNKEPT("spare"), "start", "--until-idle");
    project.remove();
  });

  it("that only a plan asks for is not opened, and no agent of a plugin is started for it", thorough, async () => {
    const project = makeProject();
    const said = join(project.home, "said");
    writeFileSync(
      join(project.root, "prloom", "asks.mjs"),
      `import { renameSync, writeFileSync } from "node:fs";
       const [file, part] = [${JSON.stringify(said)}, ${JSON.stringify(`${said}.part`)}];
       const put = (text) => { writeFileSync(part, text); renameSync(part, file); };
       export default () => ({ async onEvent(event, ctx) {
         await ctx.runAgent("Look at it.").then((text) => put("ran: " + text), (error) => put(error.message)); } });`,
    );
    project.config({ plugins: { asks: { module: "./prloom/asks.mjs" } } });
    project.plan("shop", ["make one"], { status: "queued", metadata: { gates: { plan: true } } });
    const daemon = await startDaemon(project);
    await daemon.said("shop", /nothing keeps the agent test from writing/);
    await succeeds(project, "comment", "shop", "What is it about?");
    await appears(said);
    await daemon.end();
    assert.match(
      readFileSync(said, "utf8"),
      /^A person is to be asked \(gates\), and nothing keeps the agent test from/,
    );
    assert.equal(project.record("shop").runs, 0);
    project.remove();
  });
});
