import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Brain } from "../../../src/governance/graph/brain.ts";
import { FINDINGS } from "../../../src/governance/graph/expected-output.ts";
import type { Fact } from "../../../src/governance/graph/facts.ts";
import { findNode, findPlan } from "../../../src/governance/graph/lookup.ts";
import { makeGraph, makeNode, makeWorkPlan } from "../../../src/governance/graph/make-graph.ts";
import { checkpoint, fact, move, nodes, plan, planned } from "./facts.ts";

/** What each fact came to: "applied", or the kind of refusal. */
function outcomes(brain: Brain, facts: readonly Fact[]): string[] {
  return facts.map((one) => {
    const outcome = brain.add(one);
    return outcome.kind === "refused" ? outcome.refusal.kind : outcome.kind;
  });
}

const status = (brain: Brain, id: string) => findNode(brain.graph, id)?.node.status;

describe("nodes", () => {
  const chain = () => [
    plan("p"),
    fact("plan_moved", { plan: "p", move: "activate" }),
    nodes("p", planned("a"), planned("b", { dependsOn: ["a"] }), planned("c", { dependsOn: ["a", "b"] })),
  ];

  test("wait for all that they depend on, and are free when those are completed", () => {
    const brain = new Brain();
    outcomes(brain, chain());
    assert.deepEqual(
      ["a", "b", "c"].map((id) => status(brain, id)),
      ["planned", "blocked", "blocked"],
    );
    assert.deepEqual(
      outcomes(brain, [move("b", "start"), move("a", "start"), checkpoint("a", ["x"]), move("a", "complete")]),
      ["waits", "applied", "applied", "applied"],
    );
    assert.deepEqual(
      ["a", "b", "c"].map((id) => status(brain, id)),
      ["completed", "planned", "blocked"],
    );
  });

  test("and plans that facts make are bounded, and so is what a node waits for", () => {
    const brain = new Brain();
    outcomes(brain, [plan("p")]);
    const ids = Array.from({ length: 21 }, (_, at) => `w${at}`);
    outcomes(brain, [nodes("p", ...ids.map((id) => planned(id)))]);
    assert.deepEqual(outcomes(brain, [nodes("p", planned("x", { dependsOn: ids }))]), ["not-a-move"]);
    const many = Array.from({ length: 400 }, (_, at) => nodes("p", planned(`n${at}`)));
    const more = Array.from({ length: 100 }, (_, at) => plan(`p${at}`));
    for (const each of [many, more]) assert(outcomes(brain, each).includes("not-a-move"));
    assert.deepEqual([findPlan(brain.graph, "p")?.tasks.length, brain.graph.workPlans.length], [300, 50]);
    assert.deepEqual(outcomes(brain, [move("n0", "start")]), ["applied"]);
  });

  test("that failed keep the others waiting until they are completed after all", () => {
    const brain = new Brain();
    outcomes(brain, [...chain(), move("a", "start"), move("a", "fail", "No such table.")]);
    assert.equal(findNode(brain.graph, "a")?.node.reason, "No such table.");
    assert.deepEqual(
      ["a", "b"].map((id) => status(brain, id)),
      ["failed", "blocked"],
    );
    outcomes(brain, [move("a", "start"), checkpoint("a", ["x"]), move("a", "complete")]);
    assert.equal(status(brain, "b"), "planned");
    assert.equal(findNode(brain.graph, "a")?.node.reason, undefined);
  });

  test("of one plan wait for the plans that it depends on", () => {
    const brain = new Brain();
    outcomes(brain, [...chain(), plan("q", ["p"]), nodes("q", planned("z"))]);
    assert.equal(status(brain, "z"), "blocked");
    assert.deepEqual(outcomes(brain, [plan("r", ["nowhere"])]), ["no-plan"]);
    for (const id of ["a", "b", "c"]) outcomes(brain, [move(id, "start"), checkpoint(id, [id]), move(id, "complete")]);
    assert.deepEqual(outcomes(brain, [fact("plan_moved", { plan: "p", move: "complete" })]), ["applied"]);
    assert.equal(status(brain, "z"), "planned");
  });

  test("planned ahead become tasks when they are started", () => {
    const brain = new Brain();
    outcomes(brain, [plan("p"), fact("nodes_planned", { plan: "p", nodes: [planned("a")], ahead: true })]);
    assert.deepEqual(
      findPlan(brain.graph, "p")?.planAhead.map(({ id }) => id),
      ["a"],
    );
    outcomes(brain, [move("a", "start")]);
    const now = findPlan(brain.graph, "p");
    assert.deepEqual([now?.tasks.map(({ id }) => id), now?.planAhead], [["a"], []]);
  });

  for (const [what, added, expected] of [
    ["that depend on themselves", [planned("x", { dependsOn: ["x"] })], "cycle"],
    ["in a circle", [planned("x", { dependsOn: ["y"] }), planned("y", { dependsOn: ["x"] })], "cycle"],
    [
      "in a circle over a gate",
      [planned("x", { temporalGate: { afterTaskId: "y", reason: "First." } }), planned("y", { dependsOn: ["x"] })],
      "cycle",
    ],
    ["after one that is not there", [planned("x", { dependsOn: ["nowhere"] })], "no-node"],
    ["below one that is not there", [planned("x", { parent: "nowhere" })], "no-node"],
    ["with the id of another", [planned("a")], "exists"],
    ["with the same id twice", [planned("x"), planned("x")], "exists"],
  ] as const)
    test(`${what} are refused, and none of them is added`, () => {
      const brain = new Brain();
      outcomes(brain, chain());
      const before = brain.graph;
      assert.deepEqual(outcomes(brain, [nodes("p", planned("fine"), ...added)]), [expected]);
      assert.equal(brain.graph, before);
    });

  test("in a circle are told with the way around", () => {
    const brain = new Brain();
    outcomes(brain, chain());
    const circle = [planned("x", { dependsOn: ["y"] }), planned("y", { dependsOn: ["x"] })];
    const outcome = brain.add(nodes("p", ...circle));
    assert.match(outcome.kind === "refused" ? outcome.refusal.reason : "", /x → y → x/);
  });
});

