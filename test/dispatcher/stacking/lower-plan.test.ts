import assert from "node:assert/strict";
import { test } from "node:test";
import { canBearOther, standingOf } from "../../../src/dispatcher/stacking/lower-plan.ts";
import { stackProblem, wantsStack } from "../../../src/plan/metadata.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { planRecord } from "../../testing/plan-record.ts";

const AT = "2026-01-01T00:00:00Z";
const CHANGE = { forge: "github", ref: "1#2", state: "open", ready: true } as const;
const LOWER: Partial<PlanRecord> = { status: "review", published: { sha: "l1" }, changeRequest: CHANGE };
const lower = (change: Partial<PlanRecord>): PlanRecord => planRecord("01", { ...LOWER, ...change });
const deleted = { at: AT, reason: "deleted" } as const;

const STANDING: [name: string, lower: PlanRecord | undefined, kind: string][] = [
  ["where it began", lower({}), "stands"],
  ["the lower one has more", lower({ published: { sha: "l2" } }), "moved"],
  ["what a person pushed there is taken over first", lower({ published: { sha: "l2", theirs: "x" } }), "stands"],
  ["nothing is published any more", lower({ published: {} }), "stands"],
  ["worked on again", lower({ status: "active" }), "stands"],
  ["blocked", lower({ blocked: { reason: "x", at: AT } }), "stands"],
  ["merged", lower({ status: "done", outcome: "merged", published: { sha: "l2" } }), "merged"],
  ["closed", lower({ status: "done", outcome: "closed" }), "lost closed"],
  ["deleted", lower({ deleted }), "lost deleted"],
  ["cleaned after its merge", lower({ status: "done", outcome: "merged" }), "merged"],
  ["gone", undefined, "lost deleted"],
];

for (const [name, one, kind] of STANDING)
  test(`a stacked plan, ${name}: ${kind}`, () => {
    const standing = standingOf(planRecord("02", { baseSha: "l1" }), one);
    assert.equal(standing.kind === "lost" ? `lost ${standing.why}` : standing.kind, kind);
  });

const BEARING: [name: string, lower: PlanRecord, can: boolean][] = [
  ["in review and published", lower({}), true],
  ["not published", lower({ published: {} }), false],
  ["without a pull request", lower({ changeRequest: undefined }), false],
  ["with one that was merged just now", lower({ changeRequest: { ...CHANGE, state: "merged" } }), false],
  ["worked on", lower({ status: "active" }), false],
  ["blocked", lower({ blocked: { reason: "x", at: AT } }), false],
  ["deleted", lower({ deleted }), false],
];

for (const [name, one, can] of BEARING)
  test(`a plan ${name} ${can ? "can" : "cannot"} bear another`, () => assert.equal(canBearOther(one), can));

test("what cannot be stacked says why", () => {
  assert.equal(stackProblem(["a"], "github"), undefined);
  assert.match(stackProblem([], "github") ?? "", /depends on no plan/);
  assert.match(stackProblem(["a", "b"], "github") ?? "", /depends on 2 plans/);
  assert.match(stackProblem(["a"], "local") ?? "", /needs the forge "github"/);
  assert.deepEqual([{ stack: true }, { stack: false }, { stack: 1 }, {}].map(wantsStack), [true, false, false, false]);
});
