import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Progress } from "../../../src/dispatcher/capabilities.ts";
import { type Project, TEST_AGENT } from "../../testing/project.ts";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

describe("plans among each other", { concurrency: 2 }, () => {
  const fresh = projectMaker();
  /** A project whose agents have `<home>/meeting` in common. */
  function meeting(limits: Record<string, unknown>, parties = 2): { project: Project; folder: string } {
    const project = fresh({ config: { limits } });
    const folder = join(project.home, "meeting");
    const env = { MEETING: folder, PARTIES: String(parties) };
    project.config({ agents: { test: { command: process.execPath, args: [TEST_AGENT], env, sandbox: "none" } } });
    return { project, folder };
  }

  test("run at the same time: two agents that wait for each other both finish", async () => {
    const { project } = meeting({ maxRunningAgents: 2 });
    project.plan("left", ["[meets] one"]);
    project.plan("right", ["[meets] one"]);
    const result = await project.work();
    assert.equal(result.code, 0, result.stderr);
    for (const id of ["left", "right"]) assert.deepEqual(project.commits(id), ["[meets] one"]);
  });

  test("limits.maxRunningAgents and limits.maxOpenPlans hold at every moment, and every plan has a turn", async () => {
    const { project, folder } = meeting({ maxRunningAgents: 2, maxOpenPlans: 3 });
    const ids = ["a", "b", "c", "d", "e", "f"];
    for (const id of ids) project.plan(id, ["[counts] one"]);
    const result = await project.cli(["start", "--until-idle", "--json"]);
    assert.equal(result.code, 0, result.stderr);
    for (const id of ids) assert.equal(project.record(id).status, "review", id);
    const counted = readFileSync(join(folder, "counted"), "utf8").trim().split("\n").map(Number);
    assert(Math.max(...counted) <= 2, `${counted}`);
    const open = new Set<string>();
    for (const line of result.stdout.trim().split("\n")) {
      const { planId = "", text = "" } = JSON.parse(line) as Progress;
      if (text === "activating") open.add(planId);
      if (text.startsWith("in review")) open.delete(planId);
      assert(open.size <= 3, `open at once: ${[...open]}`);
    }
  });

  test("a plan waits until what it depends on is merged; one that was deleted blocks it", async () => {
    const project = fresh();
    const source = { system: "tracker", kind: "ticket", id: "T-1" };
    project.plan("base", ["one"], { status: "queued", source });
    project.planFile("by-list", "## Depends on\n\n- base\n\n## TODO\n\n- [ ] two\n");
    project.plan("by-source", ["two"], { status: "queued", metadata: { dependsOn: [source] } });
    project.plan("dropped", ["one"], { status: "draft" });
    project.plan("orphan", ["two"], { status: "queued", metadata: { dependsOn: ["dropped"] } });
    project.plan("selfish", ["two"], { status: "queued", metadata: { dependsOn: ["selfish"] } });
    project.plan("early", ["two"], { status: "queued", metadata: { dependsOn: "not-there-yet" } });
    await project.work();
    const waiting = async (id: string) => (await project.status()).plans.find((plan) => plan.planId === id)?.waiting;
    assert.equal(project.record("base").status, "review");
    for (const id of ["by-list", "by-source"]) assert.equal(project.record(id).status, "queued");
    assert.equal(await waiting("by-list"), "base must be merged first");
    assert.match((await waiting("early")) ?? "", /not-there-yet \(no such plan yet\)/);
    assert.match(project.record("selfish").blocked?.reason ?? "", /depends on itself/);

    assert.equal((await project.cli(["delete", "dropped"])).code, 0);
    assert.equal((await project.cli(["merge", "base"])).code, 0);
    await project.work();
    for (const id of ["by-list", "by-source"]) {
      assert.equal(project.record(id).status, "review", id);
      assert.equal(project.git("show", `prloom/${id}:work.txt`), "one\ntwo\n");
    }
    assert.equal(project.record("early").status, "queued");
    assert.match(project.record("orphan").blocked?.reason ?? "", /depends on dropped, which was deleted/);
    assert.match(project.record("orphan").blocked?.hint ?? "", /prloom unblock orphan/);
  });

  test(
    "comments become TODOs of a plan in review; a triage that answers nonsense blocks only its own plan",
    thorough,
    async () => {
      const project = fresh({ config: { limits: { attemptsPerTodo: 1 } } });
      const { test: agent } = project.config().agents as Record<string, Record<string, unknown>>;
      const broken = { ...agent, env: { TRIAGE: "broken" } };
      project.config({ agents: { test: agent, broken }, presets: { odd: { stages: { triage: "broken" } } } });
      project.plan("plain", ["one"]);
      for (const id of ["odd", "left"]) project.plan(id, ["one"], { status: "queued", metadata: { preset: "odd" } });
      await project.work();
      for (const id of ["plain", "odd", "left"])
        assert.equal((await project.cli(["comment", id, "please make two"])).code, 0);
      await project.work();
      assert.deepEqual(project.commits("plain"), ["one", "make two"]);
      assert.match(project.record("odd").blocked?.reason ?? "", /triage gave no usable result.*cannot be used/is);
      assert.match(project.record("odd").blocked?.hint ?? "", /`prloom unblock odd` tries again; .*`stages\.triage`/);
      assert.deepEqual(project.commits("odd"), ["one"]);
      // A person who does not need an answer gets on: its agent may not know how to triage at all.
      const refused = await project.cli(["merge", "left"]);
      assert.match(refused.stderr, /left is blocked: .*\n(?:.*\n)* {2}hint: .*`prloom merge left --force`/);
      assert.match((await project.cli(["merge", "left", "--force"])).stdout, /^merged left into main/m);
      assert.equal((await project.work()).code, 0);
      assert.equal(project.record("left").status, "done");
      // The comment is not lost: when triage works again it is answered.
      project.config({ presets: { odd: {} } });
      assert.equal((await project.cli(["unblock", "odd"])).code, 0);
      await project.work();
      assert.deepEqual(project.commits("odd"), ["one", "make two"]);
      assert.equal(project.record("odd").status, "review");
    },
  );

  test("a plan without TODOs gets them from the designer, whose other changes are put aside", thorough, async () => {
    const project = fresh({ env: { DESIGN: "source" } });
    project.plan("idea", []);
    const result = await project.work();
    assert.equal(project.record("idea").status, "review", result.stdout);
    assert.deepEqual(project.commits("idea"), ["designed one", "designed two"]);
    assert.match(
      project.planText("idea"),
      /^## Title\n\nPlan idea\n\n## TODO\n\n- \[x\] designed one\n- \[x\] designed two\n/,
    );
    assert.equal(project.git("ls-tree", "-r", "--name-only", "prloom/idea").includes("sneaked-in.txt"), false);
    assert.match(project.runFile("idea", 1, "aside.patch"), /sneaked-in\.txt/);
  });
});
