import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleEvent } from "../../../bench/harness/journal.ts";
import { handlePlanEvents } from "../../../src/dispatcher/buses/handle-events.ts";
import { withLoom } from "./owned-loom.ts";
import { idOf, project, upsert, upsertPlan } from "./upsert-fixture.ts";

test("that a comment is ignored is on the disk before it is on record that it was dealt with", async () => {
  const { root } = project();
  await withLoom(root, async (loom) => {
    const id = idOf(upsertPlan(loom, upsert()));
    loom.store.syncLater((error) => assert.fail(String(error)));
    const bus = loom.bus(id);
    bus.appendEvents([{ ...sampleEvent(1), context: { author: { login: "stranger", permission: "none" } } }]);
    const order: string[] = [];
    for (const [name, owner] of [
      ["records", loom.store],
      ["settlements", bus],
    ] as const) {
      const { sync } = owner;
      const told = (): void => {
        order.push(`${name}: ${loom.store.byId(id)?.ignored?.count ?? 0}`);
        sync();
      };
      Object.assign(owner, { sync: told });
    }
    await handlePlanEvents(loom, id);
    assert.deepEqual(order, ["records: 1", "settlements: 1"]);
    await loom.store.syncAtOnce();
  });
});

test("others have their turn while a flood of comments is dealt with", async () => {
  const { root } = project();
  await withLoom(root, async (loom) => {
    const id = idOf(upsertPlan(loom, upsert()));
    const context = { author: { login: "stranger", permission: "none" as const } };
    loom.bus(id).appendEvents(Array.from({ length: 500 }, (_, n) => ({ ...sampleEvent(n), context })));
    let turns = 0;
    const others = setInterval(() => (turns += 1), 1);
    await handlePlanEvents(loom, id);
    clearInterval(others);
    assert.equal(loom.store.byId(id)?.ignored?.count, 500);
    assert.ok(turns > 2, `${turns} turns`);
  });
});
