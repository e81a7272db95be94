import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CLOSED_CIRCUIT, circuitState, createCircuits, failCircuit } from "../../src/bridges/circuit.ts";

describe("a circuit", () => {
  it("opens for 1 s, doubling to 5 min", () => {
    let circuit = CLOSED_CIRCUIT;
    let now = 0;
    const waits: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      circuit = failCircuit(circuit, { now });
      waits.push((circuit.openUntil - now) / 1000);
      now = circuit.openUntil;
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
  });

  it("is open until its time, then half-open", () => {
    const circuit = failCircuit(CLOSED_CIRCUIT, { now: 1000 });
    assert.equal(circuitState(CLOSED_CIRCUIT, 0), "closed");
    assert.equal(circuitState(circuit, 1999), "open");
    assert.equal(circuitState(circuit, 2000), "half-open");
  });

  it("does what the other side asks, within a day, and never opens earlier than it said before", () => {
    assert.equal(failCircuit(CLOSED_CIRCUIT, { now: 0, retryAfterMs: 90_000 }).openUntil, 90_000);
    assert.equal(failCircuit(CLOSED_CIRCUIT, { now: 0, retryAfterMs: 1e15 }).openUntil, 24 * 3_600_000);
    const asked = failCircuit(CLOSED_CIRCUIT, { now: 0, retryAfterMs: 90_000 });
    assert.equal(failCircuit(asked, { now: 10 }).openUntil, 90_000);
  });

  it("never opens for less than it would without being asked", () => {
    let circuit = CLOSED_CIRCUIT;
    for (const expected of [1000, 3000, 7000]) {
      circuit = failCircuit(circuit, { now: circuit.openUntil, retryAfterMs: 0 });
      assert.equal(circuit.openUntil, expected);
    }
    assert.equal(failCircuit(circuit, { now: 7000, retryAfterMs: 9000 }).openUntil, 16_000, "longer when asked");
  });

  it("keeps to the limits of the config", () => {
    const limits = { minMs: 20, maxMs: 50 };
    const once = failCircuit(CLOSED_CIRCUIT, { now: 0, limits });
    assert.equal(once.openUntil, 20);
    const often = { failures: 9, openUntil: 0 };
    assert.equal(failCircuit(often, { now: 0, limits }).openUntil, 50);
  });

  it("takes failures of calls that were under way for one", () => {
    const once = failCircuit(CLOSED_CIRCUIT, { now: 0 });
    assert.equal(failCircuit(once, { now: 10 }).failures, 1);
    assert.equal(failCircuit(once, { now: 1000 }).failures, 2);
  });
});

describe("shared circuits", () => {
  it("let four calls through, one when half-open, none when open", () => {
    const circuits = createCircuits();
    const told: string[] = [];
    const one = circuits.join((bridge) => told.push(`one ${bridge}`));
    const two = circuits.join((bridge) => told.push(`two ${bridge}`));
    assert.deepEqual(
      [one, two, one, two, one].map((member) => member.enter("b", 0)),
      [true, true, true, true, false],
    );
    assert.equal(two.enter("c", 0), true, "bridges do not share");
    one.leave("b", 0, { retryAfterMs: undefined });
    for (const member of [one, two, two]) member.leave("b", 0, "nothing");
    assert.equal(told.length, 8);
    assert.equal(one.enter("b", 999), false);
    assert.equal(one.enter("b", 1000), true);
    assert.equal(two.enter("b", 1000), false);
    one.leave("b", 1000, "nothing");
    assert.equal(two.enter("b", 1000), true, "a throw says nothing about the way");
    assert.equal(two.leave("b", 1000, "there"), true, "the way is there again");
    assert.equal(circuitState(circuits.of("b"), 1000), "closed");
    two.quit();
    told.length = 0;
    assert.equal(one.enter("b", 1000), true);
    assert.equal(one.leave("b", 1000, "there"), false, "it was there before");
    assert.deepEqual(told, ["one b"]);
  });

  it("tell first who had no call last", () => {
    const circuits = createCircuits();
    const told: string[] = [];
    const one = circuits.join(() => told.push("one"));
    circuits.join(() => told.push("two"));
    one.enter("b", 0);
    one.leave("b", 0, "there");
    assert.deepEqual(told, ["two", "one"]);
  });
});
