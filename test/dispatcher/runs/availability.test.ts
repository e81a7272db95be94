import assert from "node:assert/strict";
import { test } from "node:test";
import type { StageAgent } from "../../../src/config/presets.ts";
import {
  type AgentRefusal,
  type AgentState,
  afterRefusal,
  chooseAgent,
  dayOf,
  isRefusal,
  needsPerson,
  nextDay,
  overBudget,
  type Trouble,
} from "../../../src/dispatcher/runs/availability.ts";

const agent = (name: string, maxRunning?: number): StageAgent => ({
  name,
  adapter: "command",
  command: name,
  env: {},
  passEnv: [],
  sandbox: "auto",
  readable: [],
  keeps: [],
  projectSettings: false,
  session: "todo",
  ...(maxRunning === undefined ? {} : { maxRunning }),
});
const away = (until: number, reason = "429"): AgentState => ({
  running: 0,
  refusal: { kind: "rate-limit", reason, until, count: 1, since: 0, plans: [], ends: {}, othersUntil: until },
});

const CHOICES: [name: string, agents: StageAgent[], states: Record<string, AgentState>, expected: string][] = [
  ["one that nothing is known about", [agent("a")], {}, "free a"],
  ["the first of two", [agent("a"), agent("b")], {}, "free a"],
  ["the second when the first was refused", [agent("a"), agent("b")], { a: away(11) }, "free b"],
  ["the first again when its time is over", [agent("a"), agent("b")], { a: away(10) }, "free a"],
  ["the second when the first has no room", [agent("a", 1), agent("b")], { a: { running: 1 } }, "free b"],
  [
    "waits for room rather than for a provider",
    [agent("a", 1), agent("b")],
    { a: { running: 1 }, b: away(20) },
    "busy",
  ],
  ["none: as soon as the earliest may", [agent("a"), agent("b")], { a: away(30), b: away(20) }, "away until 20"],
];
for (const [name, agents, states, expected] of CHOICES) {
  test(`the agent of a stage: ${name}`, () => {
    const choice = chooseAgent(agents, new Map(Object.entries(states)), { now: 10 });
    const told =
      choice.kind === "free"
        ? `free ${choice.agent.name}`
        : choice.kind === "away"
          ? `away until ${choice.until}`
          : choice.kind;
    assert.equal(told, expected);
  });
}

test("why none can be started names all of them", () => {
  const states = new Map([
    ["a", away(30, "no room")],
    ["b", away(20, "not logged in")],
  ]);
  const choice = chooseAgent([agent("a"), agent("b")], states, { now: 10 });
  assert.ok(choice.kind === "away");
  assert.equal(choice.why, "a: no room; b: not logged in");
});

test("each refusal in a row doubles the wait, of whatever kind, and a provider that says when is obeyed", () => {
  const trouble: Trouble = { kind: "overloaded", message: "529" };
  const waits: number[] = [];
  let refusal: AgentRefusal | undefined;
  let now = 0;
  for (let round = 0; round < 8; round += 1) {
    refusal = afterRefusal(refusal, trouble, now);
    const until = refusal?.until ?? assert.fail();
    waits.push(until - now);
    now = until;
  }
  assert.deepEqual(waits.slice(0, 3), [15_000, 30_000, 60_000]);
  assert.equal(waits.at(-1), 600_000);
  assert.equal(afterRefusal(refusal, { kind: "network", message: "x" }, now)?.until, now + 300_000);
  assert.equal(afterRefusal(undefined, { kind: "rate-limit", message: "x", retryAfterMs: 90_000 }, 0)?.until, 90_000);
  const first = afterRefusal(undefined, { kind: "quota", message: "x", retryAfterMs: 1e12 }, 0);
  assert.equal(first?.until, 900_000, "one word alone does not stop all plans for a day");
  const second = afterRefusal(first, { kind: "quota", message: "x", retryAfterMs: 1e12 }, 900_000);
  assert.equal(second?.until, 900_000 + 86_400_000);
});

test("runs that meet a limit together are refused once: none waits longer than the first, or than its provider says", () => {
  const hour = 3_600_000;
  const LIMITS: [retryAfterMs: number | undefined, until: number, resetsAt: number | undefined][] = [
    [hour, hour, hour],
    [undefined, 15 * 60_000, undefined],
  ];
  for (const [retryAfterMs, until, resetsAt] of LIMITS) {
    let refusal: AgentRefusal | undefined;
    for (const planId of ["one", "two", "three", "four", "five", "six"]) {
      const named = retryAfterMs === undefined ? {} : { retryAfterMs };
      refusal = afterRefusal(refusal, { kind: "quota", message: "x", planId, ...named }, 0);
    }
    const { othersUntil } = refusal ?? assert.fail();
    assert.deepEqual([refusal?.until, refusal?.resetsAt, othersUntil], [until, resetsAt, until]);
    const again = afterRefusal(refusal, { kind: "quota", message: "x", planId: "one" }, until);
    assert.equal(again?.until, until + 30 * 60_000, "refused after its wait, it waits for longer");
  }
});

