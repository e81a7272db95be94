import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { type BusState, busStateSchema, emptyBusState, MAX_PROCESSED } from "../../../src/bus/bus-state.ts";
import { createLedger } from "../../../src/bus/ledger/ledger.ts";
import type { Envelope } from "../../../src/bus/ports.ts";
import { samples } from "../../testing/sample.ts";
import { foldSettlement } from "../bus-fixture.ts";

const TS = Date.UTC(2026, 0, 1);
const envelope = (kind: string, data: unknown, ms = 0): Envelope => ({
  ts: new Date(TS + ms).toISOString(),
  kind,
  schemaVersion: 1,
  data,
});
const settlement = (record: string, handler: string, outcome: string, more: object = {}): Envelope =>
  envelope("settlement", { record, handler, outcome, ...more });
const attempt = (record: string, handler: string): Envelope => envelope("attempt", { record, handler });
const fold = (...records: Envelope[]): BusState =>
  records.reduce((state, one) => foldSettlement(state, one), emptyBusState());

it("counts throws and calls that never came back, and no explicit deferral", () => {
  const threw = fold(attempt("e", "h"), settlement("e", "h", "threw", { until: 5 }));
  assert.equal(threw.deferredEventIds.e?.attempts, 1);
  assert.deepEqual(threw.attempts, {});
  const crashed = fold(attempt("e", "h"), attempt("e", "h"), attempt("e", "h"));
  assert.deepEqual(Object.values(crashed.attempts), [3]);
  const deferred = fold(
    attempt("e", "h"),
    settlement("e", "h", "threw"),
    attempt("e", "h"),
    settlement("e", "h", "deferred"),
  );
  assert.equal(deferred.deferredEventIds.e?.attempts, 1);
  const again = foldSettlement(foldSettlement(deferred, attempt("e", "h")), settlement("e", "h", "threw"));
  assert.equal(again.deferredEventIds.e?.attempts, 2);
});

it("shows the handler that is due first, and keeps each one's numbers", () => {
  const state = fold(
    settlement("e", "slow", "deferred", { until: 900, reason: "later" }),
    settlement("e", "fast", "threw", { until: 500, reason: "boom" }),
  );
  const { handlers, ...first } = state.deferredEventIds.e ?? assert.fail();
  assert.deepEqual(first, { reason: "boom", deferredUntil: 500, attempts: 1 });
  assert.deepEqual(Object.keys(handlers), ["slow", "fast"]);
  assert.deepEqual(state.processedEventIds, []);
});

it("lets the first final settlement of a handler win", () => {
  const state = fold(
    settlement("e", "h", "handled"),
    settlement("e", "h", "threw"),
    settlement("e", "h", "deferred"),
    attempt("e", "h"),
  );
  assert.deepEqual(state, { ...emptyBusState(), processedEventIds: ["e"], settled: { e: ["h"] } });
});

it("puts events on the triage list and takes them off together", () => {
  const pending = fold(
    settlement("a", "dispatcher", "passed", { marks: { pendingTriage: true, at: { a: "1:7" } } }),
    settlement("b", "triage", "passed", { marks: { pendingTriage: true } }),
  );
  assert.deepEqual(pending.pendingTriage, { a: { since: TS, at: "1:7" }, b: { since: TS } });
  assert.deepEqual(pending.processedEventIds, []);
  const triaged = foldSettlement(
    pending,
    settlement("a", "triage", "handled", { also: ["b"], marks: { triaged: true } }),
  );
  assert.deepEqual(triaged.pendingTriage, {});
  assert.deepEqual(triaged.processedEventIds, ["b"], "a is beyond the cursor");
  const passed = foldSettlement(triaged, settlement("c", "h", "passed", { marks: { moveCursor: "1:8" } }));
  assert.deepEqual(passed.processedEventIds, ["b", "a", "c"]);
});

