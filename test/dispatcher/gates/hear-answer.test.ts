import assert from "node:assert/strict";
import { test } from "node:test";
import { localComment } from "../../../src/bridges/local/thread.ts";
import { hearAnswer } from "../../../src/dispatcher/gates/hear-answer.ts";
import { waitingGate } from "../../../src/dispatcher/gates/plan-gate.ts";
import { requireRecord } from "../../../src/dispatcher/records.ts";
import { waitingAtGate } from "../../testing/at-gate.ts";
import { thorough } from "../../testing/thorough.ts";
import { withLoom } from "../buses/owned-loom.ts";

test("an answer counts only for the gate whose posts were read", thorough, async () => {
  const project = await waitingAtGate();
  await withLoom(project.root, (loom) => {
    const record = requireRecord(loom, "shop");
    const { gateId = "" } = waitingGate(loom, record) ?? {};
    const event = localComment({ id: "local-1", planId: "shop", author: "anna", body: `/approve ${gateId}` });
    loom.bus("shop").appendEvents([event]);
    const posts = { kind: "intact", at: 0 } as const;
    for (const read of [undefined, { gateId: "another", posts }])
      assert.equal(hearAnswer(loom, record, { event, read })?.kind, "later");
    assert.equal(waitingGate(loom, record)?.gateId, gateId);
    assert.equal(hearAnswer(loom, record, { event, read: { gateId, posts } })?.kind, "answered");
    assert.equal(waitingGate(loom, record), undefined);
  });
  project.remove();
});
