import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { type Paths, pathsOf } from "../../../src/dispatcher/paths.ts";
import { deskFile, openDesk, readDesk } from "../../../src/dispatcher/runs/agent-pool.ts";
import { dayOf, nextDay } from "../../../src/dispatcher/runs/availability.ts";

const start = new Date(2026, 10, 15, 12).getTime();
let now = start;
const clock = { now: () => now };
let root: string;
let paths: Paths;

beforeEach(() => {
  now = start;
  root = mkdtempSync(join(tmpdir(), "prloom-desk-"));
  paths = pathsOf({ root, commonDir: join(root, ".git") });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const claude = { name: "claude", maxRunning: 1 } as never;

test("an agent that runs as often as it may is waited for, until one has ended", () => {
  const desk = openDesk(paths, clock, false);
  const over = desk.started("claude");
  assert.equal(desk.choose([claude], "one").kind, "busy");
  over();
  over();
  assert.equal(desk.choose([claude], "one").kind, "free");
});

test("whoever waits for an agent is told when one has ended, at its time, or when it is called off", async () => {
  const desk = openDesk(paths, clock, false);
  const stop = new AbortController();
  const [over, other] = [desk.started("claude"), desk.started("codex")];
  assert.equal(desk.atWork(), 2);
  const ended = desk.changed(undefined, stop.signal);
  over();
  await ended;
  assert.equal(desk.atWork(), 1);
  await desk.changed(now, stop.signal);
  const calledOff = desk.changed(now + 3_600_000, stop.signal);
  stop.abort();
  await assert.rejects(calledOff, { name: "AbortError" });
  other();
  assert.equal(desk.atWork(), 0);
});

test("a refusal survives a restart, and ends with an answer or with a person's word", () => {
  openDesk(paths, clock, false).refused("claude", { kind: "rate-limit", message: "slow down" });
  const desk = openDesk(paths, clock, false);
  assert.equal(desk.choose([claude], "one").kind, "away");
  assert.equal(readDesk(paths)?.agents.claude?.reason, "slow down");
  desk.answered("claude");
  assert.equal(desk.choose([claude], "one").kind, "free");
  desk.refused("claude", { kind: "auth", message: "401" });
  desk.forgive();
  assert.equal(openDesk(paths, clock, false).choose([claude], "one").kind, "free");
});

test("one plan's word stops the others for moments only, also over a restart, and two plans' word stops all", () => {
  const desk = openDesk(paths, clock, false);
  const kind = (plan: string) => openDesk(paths, clock, false).choose([claude], plan).kind;
  desk.refused("claude", { kind: "quota", message: "usage limit", planId: "evil" });
  assert.deepEqual([kind("evil"), kind("good")], ["away", "away"]);
  now += 15_000;
  assert.deepEqual([kind("evil"), kind("good")], ["away", "free"]);
  openDesk(paths, clock, false).refused("claude", { kind: "quota", message: "usage limit", planId: "good" });
  now += 15_000;
  assert.deepEqual(["evil", "good", "third"].map(kind), ["away", "away", "away"]);
});

test("a run counts once, also over a restart; a torn line counts nothing", () => {
  const desk = openDesk(paths, clock, false);
  desk.spend("plan/1", { tokens: 10, usd: 0.5, ms: 1000 });
  desk.spend("plan/1", { tokens: 10, usd: 0.5, ms: 1000 });
  appendFileSync(join(paths.authority, "spending", `${dayOf(now)}.jsonl`), '\n{"key":"plan/2","tok');
  const again = openDesk(paths, clock, false);
  again.spend("plan/1", { tokens: 10, usd: 0.5, ms: 1000 });
  again.spend("plan/2", { tokens: 5, usd: 0, ms: 1 });
  assert.deepEqual(again.today(), { tokens: 15, usd: 0.5, ms: 1001 });
  assert.deepEqual(openDesk(paths, clock, false).today(), { tokens: 15, usd: 0.5, ms: 1001 });
});

test("what runs at work have spent counts for today, until they are counted themselves", () => {
  const desk = openDesk(paths, clock, false);
  desk.spending("plan/1", { tokens: 7, usd: 0, ms: 1 });
  desk.spending("plan/2", { tokens: 3, usd: 0, ms: 1 });
  desk.spending("plan/2", { tokens: 4, usd: 0, ms: 1 });
  assert.equal(desk.today().tokens, 11);
  desk.spend("plan/1", { tokens: 8, usd: 0, ms: 2 });
  assert.equal(desk.today().tokens, 12);
});

test("a plan is blocked only when nobody of its agents can be waited for", () => {
  const desk = openDesk(paths, clock, false);
  const codex = { name: "codex" } as never;
  desk.refused("claude", { kind: "auth", message: "401" });
  assert.equal(desk.needsPerson([claude, codex]), false);
  desk.refused("codex", { kind: "rate-limit", message: "429" });
  assert.equal(desk.needsPerson([claude, codex]), false);
  assert.equal(desk.needsPerson([claude]), true);
});

test("a new day begins with nothing spent", () => {
  const desk = openDesk(paths, clock, false);
  desk.spend("plan/1", { tokens: 10, usd: 0, ms: 0 });
  now = nextDay(now);
  assert.equal(desk.today().tokens, 0);
});

test("a desk that cannot be read is made anew, and one that only reads writes nothing", () => {
  openDesk(paths, clock, false).enclosed("sandbox");
  writeFileSync(deskFile(paths), "{");
  const desk = openDesk(paths, clock, true);
  desk.refused("claude", { kind: "network", message: "gone" });
  assert.equal(readDesk(paths), undefined);
});

test("a desk that cannot be written stops nobody", () => {
  writeFileSync(join(root, ".git"), "no folder");
  const desk = openDesk(paths, clock, false);
  desk.enclosed("none", "why");
  desk.refused("claude", { kind: "network", message: "gone" });
  assert.equal(desk.choose([claude], "one").kind, "away");
});
