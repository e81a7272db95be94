import assert from "node:assert/strict";
import { test } from "node:test";
import {
  draftBecause,
  isLimitedPerSource,
  limitedPerSource,
  type PlanUnderWay,
} from "../../../src/bridges/core/per-source.ts";
import type { RawUpsert } from "../../../src/bridges/core/upsert.ts";
import { planRecord } from "../../testing/plan-record.ts";

const SOURCE = { system: "github", kind: "issue", id: "1#7" };
const EVE = { id: "9", login: "eve" };

const upsert = (change: Partial<RawUpsert> = {}): RawUpsert => ({
  ...{ type: "upsert_plan", source: SOURCE, status: "queued" },
  ...{ metadata: { preset: "careful", openedBy: EVE } },
  ...change,
});

const plan = (usd = 0, openedBy: unknown = EVE, system = "github"): PlanUnderWay => ({
  source: { system, kind: "issue", id: "1#1" },
  metadata: { openedBy },
  spent: { tokens: 0, usd, ms: 0, runs: 1, upTo: 1 },
});

for (const [what, underWay, limits, reason] of [
  ["none", [], { plans: 1 }, undefined],
  ["fewer plans", [plan(), plan()], { plans: 3 }, undefined],
  ["as many plans", [plan(), plan(), plan()], { plans: 3 }, /^eve may not write and has 3 plans under way.*is 3\)$/],
  ["plans of others", [plan(0, { id: "8", login: "eve" }), plan(0, null)], { plans: 1 }, undefined],
  ["the same id in another system", [plan(0, EVE, "jira")], { plans: 1 }, undefined],
  [
    "another login of the same person",
    [plan(0, { id: "9", login: "evelyn" })],
    { plans: 1 },
    /^eve may not write and has 1 plan under/,
  ],
  ["metadata that a person broke", [plan(0, "eve"), plan(0, { login: "eve" })], { plans: 1 }, undefined],
  ["less money", [plan(1), plan(1.5)], { plans: 3, usd: 3 }, undefined],
  ["as much money", [plan(1), plan(2)], { plans: 3, usd: 3 }, /that spent \$3\.00 \(limits\.perSource\.usd is 3\)$/],
  ["money without a limit", [plan(1000)], { plans: 3 }, undefined],
] as const) {
  test(`beside ${what} ${reason ? "it stays a draft" : "it is queued"}`, () => {
    const limited = limitedPerSource(upsert(), underWay, limits);
    if (!reason) return assert.deepEqual(limited, upsert());
    assert.equal(limited.status, undefined);
    const { draftBecause: why, ...metadata } = limited.metadata ?? {};
    assert.match(String(why), reason);
    assert.deepEqual(metadata, upsert().metadata);
  });
}

test("the limit is for what would be queued now, and was opened by one who may not write", () => {
  const record = planRecord("U", { source: SOURCE });
  assert.ok(isLimitedPerSource(undefined, upsert()));
  assert.ok(isLimitedPerSource({ ...record, status: "draft" }, upsert()));
  assert.ok(isLimitedPerSource({ ...record, status: "done" }, upsert()));
  for (const status of ["queued", "active", "review"] as const)
    assert.ok(!isLimitedPerSource({ ...record, status }, upsert()), status);
  assert.ok(!isLimitedPerSource(undefined, upsert({ status: "draft" })));
  for (const metadata of [{}, { openedBy: "eve" }, { openedBy: { id: "", login: "eve" } }])
    assert.ok(!isLimitedPerSource(undefined, upsert({ metadata })));
});

test("why a plan is a draft is told while it is one", () => {
  const metadata = { draftBecause: "too many" };
  assert.equal(draftBecause({ status: "draft", metadata }), "too many");
  assert.equal(draftBecause({ status: "queued", metadata }), undefined);
  assert.equal(draftBecause({ status: "draft", metadata: { draftBecause: 7 } }), undefined);
});