test("a plan that says again and again that it was refused waits itself, and holds up no other", () => {
  let refusal: AgentRefusal | undefined;
  let now = 0;
  for (let round = 0; round < 10; round += 1) {
    refusal = afterRefusal(refusal, { kind: "quota", message: "x", retryAfterMs: 1e12, planId: "evil" }, now);
    const { until, othersUntil = assert.fail("the others are not told until when") } = refusal ?? assert.fail();
    assert.ok(othersUntil - now <= 15_000);
    assert.ok(until - now >= 900_000);
    now = until;
  }
  const states = new Map<string, AgentState>([["a", { running: 0, ...(refusal && { refusal }) }]]);
  const at = (refusal?.othersUntil ?? 0) + 1;
  now = afterRefusal(refusal, { kind: "auth", message: "401", planId: "evil" }, at)?.othersUntil ?? 0;
  assert.ok(now - at <= 15_000);
  assert.equal(chooseAgent([agent("a")], states, { now: at, planId: "good" }).kind, "free");
  const both = afterRefusal(refusal, { kind: "quota", message: "x", planId: "good" }, at);
  assert.equal(both?.othersUntil, both?.ends.good, "two plans are believed");
  const seen = afterRefusal(undefined, { kind: "auth", message: "it could not be started" }, 0);
  assert.equal(seen?.othersUntil, seen?.until, "and so is what prloom saw itself");
});

test("a limit that one plan alone names for long stops the others no longer than ours, whatever another met before", () => {
  const month = 31 * 86_400_000;
  const forged: Trouble = { kind: "quota", message: "x", retryAfterMs: 1e12, planId: "evil" };
  const before: Trouble[] = [
    { kind: "network", message: "ECONNRESET", planId: "good" },
    { kind: "quota", message: "429", retryAfterMs: 20_000, planId: "good" },
  ];
  for (const trouble of before) {
    const refusal = afterRefusal(afterRefusal(undefined, trouble, 0), forged, 0) ?? assert.fail();
    assert.deepEqual([refusal.until, refusal.othersUntil], [month, 900_000]);
    const told = new Map<string, AgentState>([["a", { running: 0, refusal }]]);
    const then = (planId: string) => chooseAgent([agent("a")], told, { now: 900_000, planId }).kind;
    assert.deepEqual([then("evil"), then("good"), then("third")], ["away", "free", "free"]);
    const agreed = afterRefusal(refusal, { ...forged, planId: "good" }, 900_000) ?? assert.fail();
    assert.equal(agreed.othersUntil, 900_000 + 86_400_000, "two plans name it: for a day it is believed");
    assert.ok(agreed.until > month, "and they wait for it themselves");
    const states = new Map<string, AgentState>([["a", { running: 0, refusal: agreed }]]);
    const free = (planId: string) => chooseAgent([agent("a")], states, { now: 90_000_000, planId }).kind;
    assert.deepEqual([free("evil"), free("good"), free("third")], ["away", "away", "free"]);
  }
});

test("a plan that met a limit waits for its end, whatever another meets meanwhile", () => {
  const hour = 3_600_000;
  const limit: Trouble = { kind: "quota", message: "x", retryAfterMs: 3 * hour, planId: "one" };
  let refusal = afterRefusal(undefined, limit, 0) ?? assert.fail();
  const waits: number[] = [];
  for (let now = 20_000; waits.length < 3; now = refusal.ends.two ?? assert.fail()) {
    refusal = afterRefusal(refusal, { kind: "network", message: "x", planId: "two" }, now) ?? assert.fail();
    waits.push((refusal.ends.two ?? 0) - now);
    assert.deepEqual([refusal.until, refusal.resetsAt], [3 * hour, 3 * hour]);
  }
  assert.deepEqual(waits, [5000, 10_000, 20_000], "and the other one's waits double");
  const states = new Map<string, AgentState>([["a", { running: 0, refusal }]]);
  const at = (planId: string) => chooseAgent([agent("a")], states, { now: hour, planId }).kind;
  assert.deepEqual([at("one"), at("two"), at("three")], ["away", "free", "free"]);
});

