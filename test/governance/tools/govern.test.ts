import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Brain } from "../../../src/governance/graph/brain.ts";
import { findNode } from "../../../src/governance/graph/lookup.ts";
import { makeGraph, makeNode, makeWorkPlan } from "../../../src/governance/graph/make-graph.ts";
import { roleNamed } from "../../../src/governance/policy/roles.ts";
import type { Caller } from "../../../src/governance/tools/answer.ts";
import { GOVERN_ACTIONS, type GovernTool, inputSchema, parseCall } from "../../../src/governance/tools/arguments.ts";
import { DESCRIPTIONS } from "../../../src/governance/tools/descriptions.ts";
import { governCall } from "../../../src/governance/tools/govern.ts";
import { checkpoint, plan, nodes as planNodes, planned } from "../graph/facts.ts";

/** A session: each call is judged elsewhere, written, and answered by what came of it. */
function session(brain: Brain, changes: Partial<Caller> = {}) {
  let count = 0;
  return (tool: GovernTool, input: unknown): string => {
    count += 1;
    const caller: Caller = {
      session: "s",
      call: `call${count}`,
      role: "executor",
      node: null,
      now: 1000 + count,
      isDispatched: false,
      newId: () => `${count}`,
      ...changes,
    };
    const prepared = governCall({ tool, input }, caller, brain);
    if (prepared.kind === "answer") return prepared.text;
    if (prepared.kind === "run") return `run ${prepared.command}`;
    return prepared.answer(brain.add(prepared.fact), brain);
  };
}

const given = () =>
  new Brain(
    makeGraph([
      makeWorkPlan(
        {
          id: "p",
          name: "Accounts",
          status: "active",
          tasks: [makeNode({ id: "todo", workPlanId: "p", name: "Build the form", status: "active" }, 0)],
          planAhead: [
            makeNode({ id: "next", workPlanId: "p", name: "Test it", status: "blocked", dependsOn: ["todo"] }, 0),
          ],
        },
        0,
      ),
    ]),
  );

describe("alone", () => {
  test("a plan is made, its tasks are planned, worked on and completed", () => {
    const brain = new Brain();
    const call = session(brain, { role: "coordinator" });
    assert.match(call("govern_plan", { action: "create", name: "Accounts" }), /is made: wp-1\.\nNext: govern_plan/);
    const tasks = [{ name: "Form", expectedOutput: "a change" }];
    assert.match(call("govern_plan", { action: "plan_tasks", tasks }), /Planned:\n {2}tn-2: Form/);
    assert.match(call("govern_task", { action: "start", node: "tn-2" }), /is started/);
    assert.match(
      call("govern_task", { action: "complete", node: "tn-2", evidence: "x" }),
      /REFUSED.*a changed file is missing/,
    );
    brain.add(checkpoint("tn-2", ["src/form.ts"]));
    assert.match(call("anchor", { action: "create", content: "No sessions" }), /Anchored/);
    assert.match(call("govern_task", { action: "complete", node: "tn-2", evidence: "It works." }), /is completed/);
    assert.deepEqual(findNode(brain.graph, "tn-2")?.node.result, {
      evidence: "It works.",
      filesModified: ["src/form.ts"],
      testsRun: "none",
      anchorsCreated: brain.anchors.map(({ id }) => id),
    });
    assert.equal(brain.anchors.length, 1);
    assert.match(call("govern_plan", { action: "archive", plan: "wp-1" }), /REFUSED: .* is draft: it cannot archive/);
    assert.match(call("govern_plan", { action: "abandon", plan: "wp-1", reason: "No." }), /is abandoned/);
  });

  test("a start before its time is refused and recorded with the gate", () => {
    const brain = new Brain();
    const gate = { afterTaskId: "a", reason: "Tables first." };
    brain.add(plan("p"));
    brain.add(planNodes("p", planned("a"), planned("b", { temporalGate: gate })));
    assert.match(session(brain)("govern_task", { action: "start", node: "b" }), /REFUSED: "Task b" waits/);
    assert.equal(findNode(brain.graph, "b")?.node.temporalGate?.enforcedAt, 1001);
  });
});