describe("evidence", () => {
  const started = (expectedOutput: string) => {
    const brain = new Brain();
    outcomes(brain, [plan("p"), nodes("p", planned("a", { expectedOutput })), move("a", "start")]);
    return brain;
  };

  for (const [expectedOutput, assignedTo] of [
    [FINDINGS, "reader"],
    ["A list of the places that use it", "investigator"],
    ["A list of the places that use it", "auditor"],
  ] as const)
    test(`of who only looks no changed file is asked for: ${expectedOutput}, by ${assignedTo}`, () => {
      const brain = new Brain(undefined, { roles: { auditor: { extends: "investigator" } } });
      outcomes(brain, [plan("p"), nodes("p", planned("a", { expectedOutput, assignedTo })), move("a", "start")]);
      assert.deepEqual(outcomes(brain, [move("a", "complete")]), ["applied"]);
    });

  for (const [expected, missing, enough] of [
    ["a change", [], checkpoint("a", ["src/a.ts"])],
    ["Working login form", [checkpoint("a", [], { kind: "git" })], checkpoint("a", ["src/a.ts"])],
    [
      "tests",
      [checkpoint("a", ["src/a.ts"]), checkpoint("a", [], { kind: "test", ok: false })],
      checkpoint("a", [], { kind: "test" }),
    ],
    ["files docs/**", [checkpoint("a", ["src/a.ts"])], checkpoint("a", ["docs/a.md"])],
  ] as const)
    test(`that shows ${expected} is needed for a review and for completion`, () => {
      const brain = started(expected);
      assert.deepEqual(outcomes(brain, [...missing, move("a", "review"), move("a", "complete")]).slice(-2), [
        "no-evidence",
        "no-evidence",
      ]);
      assert.deepEqual(outcomes(brain, [enough, move("a", "review"), move("a", "complete")]), [
        "applied",
        "applied",
        "applied",
      ]);
    });

  test("is not needed where none is expected", () => {
    assert.deepEqual(outcomes(started("none"), [move("a", "complete")]), ["applied"]);
  });

  test("counts for the node that is active, and its files are kept once", () => {
    const brain = started("a change");
    outcomes(brain, [checkpoint("a", ["x", "y"]), checkpoint("a", ["y", "z"]), move("a", "complete")]);
    assert.deepEqual(findNode(brain.graph, "a")?.node.artifacts, ["x", "y", "z"]);
    assert.deepEqual(outcomes(brain, [checkpoint("a", ["late"]), checkpoint("b", ["x"])]), ["not-a-move", "no-node"]);
  });

  test("is bounded, and the newest is kept", () => {
    const brain = started("a change");
    for (let at = 0; at < 1100; at += 1) brain.add(checkpoint("a", [`f${at}`]));
    const node = findNode(brain.graph, "a")?.node;
    assert.equal(node?.checkpoints.length, 1000);
    assert.deepEqual(node?.checkpoints.at(-1)?.filesModified, ["f1099"]);
  });

  test("of a start before its time is when the gate was kept", () => {
    const brain = new Brain();
    const gate = { afterTaskId: "a", reason: "Tables first." };
    outcomes(brain, [plan("p"), nodes("p", planned("a"), planned("b", { temporalGate: gate }))]);
    assert.deepEqual(outcomes(brain, [move("b", "start"), fact("gate_kept", { node: "b", at: 77 })]), [
      "waits",
      "applied",
    ]);
    assert.equal(findNode(brain.graph, "b")?.node.temporalGate?.enforcedAt, 77);
  });
});