test("a limit whose end its provider names is waited for till then, a month's too, and no person is needed", () => {
  const day = 86_400_000;
  const limit = (retryAfterMs: number, planId = "one"): Trouble => ({
    kind: "quota",
    message: "x",
    retryAfterMs,
    planId,
  });
  const first = afterRefusal(undefined, limit(5 * 3_600_000), 0) ?? assert.fail();
  assert.deepEqual([first.until, first.resetsAt, first.othersUntil], [18_000_000, 18_000_000, 15_000]);
  const both = afterRefusal(first, limit(5 * 3_600_000 - 20_000, "two"), 20_000) ?? assert.fail();
  assert.deepEqual([both.until, both.othersUntil, both.resetsAt], [18_000_000, 18_000_000, 18_000_000]);
  const week = afterRefusal(both, limit(4 * day), 18_000_000) ?? assert.fail();
  assert.equal(needsPerson(week, 18_000_000 + 2 * day), false, "its end is named");
  assert.equal(week.until, 18_000_000 + 4 * day);
  assert.equal(
    needsPerson(afterRefusal(week, limit(1000), week.until), week.until + 1),
    false,
    "and begins anew after it",
  );
  assert.equal(afterRefusal(undefined, limit(1e12), 0)?.until, 31 * day);
  assert.equal(afterRefusal(undefined, limit(60_000), 0)?.until, 60_000, "less than our own first wait");
  assert.equal(afterRefusal(undefined, limit(0), 0)?.until, 15_000, "over by now, and still not asked at once");
  const often: Trouble = { kind: "rate-limit", message: "429", retryAfterMs: 1000, planId: "one" };
  let refusal: AgentRefusal | undefined;
  for (let now = 0; now <= 2 * day; now = refusal?.until ?? assert.fail()) refusal = afterRefusal(refusal, often, now);
  assert.equal(needsPerson(refusal, refusal?.until ?? 0), true, "who says `in a second` for days is not believed");
});

test("three plans and more that meet one limit know its end, though each says it some milliseconds off", () => {
  const day = 86_400_000;
  // Each run is settled a moment after its wait was measured.
  const met = [31, 12, 1, 20, 7].map((late, index) => ({ at: index * 40, late, planId: `plan-${index}` }));
  let refusal: AgentRefusal | undefined;
  for (const { at, late, planId } of met) {
    const limit: Trouble = { kind: "quota", message: "x", retryAfterMs: 5 * day - at, planId };
    refusal = afterRefusal(refusal, limit, at + late) ?? assert.fail();
    assert.deepEqual([refusal.until, refusal.resetsAt], [5 * day + 31, 5 * day + 31], planId);
  }
  assert.equal(needsPerson(refusal, 2 * day), false);
  const sooner = afterRefusal(refusal, { kind: "quota", message: "x", retryAfterMs: day, planId: "plan-9" }, 300);
  assert.equal(sooner?.ends["plan-9"], day + 300, "another limit keeps its own end");
});

test("time does not fix a login, nor what is refused for more than a day", () => {
  const day = 86_400_000;
  assert.equal(needsPerson(undefined, 0), false);
  assert.equal(needsPerson(afterRefusal(undefined, { kind: "auth", message: "401" }, 0), 1), true);
  const first = afterRefusal(undefined, { kind: "overloaded", message: "529" }, 0);
  assert.equal(needsPerson(first, day), false);
  assert.equal(needsPerson(afterRefusal(first, { kind: "network", message: "gone" }, day), day + 1), true);
});

test("who waits for room is told when another agent may be tried", () => {
  const states = new Map<string, AgentState>([
    ["a", { running: 1 }],
    ["b", away(20)],
  ]);
  assert.deepEqual(chooseAgent([agent("a", 1), agent("b")], states, { now: 10 }), {
    kind: "busy",
    why: "waits for a (agents.a.maxRunning)",
    until: 20,
  });
});

test("what a program cannot be waited for is not a refusal", () => {
  assert.deepEqual(
    (["auth", "rate-limit", "overloaded", "quota", "network"] as const).map((kind) => isRefusal({ kind, message: "" })),
    [true, true, true, true, true],
  );
  for (const kind of ["session-lost", "format", "other"] as const) {
    assert.equal(isRefusal({ kind, message: "" }), false);
    assert.equal(afterRefusal(undefined, { kind, message: "" }, 0), undefined);
  }
});

test("a budget is spent when one part of it is", () => {
  const spent = { tokens: 100, usd: 2, ms: 120_000 };
  assert.equal(overBudget(spent, {}), undefined);
  assert.equal(overBudget(spent, { tokens: 101, usd: 2.01, minutes: 2.5 }), undefined);
  assert.match(overBudget(spent, { tokens: 100 }) ?? "", /100 of 100 tokens/);
  assert.match(overBudget(spent, { usd: 1.5 }) ?? "", /\$2\.00 of \$1\.50/);
  assert.match(overBudget(spent, { minutes: 2 }) ?? "", /2 of 2 minutes/);
});

test("a day is the machine's, and the next one begins at its midnight", () => {
  const late = new Date(2026, 10, 15, 23, 59, 59).getTime();
  assert.equal(dayOf(late), "2026-11-15");
  assert.equal(dayOf(nextDay(late)), "2026-11-16");
  assert.equal(dayOf(nextDay(late) - 1), "2026-11-15");
});