it("moves a cursor forwards only, each kind its own", () => {
  const state = fold(
    settlement("a", "h", "passed", { marks: { moveCursor: "2:5" } }),
    settlement("b", "h", "passed", { marks: { moveCursor: "1:900" } }),
    settlement("c", "h", "passed", { marks: { moveCursor: "1:3", about: "action" } }),
  );
  assert.equal(state.eventsOffset, "2:5");
  assert.equal(state.actionsOffset, "1:3");
  assert.deepEqual(state.processedActionIds, ["c"]);
});

it("keeps results until the record is closed, whatever else happens to it", () => {
  const kept = fold(
    settlement("e", "h", "handled", { result: { plan: 1 } }),
    settlement("e", "h", "handled", { result: "late" }),
    settlement("e", "g", "threw", { result: "dropped" }),
    settlement("e", "f", "passed", { result: null }),
    settlement("a", "h", "passed", { result: [], marks: { about: "action" } }),
  );
  assert.deepEqual(kept.results, {
    e: { about: "event", handlers: { h: { plan: 1 }, f: null } },
    a: { about: "action", handlers: { h: [] } },
  });
  const closed = foldSettlement(kept, settlement("e", "dispatcher", "passed", { result: 1, marks: { closed: true } }));
  assert.deepEqual(Object.keys(closed.results), ["a"]);
});

it("remembers that it is unknown how a call ended, until a handler says so", () => {
  const uncertain = (...records: Envelope[]) => fold(...records).deferredEventIds.e?.handlers.h?.uncertain;
  const lost = [attempt("e", "h"), attempt("e", "h")];
  const threw = settlement("e", "h", "threw", { marks: { uncertain: true } });
  const deferred = settlement("e", "h", "deferred");
  assert.equal(uncertain(attempt("e", "h"), settlement("e", "h", "threw")), undefined);
  assert.equal(uncertain(attempt("e", "h"), deferred), undefined);
  assert.equal(uncertain(attempt("e", "h"), threw), true);
  assert.equal(uncertain(...lost, deferred), true, "the first call was never settled");
  assert.equal(uncertain(threw, attempt("e", "h"), deferred), true, "it is still not known");
  const known = settlement("e", "h", "deferred", { marks: { uncertain: false } });
  assert.equal(uncertain(threw, ...lost, known), undefined);
  const dead = settlement("e", "h", "threw", { marks: { uncertain: true, dead: true } });
  assert.equal(fold(dead).dead.letters[0]?.uncertain, true);
  assert.equal(uncertain(dead, envelope("revival", { record: "e" })), true);
});

it("keeps a record open whose last wait ended before the others were asked", () => {
  const passed = settlement("e", "h", "passed");
  const open = fold(settlement("e", "h", "deferred", { until: 5 }), passed);
  assert.deepEqual(Object.keys(open.deferredEventIds.e?.handlers ?? {}), ["*"]);
  assert.equal(open.deferredEventIds.e?.deferredUntil, TS);
  const done = foldSettlement(open, settlement("e", "dispatcher", "passed", { marks: { done: true } }));
  assert.deepEqual(done.deferredEventIds, {});
  assert.deepEqual(done.processedEventIds, ["e"]);
  const fresh = fold(passed);
  assert.deepEqual(fresh.deferredEventIds, {}, "a record that never waited is beyond the cursor");
});

it("never forgets a record beyond the cursor, nor one with results", () => {
  const ahead = { marks: { at: { ahead: "1:500" }, done: true } };
  const ledger = createLedger(
    fold(settlement("ahead", "h", "handled", ahead), settlement("decided", "h", "handled", { result: 1 })),
  );
  const pass = (from: number) => {
    for (let n = from; n < from + 2 * MAX_PROCESSED; n += 1) ledger.apply(settlement(`e${n}`, "h", "passed"), "1:1");
  };
  pass(0);
  assert.deepEqual(ledger.snapshot().settled.ahead, ["h"]);
  assert.deepEqual(ledger.snapshot().ahead, { ahead: { about: "event", at: "1:500", done: true } });
  assert.deepEqual(ledger.snapshot().settled.decided, ["h"]);
  ledger.apply(settlement("e", "h", "passed", { marks: { moveCursor: "1:501" } }), "1:1");
  ledger.apply(settlement("decided", "dispatcher", "passed", { marks: { closed: true } }), "1:1");
  assert.deepEqual(ledger.snapshot().ahead, {});
  pass(10_000);
  assert.equal(ledger.snapshot().settled.ahead, undefined);
  assert.equal(ledger.snapshot().settled.decided, undefined);
});