describe("what the dispatcher gave", () => {
  const given = () => {
    const task = makeNode({ id: "todo", workPlanId: "p", name: "Do it", status: "active" }, 0);
    const later = makeNode({ id: "next", workPlanId: "p", name: "And then", dependsOn: ["todo"] }, 0);
    return new Brain(
      makeGraph([makeWorkPlan({ id: "p", name: "P", status: "active", tasks: [task], planAhead: [later] }, 0)]),
    );
  };

  test("is moved by no fact; what an agent says is a claim", () => {
    const brain = given();
    const facts = [
      move("todo", "start"),
      move("next", "start"),
      move("todo", "release"),
      fact("plan_moved", { plan: "p", move: "abandon" }),
      move("todo", "complete"),
      checkpoint("todo", ["a"]),
      move("todo", "complete"),
    ];
    assert.deepEqual(outcomes(brain, facts), [
      "known",
      "not-yours",
      "not-yours",
      "not-yours",
      "no-evidence",
      "applied",
      "claimed",
    ]);
    const { status: now, claim, artifacts } = findNode(brain.graph, "todo")?.node ?? {};
    assert.deepEqual([now, claim?.move, artifacts], ["active", "complete", ["a"]]);
    assert.deepEqual(outcomes(brain, [move("todo", "fail", "Cannot be done.")]), ["claimed"]);
    assert.equal(findNode(brain.graph, "todo")?.node.claim?.reason, "Cannot be done.");
  });

  test("gets parts of its own, and what else should be done is proposed", () => {
    const brain = given();
    outcomes(brain, [nodes("p", planned("part", { parent: "todo" }), planned("idea"))]);
    const now = findPlan(brain.graph, "p");
    assert.deepEqual(
      now?.tasks.map(({ id }) => id),
      ["todo", "part"],
    );
    assert.deepEqual(
      now?.planAhead.map(({ id }) => id),
      ["next", "idea"],
    );
    assert.deepEqual(outcomes(brain, [move("part", "start"), move("part", "fail", "No.")]), ["applied", "applied"]);
  });
});

describe("a journal", () => {
  test("in which a fact stands twice counts it once", () => {
    const brain = new Brain();
    const made = [plan("p"), nodes("p", planned("a")), move("a", "start"), checkpoint("a", ["x"])];
    outcomes(brain, made);
    const before = brain.graph;
    assert.deepEqual(outcomes(brain, made), ["known", "known", "known", "known"]);
    assert.equal(brain.graph, before);
  });

  test("with two starts has the first one", () => {
    const brain = new Brain();
    outcomes(brain, [plan("p"), nodes("p", planned("a"))]);
    const starts = [fact("node_moved", { node: "a", move: "start", session: "one" }), move("a", "start")];
    assert.deepEqual(outcomes(brain, starts), ["applied", "not-a-move"]);
  });

  test("takes a fact that came too early when it comes again", () => {
    const brain = new Brain();
    const early = nodes("p", planned("a"));
    assert.deepEqual(outcomes(brain, [early, plan("p"), early]), ["no-plan", "applied", "applied"]);
  });

  test("counts the same denied call, and each delegation goes its way", () => {
    const brain = new Brain();
    const denied = () => fact("denied", { tool: "write", rule: "gate", call: "abc" });
    outcomes(brain, [denied(), denied()]);
    assert.deepEqual([brain.denials("abc"), brain.denials("other")], [2, 0]);
    const terms = { id: "d", from: "executor", to: "investigator", node: "a", session: "c", parentSession: "s" };
    const handed = fact("delegated", { delegation: { ...terms, tools: [], expectedOutput: "none" } });
    const moves = (["accept", "complete", "recall"] as const).map((how) =>
      fact("delegation_moved", { delegation: "d", move: how, result: how === "complete" ? "Found it." : undefined }),
    );
    assert.deepEqual(outcomes(brain, [handed, plan("p"), nodes("p", planned("a")), handed, ...moves]), [
      "no-node",
      "applied",
      "applied",
      "applied",
      "applied",
      "applied",
      "not-a-move",
    ]);
    const [delegation] = brain.graph.delegations;
    assert.deepEqual([delegation?.state, delegation?.result], ["completed", "Found it."]);
  });
});
