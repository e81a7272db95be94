import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { A_CHANGE, FINDINGS } from "../../../src/governance/graph/expected-output.ts";
import { graphOfPlan } from "../../../src/governance/graph/graph-of-plan.ts";
import { blockersOf, findNode, nodesOf } from "../../../src/governance/graph/lookup.ts";
import { graphSchema } from "../../../src/governance/graph/schema.ts";
import { criteriaIn } from "../../../src/plan/checklists/criteria.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { anyPlan } from "../../plan/arbitrary-plans.ts";

function graphOf(todos: string) {
  const doc = parsePlan(`# A plan\n\n## TODO\n\n${todos}`);
  const { graph, current } = graphOfPlan({ id: "p", title: "A plan", status: "active", todos: doc.todos, at: 0 });
  const [plan] = graph.workPlans;
  assert(plan);
  const nodes = nodesOf(plan);
  const at = new Map(nodes.map(({ id }, index) => [id, index + 1]));
  const rows = nodes.map((node) => [node.status, node.dependsOn.map((id) => at.get(id)), node.assignedTo]);
  return { graph, plan, current, rows };
}

test("the first open TODO is started, and one that names nothing is after the one before", () => {
  const { current, plan, rows } = graphOf("- [x] One\n- [ ] Two <!-- note -->\n- [ ] Three\n");
  assert.equal(current?.index, 1);
  assert.equal(plan.tasks[1]?.name, "Two");
  assert.deepEqual(rows, [
    ["completed", [], "executor"],
    ["active", [], "executor"],
    ["blocked", [2], "executor"],
  ]);
});

test("what the dispatcher takes up is blocked by nothing, also when it stands behind one that waits", () => {
  const { graph, current, rows } = graphOf(
    "- [ ] One\n  after: 3\n- [ ] Two\n  by: investigator\n  tools: read, search\n- [ ] Three\n",
  );
  assert.deepEqual(rows, [
    ["blocked", [3], "executor"],
    ["active", [], "investigator"],
    ["blocked", [2], "executor"],
  ]);
  const found = findNode(graph, current?.id ?? "");
  assert.deepEqual(found && blockersOf(graph, found.node), []);
  assert.deepEqual(found?.node.allowedTools, ["read", "search"]);
});

for (const [what, todos] of [
  ["another one was put in front of it", "- [ ] Before it\n- [ ] In hand\n"],
  ["the one in front cannot be done", "- [b] Before it\n- [ ] In hand\n"],
  ["it was to be after one that is open again", "- [ ] Before it\n- [ ] In hand\n  after: 1\n"],
] as const)
  test(`what the dispatcher took up stays in hand: ${what}`, () => {
    const { todos: parsed } = parsePlan(`# A plan\n\n## TODO\n\n${todos}`);
    const inHand = parsed[1]?.id ?? "";
    const { graph, current } = graphOfPlan({
      id: "p",
      title: "A plan",
      status: "active",
      todos: parsed,
      inHand,
      at: 0,
    });
    const found = findNode(graph, inHand);
    assert.equal(current?.id, inHand);
    assert.equal(found?.node.status, "active");
    assert.deepEqual(found && blockersOf(graph, found.node), []);
    assert.notEqual(graph.workPlans[0]?.tasks[0]?.status, "active");
  });

test("a TODO for an investigator expects what was found: a change is denied to it", () => {
  const { plan } = graphOf(
    "- [ ] Look\n  by: investigator\n- [ ] Look for tests\n  by: investigator\n  expects: none\n- [ ] Do\n",
  );
  assert.deepEqual(
    nodesOf(plan).map(({ expectedOutput }) => expectedOutput),
    [FINDINGS, "none", A_CHANGE],
  );
});