it("loads a snapshot from before there were results", () => {
  const { results: _results, ahead: _ahead, ...old } = emptyBusState();
  assert.deepEqual(busStateSchema.parse(old), emptyBusState());
});

it("forgets old records, and never one that waits or died", () => {
  const old = fold(settlement("waits", "h", "deferred"), settlement("died", "h", "threw", { marks: { dead: true } }));
  const ledger = createLedger(old);
  for (let n = 0; n < MAX_PROCESSED + 5; n += 1) ledger.apply(settlement(`e${n}`, "h", "passed"), "1:1");
  const state = ledger.snapshot();
  assert.ok(state.processedEventIds.length <= MAX_PROCESSED);
  assert.ok(state.processedEventIds.length >= MAX_PROCESSED / 2);
  assert.equal(state.processedEventIds.at(-1), `e${MAX_PROCESSED + 4}`);
  assert.deepEqual(Object.keys(state.settled), state.processedEventIds);
  assert.ok(state.deferredEventIds.waits);
  assert.equal(state.dead.count, 1);
});

const records = fc.constantFrom("e1", "e2", "e3", "a1", "a2");
const handlers = fc.constantFrom("h1", "h2", "triage");
const anySettlement = fc
  .record({
    record: records,
    handler: handlers,
    outcome: fc.constantFrom("handled", "passed", "deferred", "threw"),
    also: fc.option(fc.array(fc.constantFrom("e1", "e2"), { maxLength: 2 }), { nil: undefined }),
    until: fc.option(fc.nat(1000), { nil: undefined }),
    cursor: fc.option(fc.nat(99), { nil: undefined }),
    // As a journal gives it back: JSON knows no -0.
    result: fc.option(fc.json({ maxDepth: 1 }), { nil: undefined }),
    marks: fc.record(
      {
        pendingTriage: fc.constant(true),
        triaged: fc.constant(true),
        dead: fc.boolean(),
        done: fc.constant(true),
        closed: fc.constant(true),
        uncertain: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ cursor, marks, also, until, result, ...one }) => {
    const about = one.record.startsWith("a") ? "action" : "event";
    const move = cursor === undefined ? {} : { moveCursor: `1:${cursor}` };
    const places = { at: { [one.record]: `1:${20 * Number(one.record.slice(1))}` } };
    const others = also && about === "event" ? { also } : {};
    return {
      ...one,
      ...others,
      ...(until === undefined ? {} : { until }),
      ...(result === undefined ? {} : { result: JSON.parse(JSON.stringify(JSON.parse(result))) }),
      marks: { ...marks, ...move, ...places, about },
    };
  });
const anyRecord = fc.oneof(
  { weight: 4, arbitrary: anySettlement.map((data) => ({ kind: "settlement", data })) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("attempt"), data: fc.record({ record: records, handler: handlers }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("revival"), data: fc.record({ record: records }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.string(), data: fc.jsonValue() }) },
);

it("gives the same state from a snapshot and the rest as from everything", () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 40 }), fc.nat(40), (list, at) => {
      const envelopes = list.map(({ kind, data }, index) => envelope(kind, data, index));
      const whole = createLedger(emptyBusState());
      const before = createLedger(emptyBusState());
      envelopes.forEach((one, index) => {
        whole.apply(one, `1:${index}`);
        if (index < at) before.apply(one, `1:${index}`);
      });
      const stored = busStateSchema.parse(JSON.parse(JSON.stringify(before.snapshot())));
      const after = createLedger(stored);
      envelopes.slice(at).forEach((one, index) => {
        after.apply(one, `1:${at + index}`);
      });
      assert.deepEqual(after.snapshot(), whole.snapshot());
      assert.deepEqual(createLedger(whole.snapshot()).snapshot(), whole.snapshot());
    }),
    { numRuns: samples(1500), interruptAfterTimeLimit: 4000 },
  );
});
