import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AtPhase, phaseOf, phasesSince } from "../../src/plan/phase.ts";
import type { Phase } from "../../src/plan/plan-types.ts";
import type { PlanRecord } from "../../src/plan/record.ts";
import { planRecord } from "../testing/plan-record.ts";

const side = { stage: "designer" as const, run: 1, attempt: 1, baseSha: "0" };

const PHASES: readonly [string, Partial<PlanRecord>, Partial<AtPhase>, Phase | undefined][] = [
  ["a queued plan has none", { status: "queued" }, {}, undefined],
  ["nor has one in review", { status: "review" }, {}, undefined],
  ["without TODOs, before its designer runs", {}, { isDesignDue: true }, "investigating"],
  ["its designer runs and has changed nothing", { side }, { isDesignDue: true }, "investigating"],
  [
    "its designer has changed its copy",
    { side: { ...side, planning: true } },
    { isDesignDue: true, door: "due" },
    "planning",
  ],
  ["sent back by a person", { revising: true, designed: true }, { isDesignDue: true }, "planning"],
  ["designed, and plugins look at it", { hook: { point: "afterDesign", id: "h" } }, { door: "due" }, "planning"],
  ["complete, and not shown yet", { designed: true }, { door: "due" }, "planning_complete"],
  ["shown", { designed: true }, { door: "closed" }, "plan_gate"],
  ["approved, or never to be", { designed: true }, {}, "implementing"],
  ["implemented, and the change was shown", { designed: true }, { prDoor: "closed" }, "pr_gate"],
  ["triage runs", { side: { ...side, stage: "triage" } }, {}, "implementing"],
];

describe("the phase of a plan", () => {
  for (const [name, change, at, expected] of PHASES)
    it(name, () => {
      const record = planRecord("u", { id: "shop", status: "active", ...change });
      assert.equal(phaseOf(record, { isDesignDue: false, door: "open", prDoor: "open", ...at }), expected);
    });

  it("is told with those that passed unseen", () => {
    const told: [Phase | undefined, Phase, Phase[]][] = [
      [undefined, "investigating", ["investigating"]],
      [undefined, "implementing", ["planning_complete", "implementing"]],
      [undefined, "plan_gate", ["planning_complete", "plan_gate"]],
      ["investigating", "planning", ["planning"]],
      ["investigating", "planning_complete", ["planning", "planning_complete"]],
      ["investigating", "implementing", ["planning", "planning_complete", "implementing"]],
      ["planning", "plan_gate", ["planning_complete", "plan_gate"]],
      ["planning_complete", "implementing", ["implementing"]],
      ["plan_gate", "implementing", ["implementing"]],
      ["plan_gate", "planning", ["planning"]],
      ["implementing", "plan_gate", ["plan_gate"]],
      ["implementing", "implementing", []],
    ];
    for (const [before, now, expected] of told) assert.deepEqual(phasesSince(before, now), expected);
  });
});
