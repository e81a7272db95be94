import assert from "node:assert/strict";
import { test } from "node:test";
import { doorOf, GATE_STATES, type GateRecord, stateAfter } from "../../src/gate/gate-record.ts";

const gate: GateRecord = {
  ...{ schemaVersion: 1, gateId: "g", planUid: "u", planId: "p", kind: "plan", digest: "d", scope: "shown" },
  ...{ text: "", shown: "", openedAt: "2026-01-01T00:00:00.000Z", reminders: 0, state: "open", amendments: [] },
};
const approved: GateRecord = { ...gate, state: "approved" };
const amended: GateRecord = { ...approved, amendments: [{ at: "", by: ["ann"], scope: "amended" }] };

/** `d` is the digest of what was shown; with other logs it is another. */
const DOORS: readonly [name: string, gate: GateRecord | undefined, scope: string, door: string, digest?: string][] = [
  ["never shown", undefined, "shown", "due"],
  ["shown", gate, "shown", "closed"],
  ["changed while it waits", gate, "other", "due", "other"],
  ["with another log while it waits", gate, "shown", "due", "other"],
  ["with another log after it was approved", approved, "shown", "open", "other"],
  ["approved", approved, "shown", "open"],
  ["changed after it was approved", approved, "other", "due"],
  ["amended", amended, "amended", "open"],
  ["taken back to what was shown first", amended, "shown", "due"],
  ["rejected", { ...gate, state: "rejected" }, "shown", "due"],
  ["revised", { ...gate, state: "revised" }, "shown", "due"],
  ["withdrawn", { ...approved, state: "withdrawn" }, "shown", "due"],
  ["expired", { ...gate, state: "expired" }, "shown", "due"],
];

for (const [name, one, scope, door, digest = "d"] of DOORS) {
  test(`the door of a plan: ${name}`, () => {
    assert.equal(doorOf({ isWanted: true, gate: one, scope, digest }).kind, door);
    assert.equal(doorOf({ isWanted: false, gate: one, scope, digest }).kind, "open");
  });
}

test("an open gate takes the first answer, an approved one can be withdrawn, and nothing else leads anywhere", () => {
  const ways = (["approve", "reject", "revise", "withdraw"] as const).flatMap((decision) =>
    GATE_STATES.flatMap((state) => {
      const next = stateAfter(state, decision);
      return next === undefined ? [] : [`${state} ${decision} ${next}`];
    }),
  );
  assert.deepEqual(ways, [
    "open approve approved",
    "open reject rejected",
    "open revise revised",
    "approved withdraw withdrawn",
  ]);
});
