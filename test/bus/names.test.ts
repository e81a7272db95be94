import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import {
  actionId,
  type Handler,
  handlerName,
  parseHandler,
  parseStore,
  type StoreOwner,
  storeName,
} from "../../src/bus/names.ts";
import { GLOBAL_HOOK_POINTS, PLAN_HOOK_POINTS } from "../../src/hooks/contexts/hook-types.ts";

/** Names as people give them: with colons, spaces, and words that mean something elsewhere. */
const name = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.string({ minLength: 1, unit: fc.constantFrom("a", ":", "-", " ", "1", "\n", "é") }),
  fc.constantFrom("triage", "outbox", "outbox-2", "poll:x", "onEvent:x", "dispatcher", ":", "__proto__"),
);

it("gives back the handler that a name was made of", () => {
  const handler: fc.Arbitrary<Handler> = fc.oneof(
    fc.record({
      kind: fc.constant("hook" as const),
      point: fc.constantFrom(...GLOBAL_HOOK_POINTS, ...PLAN_HOOK_POINTS),
      plugin: name,
    }),
    fc.record({ kind: fc.constantFrom("poll" as const, "deliver" as const), bridge: name }),
    fc.record({ kind: fc.constant("outbox" as const), life: fc.integer({ min: 1 }) }),
    fc.record({
      kind: fc.constant("own" as const),
      name: fc.constantFrom("dispatcher", "triage", "triggers", "review", "pass-over"),
    }),
  );
  fc.assert(fc.property(handler, (one) => assert.deepEqual(parseHandler(handlerName(one)), { ...one })));
});

it("gives back the owner that a store's name was made of", () => {
  const owner: fc.Arbitrary<StoreOwner> = fc.oneof(
    fc.record({ kind: fc.constantFrom("plan" as const, "global" as const), plugin: name }),
    fc.record({ kind: fc.constant("bridge" as const), name }),
  );
  fc.assert(fc.property(owner, (one) => assert.deepEqual(parseStore(storeName(one)), { ...one })));
});

it("knows no handler and no owner in other texts", () => {
  for (const text of ["", "h", "*", "outboxes", "outbox-0", "outbox-", "poll:", ":x", "onEvent:"]) {
    assert.equal(parseHandler(text), undefined, text);
  }
  for (const text of ["", "plan", "plan:", ":x", "other:x"]) assert.equal(parseStore(text), undefined, text);
});

it("gives an action the same id each time, and another one for another origin", () => {
  const origin = { scope: { planId: "p" }, recordId: "e", handler: "h", ordinal: 0 };
  assert.equal(actionId(origin), actionId({ ...origin }));
  const others = [{ scope: {} }, { recordId: "e2" }, { handler: "h2" }, { ordinal: 1 }];
  assert.equal(new Set([origin, ...others.map((other) => ({ ...origin, ...other }))].map(actionId)).size, 5);
});