describe("under the dispatcher", () => {
  const own = { node: "todo", isDispatched: true };

  test("the own task is started already, and what is said about it is noted", () => {
    const brain = given();
    const call = session(brain, own);
    assert.match(call("govern_task", { action: "start" }), /started already, by the dispatcher/);
    brain.add(checkpoint("todo", ["src/a.ts"]));
    assert.match(call("govern_task", { action: "complete", evidence: "Done." }), /Noted\. The dispatcher looks/);
    assert.match(call("govern_task", { action: "review" }), /Noted\. The dispatcher reviews.*\n {2}· write: Wrote\./);
    assert.match(call("govern_task", { action: "fail", reason: "No such table." }), /marked as failed/);
    assert.match(
      call("govern_task", { action: "start", node: "next" }),
      /REFUSED: The task "Test it" is moved by the dispatcher/,
    );
    assert.equal(findNode(brain.graph, "todo")?.node.status, "active");
  });

  test("plans are not made, and tasks are proposed", () => {
    const brain = given();
    const call = session(brain, own);
    assert.match(call("govern_plan", { action: "create", name: "Mine" }), /REFUSED: Plans are made by people/);
    const tasks = [{ name: "Also this", expectedOutput: "none" }];
    assert.match(call("govern_plan", { action: "plan_tasks", tasks }), /Proposed; a person decides/);
    assert.deepEqual(
      brain.graph.workPlans[0]?.planAhead.map(({ name }) => name),
      ["Test it", "Also this"],
    );
  });

  test("a part of the own task is handed over, and recalled by the one who did", () => {
    const brain = given();
    const call = session(brain, own);
    const assign = {
      action: "assign",
      to: "investigator",
      name: "Find callers",
      expectedOutput: "a list",
      tools: ["read"],
    };
    const assigned = /is a task for investigator: tn-1[\s\S]* If you have no such tool, do it yourself\./;
    assert.match(call("govern_delegate", assign), assigned);
    const wrong = { ...assign, tools: ["read", "reed"] };
    assert.match(call("govern_delegate", wrong), /REFUSED: There is no tool "reed"/);
    const { parent, allowedTools, assignedTo } = findNode(brain.graph, "tn-1")?.node ?? {};
    assert.deepEqual([parent, allowedTools, assignedTo], ["todo", ["read"], "investigator"]);
    const terms = { from: "executor", to: "investigator", node: "tn-1", session: "child", parentSession: "s" };
    const delegation = { id: "d", ...terms, tools: ["read"], expectedOutput: "a list" };
    const common = { key: "k", at: 1, session: "s", role: "executor" };
    brain.add({ type: "delegated", ...common, delegation });
    const recall = { action: "recall", delegation: "d", reason: "Not needed." };
    assert.match(
      session(brain, { ...own, session: "other" })("govern_delegate", recall),
      /REFUSED: You handed over nothing/,
    );
    assert.match(call("govern_delegate", recall), /is recalled/);
    assert.equal(call("govern_delegate", { action: "status" }), "d: executor to investigator [recalled]: Not needed.");
  });

  test("status shows the chain, what was done, and what is the own task", () => {
    const brain = given();
    brain.add(checkpoint("todo", ["src/a.ts"], { summary: "src/a.ts" }));
    assert.equal(
      session(brain, own)("govern_task", { action: "status" }),
      `p: Accounts [active]
  todo: Build the form [active] ← YOUR TASK
    · write: src/a.ts
  next: Test it [blocked, waits for todo]
Expects a change; assigned to executor.`,
    );
  });
});

test("an anchor made again is renewed", () => {
  const brain = new Brain();
  const call = session(brain);
  const input = { action: "create", content: "Tokens.", priority: "critical", entityType: "decision" };
  assert.match(call("anchor", input), /Anchored/);
  assert.match(call("anchor", input), /was there/);
  assert.equal(brain.anchors.length, 1);
  assert.equal(call("anchor", { action: "list" }), "an-1 [critical/decision, 0 h] Tokens.");
});

for (const [what, tool, input, expected] of [
  ["no object", "govern_task", "start", /"action" must be one of start, complete/],
  ["an action of another tool", "govern_task", { action: "create" }, /"action" must be one of/],
  ["a name of Object's", "govern_task", { action: "constructor" }, /"action" must be one of/],
  ["a missing field", "govern_task", { action: "fail" }, /"reason"/],
  ["a field too many", "anchor", { action: "list", all: true }, /all/],
  ["a wrong type", "govern_plan", { action: "plan_tasks", tasks: "x" }, /"tasks"/],
  ["a name without end", "anchor", { action: "create", content: "x".repeat(3000) }, /"content"/],
] as const)
  test(`arguments with ${what} are refused by name, with a call that can be made`, () => {
    const text = session(new Brain())(tool, input);
    assert.match(text, /^REFUSED: The arguments of/);
    assert.match(text, expected);
    const [, next, example = ""] = /\nNext: (\w+) (.+)$/.exec(text) ?? [];
    assert.equal(next, tool);
    assert("call" in parseCall(tool, JSON.parse(example)), example);
  });

test("every action has an example that can be used", () => {
  for (const [tool, actions] of Object.entries(GOVERN_ACTIONS))
    for (const action of Object.keys(actions)) {
      const refused = parseCall(tool as GovernTool, { action, nothing: "like that" });
      assert("problem" in refused);
      assert("call" in parseCall(tool as GovernTool, refused.example), JSON.stringify(refused.example));
    }
});

describe("a role", () => {
  for (const name of ["coordinator", "investigator", "executor"])
    test(`${name} is shown the actions that it has, and no others`, () => {
      for (const [tool, actions] of Object.entries(roleNamed(name)?.governs ?? assert.fail("there is no such role"))) {
        const schema = inputSchema(tool as GovernTool, actions) as { properties: { action: { enum: string[] } } };
        assert.deepEqual(schema.properties.action.enum, actions);
        assert(actions.every((action) => Object.hasOwn(GOVERN_ACTIONS[tool as GovernTool], action)));
      }
    });

  test("reads why each tool is better than the one that its program has", () => {
    assert.deepEqual(Object.keys(DESCRIPTIONS), Object.keys(GOVERN_ACTIONS));
    assert.match(DESCRIPTIONS.govern_task, /todo list/);
    assert.match(DESCRIPTIONS.govern_shell, /built-in shell/);
    assert.match(DESCRIPTIONS.govern_delegate, /sub-agent/);
  });
});
