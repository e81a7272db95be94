import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeProject } from "../../../testing/project.ts";
import { thorough } from "../../../testing/thorough.ts";

const project = makeProject();
after(() => project.remove());

const common = { at: 1, session: "s", role: "executor" };
const checkpoint = (node: string, summary: string) => ({
  type: "checkpoint",
  key: `k-${summary}`,
  ...common,
  checkpoint: {
    id: summary,
    taskNodeId: node,
    tool: "write",
    timestamp: 1,
    summary,
    filesModified: ["src/a.ts"],
    kind: "change",
    ok: true,
  },
});

test("tasks shows what each TODO waits for and what agents told, whatever that is", async () => {
  const done = "## Done when\n\n- it sells\n";
  project.planFile("shop", `## Title\n\nShop\n\n${done}\n## TODO\n\n- [ ] one\n- [ ] two\n  after: 1\n`);
  const worked = await project.work();
  assert.equal(worked.code, 0, worked.stderr);
  const before = JSON.parse((await project.cli(["tasks", "shop", "--json"])).stdout);
  const [first] = before.workPlans[0].tasks;
  assert.deepEqual([first.name, first.status, first.checkpoints], ["one", "completed", []]);
  assert.equal(first.result, undefined, "nothing was recorded for it");
  const { ownedBy, acceptance } = before.workPlans[0];
  assert.deepEqual([ownedBy, acceptance], ["coordinator", ["it sells"]]);

  const anchor = {
    id: "an-1",
    content: "Keep \u001b[31mit",
    priority: "high",
    entityType: "decision",
    createdAt: 1,
    modifiedAt: Date.now(),
  };
  const claimed = { evidence: "It sells.", filesModified: ["made-up.ts"], testsRun: "all", anchorsCreated: ["an-1"] };
  const lines = [
    JSON.stringify(checkpoint(first.id, "wrote \u001b[2Ja")),
    JSON.stringify(checkpoint("nowhere", "lost")),
    JSON.stringify({ type: "node_moved", key: "m", ...common, node: first.id, move: "release" }),
    JSON.stringify({ type: "anchored", key: "a", ...common, anchor }),
    "not a fact",
    JSON.stringify({ type: "node_moved", key: "c", ...common, node: first.id, move: "complete", result: claimed }),
  ];
  const folder = join(project.authority, "plans", "shop", "runs", "1", "agent");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "facts.jsonl"), `${lines.join("\n")}\n`);
  const { stdout, stderr, code } = await project.cli(["tasks", "shop"]);
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^shop: Shop \[active\]\n {2}\w+: one \[completed\]\n {4}· write: wrote \\u\{1b\}\[2Ja\n {2}\w+: two/,
  );
  assert.match(stderr, /run 1, line 2 of facts\.jsonl: There is no task "nowhere"/);
  assert.match(stderr, /line 3 .*moved by the dispatcher alone/);
  assert.match(stderr, /line 5 .*not JSON/);
  const { workPlans } = JSON.parse((await project.cli(["tasks", "shop", "--json"])).stdout);
  const recorded = { filesModified: ["src/a.ts"], testsRun: "none" };
  assert.deepEqual(workPlans[0].tasks[0].result, { ...claimed, ...recorded }, "files and tests as they were recorded");
  const anchored = await project.cli(["anchors", "shop"]);
  assert.match(anchored.stderr, /line 5 .*not JSON/, "it may have been an anchor");
  assert.match(anchored.stdout, /^\[high\/decision, 0 h\] Keep \\u\{1b\}\[31mit\n$/);
  const unknown = await project.cli(["tasks", "shp"]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /shop/);
});

test("tasks shows the plans that must be merged before, and waits for them", async () => {
  project.planFile("later", "# Later\n\n## TODO\n\n- [ ] one\n\n## Depends on\n\n- shop\n");
  const { stdout } = await project.cli(["tasks", "later"]);
  assert.match(stdout, /^later: Later \[draft\]\n {2}\w+: one \[(?!active).*\]\nshop \[active\]\n/);
});

