import assert from "node:assert/strict";
import { it } from "node:test";
import { EncodedData } from "../../../src/bus/envelope.ts";
import { createRecentEvents } from "../../../src/bus/reading/recent-events.ts";
import type { BusEvent } from "../../../src/bus/types.ts";
import { event } from "../bus-fixture.ts";

const copy = (one: BusEvent) => ({ id: one.id, text: new EncodedData(one).json });
const many = (count: number) => Array.from({ length: count }, (_, at) => event(`e${at}`));

it("remembers the newest of many that come at once, and forgets older ones for them", () => {
  const recent = createRecentEvents();
  recent.put(event("before"));
  recent.putCopies(many(2500).map(copy));
  assert.equal(recent.get("before"), undefined);
  assert.equal(recent.get("e499"), undefined);
  assert.deepEqual(recent.get("e500"), event("e500"));
  assert.deepEqual(recent.get("e2499"), event("e2499"));
});

it("remembers long events as far as there is room, and always the newest", () => {
  const recent = createRecentEvents();
  const long = { ...event("long"), body: "x".repeat(900_000) };
  recent.putCopies([event("a"), long, { ...long, id: "longer" }].map(copy));
  assert.equal(recent.get("a"), undefined);
  assert.equal(recent.get("long"), undefined);
  assert.equal(recent.get("longer")?.body.length, 900_000);
});

it("gives a copy as a reader of the journal would find it, whatever becomes of the original", () => {
  const recent = createRecentEvents();
  const context = { list: [1], absent: undefined };
  recent.putCopies([copy({ ...event("a"), context })]);
  context.list.push(2);
  assert.deepEqual(recent.get("a"), { ...event("a"), context: { list: [1] } });
  assert.ok(!("absent" in (recent.get("a")?.context ?? {})));
});