test("so does one for a role of the config that changes nothing", () => {
  const text = "# A plan\n\n## TODO\n\n- [ ] Look\n  by: auditor\n- [ ] Do\n  by: builder\n";
  const roles = { auditor: { extends: "investigator" }, builder: { extends: "executor", shell: "none" } } as const;
  const { todos } = parsePlan(text);
  const [plan] = graphOfPlan({ id: "p", title: "A plan", status: "active", todos, roles, at: 0 }).graph.workPlans;
  assert.deepEqual(plan && nodesOf(plan).map(({ expectedOutput }) => expectedOutput), [FINDINGS, A_CHANGE]);
});

test("what was taken up and is done by now is in hand no more", () => {
  const { todos } = parsePlan("# A plan\n\n## TODO\n\n- [x] Done\n- [ ] Next\n");
  const inHand = todos[0]?.id;
  const { current } = graphOfPlan({ id: "p", title: "A plan", status: "active", todos, inHand, at: 0 });
  assert.equal(current?.index, 1);
});

for (const [what, todos] of [
  ["none", ""],
  ["all done", "- [x] One\n"],
  ["a blocked one in front", "- [b] One\n- [ ] Two\n"],
] as const)
  test(`no TODO is started: ${what}`, () => assert.equal(graphOf(todos).current, undefined));

test("plans that must be merged before are in the graph, and their state decides", () => {
  for (const [status, expected] of [
    ["active", ["one"]],
    ["abandoned", ["one"]],
    ["completed", []],
    ["archived", []],
  ] as const) {
    const doc = parsePlan("# A plan\n\n## TODO\n\n- [ ] One\n");
    const terms = { id: "p", title: "A plan", status: "draft", todos: doc.todos, at: 0 } as const;
    const { graph, current } = graphOfPlan({ ...terms, before: [{ id: "one", status }] });
    const found = findNode(graph, current?.id ?? "");
    assert.deepEqual(found && blockersOf(graph, found.node).map(({ id }) => id), expected, status);
    assert.deepEqual([graph.activeWorkPlanId, graph.workPlans[0]?.dependsOn], [null, ["one"]]);
  }
});

test("the plan is the coordinator's, and counts as done when its text says so", () => {
  const text =
    "# A plan\n\n## Acceptance criteria\n\n- It is fast\n- It is safe\n\n## TODO\n\n- [ ] One\n\n## Definition of done\n\n- [ ] It is told\n";
  const { todos } = parsePlan(text);
  const terms = { id: "p", title: "A plan", status: "active", todos, acceptance: criteriaIn(text), at: 0 } as const;
  const [plan] = graphOfPlan(terms).graph.workPlans;
  assert.deepEqual([plan?.ownedBy, plan?.category], ["coordinator", "feature"]);
  const [research] = graphOfPlan({ ...terms, category: "research" }).graph.workPlans;
  const [found] = research?.tasks ?? [];
  assert.deepEqual([research?.category, found?.assignedTo], ["research", "investigator"]);
  assert.match(found?.expectedOutput ?? "", /a file in prloom\/\.local\/evidence/);
  assert.deepEqual(plan?.acceptance.toSorted(), ["It is fast", "It is safe", "It is told"]);
});

/** The schema is what a run reads it with: a plan whose graph does not fit cannot be worked on. */
function assertFits(text: string, title: string): void {
  const { todos } = parsePlan(text);
  const { graph } = graphOfPlan({ id: "p", title, status: "active", todos, acceptance: criteriaIn(text), at: 0 });
  assert.deepEqual(graphSchema.parse(graph), graph);
}

test("any plan has a graph that a run can read, with TODOs that are long or say nothing, too", () => {
  const long = "all of it ".repeat(1000);
  assertFits(
    `# A plan\n\n## Acceptance\n\n- ${long}\n\n## TODO\n\n- [ ] ${long}\n  expects: files ${long}\n- [ ]\n`,
    long,
  );
  assertFits("## TODO\n\n- [ ]\n  context\n- [ ] <!-- from e-1 by ann -->\n", "");
  fc.assert(fc.property(anyPlan, (text) => assertFits(text, text)));
});