test("show draws them where an agent was governed, sub-agents below those who started them", async () => {
  const runs = join(project.authority, "plans", "shop", "runs", "1");
  const record = JSON.parse(readFileSync(join(runs, "run.json"), "utf8"));
  writeFileSync(join(runs, "run.json"), JSON.stringify({ ...record, level: "policy+sandbox" }));
  const { workPlans } = JSON.parse((await project.cli(["tasks", "shop", "--json"])).stdout);
  const [{ id: node }] = workPlans[0].tasks;
  const handed = (session: string, parentSession: string) => ({
    ...{ type: "delegated", key: session, ...common },
    delegation: {
      ...{ id: `d-${session}`, from: "executor", to: "executor", node, session, parentSession },
      ...{ tools: [], expectedOutput: "x" },
    },
  });
  const lines = [handed("child", "own"), handed("grandchild", "child"), checkpoint(node, "wrote it")];
  writeFileSync(join(runs, "agent", "facts.jsonl"), lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const { stdout } = await project.cli(["show", "shop"]);
  assert.match(
    stdout,
    /TASKS\n {2}shop: Shop \[active\]\n {4}\w+: one \[completed\]\n {6}· write: wrote it\n {6}→ d-child: .* \[expired\]\n {8}→ d-grandchild: .* \[expired\]/,
    "the run is over, and with it what was under way in it",
  );
  assert.doesNotMatch((await project.cli(["show", "later"])).stdout, /TASKS/);
});

test("what several runs did under the same ids of calls is all there", async () => {
  const { workPlans } = JSON.parse((await project.cli(["tasks", "shop", "--json"])).stdout);
  const [{ id: first }, { id: second }] = workPlans[0].tasks;
  const handed = (node: string) => ({
    ...{ type: "delegated", key: "d", ...common },
    delegation: {
      ...{ id: "call_1", from: "executor", to: "executor", node, session: "child", parentSession: "s" },
      ...{ tools: [], expectedOutput: "x" },
    },
  });
  const ended = { type: "delegation_moved", key: "e", ...common, delegation: "call_1", move: "complete" };
  for (const [run, node] of [first, second].entries()) {
    const folder = join(project.authority, "plans", "shop", "runs", String(run + 1), "agent");
    mkdirSync(folder, { recursive: true });
    const did = { ...checkpoint(node, `wrote in run ${run + 1}`), key: "s:call_0" };
    const lines = [did, handed(node), { ...ended, result: `Run ${run + 1}.` }];
    writeFileSync(join(folder, "facts.jsonl"), lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  }
  const { stdout, stderr } = await project.cli(["tasks", "shop"]);
  assert.match(
    stdout,
    /one .*\n.*wrote in run 1\n.*call_1: .*: Run 1\.\n.*two .*\n.*wrote in run 2\n.*call_1 .*: Run 2\./,
  );
  assert.equal(stderr, "");
});

test("a part that was under way when its run ended is done where it was brought back, and else open again", async () => {
  const { workPlans } = JSON.parse((await project.cli(["tasks", "shop", "--json"])).stdout);
  const [{ id: first }] = workPlans[0].tasks;
  const terms = { expectedOutput: "x", delegatedBy: "executor", assignedTo: "executor", allowedTools: [] };
  const part = (id: string) => ({ id, name: id, parent: first, ...terms, dependsOn: [], temporalGate: null });
  const delegation = {
    ...{ id: "call_2", from: "executor", to: "executor", node: "tn-back", session: "child", parentSession: "s" },
    ...{ tools: [], expectedOutput: "x" },
  };
  const ends = ["accept", "complete"].map((move) => ({
    type: "delegation_moved",
    key: move,
    delegation: "call_2",
    move,
  }));
  const facts = [
    { type: "nodes_planned", key: "n", plan: "shop", ahead: false, nodes: [part("tn-back"), part("tn-lost")] },
    ...["tn-back", "tn-lost"].map((node) => ({ type: "node_moved", key: node, node, move: "start" })),
    { type: "delegated", key: "d", delegation },
    { ...checkpoint("tn-back", "wrote it"), key: "c" },
    ...ends,
    // Too late, as it was told.
    { type: "delegation_moved", key: "late", delegation: "call_2", move: "recall" },
  ];
  const folder = join(project.authority, "plans", "shop", "runs", "1", "agent");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "facts.jsonl"), facts.map((one) => `${JSON.stringify({ ...common, ...one })}\n`).join(""));
  const { stdout, stderr } = await project.cli(["tasks", "shop"]);
  assert.equal(stderr, "");
  assert.match(stdout, /tn-back: tn-back \[completed\]/);
  assert.match(stdout, /tn-lost: tn-lost \[planned\]/);
});

test("what an agent asked too early is no trouble, and of a TODO that was taken out that is said once", async () => {
  project.plan("edited", ["[no-tick] one", "two"]);
  await project.work();
  const { workPlans } = JSON.parse((await project.cli(["tasks", "edited", "--json"])).stdout);
  const [{ id: first }] = workPlans[0].tasks;
  const folder = join(project.authority, "plans", "edited", "runs", "1", "agent");
  mkdirSync(folder, { recursive: true });
  const asked = { type: "node_moved", key: "early", ...common, node: first, move: "complete" };
  const lines = [asked, checkpoint(first, "wrote it"), checkpoint(first, "wrote more")];
  writeFileSync(join(folder, "facts.jsonl"), lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  assert.equal((await project.cli(["tasks", "edited"])).stderr, "");
  const file = join(project.home, "edited.md");
  writeFileSync(file, project.planText("edited").replace("[no-tick] one", "another"));
  assert.equal((await project.cli(["edit", "edited", "--file", file])).code, 0);
  const { stderr } = await project.cli(["tasks", "edited"]);
  assert.match(stderr, /^run 1: its TODO was changed or taken out since; what was done for it is left out\n$/);
});

test("of a journal that is too large what fits is shown, and said to be a part", thorough, async () => {
  const { workPlans } = JSON.parse((await project.cli(["tasks", "shop", "--json"])).stdout);
  const [{ id: node }] = workPlans[0].tasks;
  const file = join(project.authority, "plans", "shop", "runs", "1", "agent", "facts.jsonl");
  const filler = `${" ".repeat(1023)}\n`.repeat(4096);
  const line = (summary: string) => `${JSON.stringify(checkpoint(node, summary))}\n`;
  writeFileSync(file, `${line("early")}${filler}${line("late")}`);
  const { stdout, stderr } = await project.cli(["tasks", "shop"]);
  assert.match(stdout, /· write: early\n/);
  assert.doesNotMatch(stdout, /late/);
  assert.match(stderr, /run 1: facts\.jsonl is too large to be shown whole/);
});

test("a journal that an agent put something else in place of is named", async () => {
  const file = join(project.authority, "plans", "shop", "runs", "1", "agent", "facts.jsonl");
  rmSync(file, { recursive: true, force: true });
  mkdirSync(file, { recursive: true });
  const { stdout, stderr } = await project.cli(["tasks", "shop"]);
  assert.match(stdout, /one \[completed\]/);
  assert.match(stderr, /run 1: facts\.jsonl is not a file any more; what the run did is left out/);
});

test("of a plan that is not begun no task is active", async () => {
  project.plan("sketch", ["one", "two"], { status: "draft" });
  const { stdout } = await project.cli(["tasks", "sketch"]);
  assert.match(stdout, /^sketch: .* \[draft\]\n {2}\w+: one \[planned\]\n {2}\w+: two \[waiting for \w+\]\n$/);
});

test("of a plan that was approved no task is active before one is begun", async () => {
  const own = makeProject({ config: { gates: { plan: true, advisory: true } } });
  after(() => own.remove());
  own.plan("asks", ["one", "two"]);
  await own.work();
  await own.cli(["approve", "asks"]);
  const { stdout } = await own.cli(["tasks", "asks"]);
  assert.match(stdout, /^asks: .* \[active\]\n {2}\w+: one \[planned\]\n/);
});

test("of a plan that is blocked or paused no task is active, and what was done for it is shown", async () => {
  project.planFile("stuck", "# Stuck\n\n## TODO\n\n- [ ] one\n  by: wrter\n- [ ] two\n");
  await project.work();
  const blocked = /^stuck: .*\n {2}\w+: one \[planned\]\n(?: {4}.*\n)*? {2}\w+: two \[waiting for \w+\]\n$/;
  assert.match((await project.cli(["tasks", "stuck"])).stdout, blocked);
  const { workPlans } = JSON.parse((await project.cli(["tasks", "stuck", "--json"])).stdout);
  const folder = join(project.authority, "plans", "stuck", "runs", "1");
  mkdirSync(join(folder, "agent"), { recursive: true });
  writeFileSync(join(folder, "run.json"), readFileSync(join(project.authority, "plans/shop/runs/1/run.json")));
  const did = JSON.stringify(checkpoint(workPlans[0].tasks[0].id, "wrote it"));
  writeFileSync(join(folder, "agent", "facts.jsonl"), `${did}\n`);
  const { stdout, stderr } = await project.cli(["tasks", "stuck"]);
  assert.match(stdout, blocked);
  assert.match(stdout, /· write: wrote it/);
  assert.equal(stderr, "");

  project.plan("rests", ["[no-tick] one"]);
  await project.work();
  await project.cli(["unblock", "rests"]);
  await project.cli(["pause", "rests"]);
  assert.match((await project.cli(["tasks", "rests"])).stdout, /one \[planned\]/);
});
