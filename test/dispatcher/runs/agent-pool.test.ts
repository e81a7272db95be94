import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { type Paths, pathsOf } from "../../../src/dispatcher/paths.ts";
import { agentPoolFile, openAgentPool, readAgentPool } from "../../../src/dispatcher/runs/agent-pool.ts";
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
  const pool = openAgentPool(paths, clock, false);
  const over = pool.started("claude");
  assert.equal(pool.choose([claude], "one").kind, "busy");
  over();
  over();
  assert.equal(pool.choose([claude], "one").kind, "free");
});

test("a plan that waits for an agent is told when one has ended, at its time, or when it is called off", async () => {
  const pool = openAgentPool(paths, clock, false);
  const stop = new AbortController();
  const [over, other] = [pool.started("claude"), pool.started("codex")];
  assert.equal(pool.atWork(), 2);
  const ended = pool.changed(undefined, stop.signal);
  over();
  await ended;
  assert.equal(pool.atWork(), 1);
  await pool.changed(now, stop.signal);
  const calledOff = pool.changed(now + 3_600_000, stop.signal);
  stop.abort();
  await assert.rejects(calledOff, { name: "AbortError" });
  other();
  assert.equal(pool.atWork(), 0);
});

test("a refusal survives a restart, and ends with an answer or with a person's word", () => {
  openAgentPool(paths, clock, false).refused("claude", { kind: "rate-limit", message: "slow down" });
  const pool = openAgentPool(paths, clock, false);
  assert.equal(pool.choose([claude], "one").kind, "away");
  assert.equal(readAgentPool(paths)?.agents.claude?.reason, "slow down");
  pool.answered("claude");
  assert.equal(pool.choose([claude], "one").kind, "free");
  pool.refused("claude", { kind: "auth", message: "401" });
  let told = 0;
  pool.onFreed(() => (told += 1));
  pool.forgive();
  assert.equal(openAgentPool(paths, clock, false).choose([claude], "one").kind, "free");
  pool.answered("claude");
  assert.equal(told, 1, "nothing was left to end");
});

test("one plan's word stops the others for moments only, also over a restart, and two plans' word stops all", () => {
  const pool = openAgentPool(paths, clock, false);
  const kind = (plan: string) => openAgentPool(paths, clock, false).choose([claude], plan).kind;
  pool.refused("claude", { kind: "quota", message: "usage limit", planId: "evil" });
  assert.deepEqual([kind("evil"), kind("good")], ["away", "away"]);
  now += 15_000;
  assert.deepEqual([kind("evil"), kind("good")], ["away", "free"]);
  openAgentPool(paths, clock, false).refused("claude", { kind: "quota", message: "usage limit", planId: "good" });
  now += 15_000;
  assert.deepEqual(["evil", "good", "third"].map(kind), ["away", "away", "away"]);
});

test("a run counts once, also over a restart; a torn line counts nothing", () => {
  const pool = openAgentPool(paths, clock, false);
  pool.spend("plan/1", { tokens: 10, usd: 0.5, ms: 1000 });
  pool.spend("plan/1", { tokens: 10, usd: 0.5, ms: 1000 });
  appendFileSync(join(paths.authority, "spending", `${dayOf(now)}.jsonl`), '\n{"key":"plan/2","tok');
  const again = openAgentPool(paths, clock, false);
  again.spend("plan/1", { tokens: 10, usd: 0.5, ms: 1000 });
  again.spend("plan/2", { tokens: 5, usd: 0, ms: 1 });
  assert.deepEqual(again.today(), { tokens: 15, usd: 0.5, ms: 1001 });
  assert.deepEqual(openAgentPool(paths, clock, false).today(), { tokens: 15, usd: 0.5, ms: 1001 });
});

test("what runs at work have spent counts for today, until they are counted themselves", () => {
  const pool = openAgentPool(paths, clock, false);
  pool.spending("plan/1", { tokens: 7, usd: 0, ms: 1 });
  pool.spending("plan/2", { tokens: 3, usd: 0, ms: 1 });
  pool.spending("plan/2", { tokens: 4, usd: 0, ms: 1 });
  assert.equal(pool.today().tokens, 11);
  pool.spend("plan/1", { tokens: 8, usd: 0, ms: 2 });
  assert.equal(pool.today().tokens, 12);
});

test("a plan is blocked only when none of its agents can be waited for", () => {
  const pool = openAgentPool(paths, clock, false);
  const codex = { name: "codex" } as never;
  pool.refused("claude", { kind: "auth", message: "401" });
  assert.equal(pool.needsPerson([claude, codex]), false);
  pool.refused("codex", { kind: "rate-limit", message: "429" });
  assert.equal(pool.needsPerson([claude, codex]), false);
  assert.equal(pool.needsPerson([claude]), true);
});

test("a new day begins with nothing spent", () => {
  const pool = openAgentPool(paths, clock, false);
  pool.spend("plan/1", { tokens: 10, usd: 0, ms: 0 });
  now = nextDay(now);
  assert.equal(pool.today().tokens, 0);
});

test("a pool that cannot be read is rebuilt, and one that only reads writes nothing", () => {
  openAgentPool(paths, clock, false).enclosed("sandbox");
  writeFileSync(agentPoolFile(paths), "{");
  const pool = openAgentPool(paths, clock, true);
  pool.refused("claude", { kind: "network", message: "gone" });
  assert.equal(readAgentPool(paths), undefined);
});

test("a pool that cannot be written stops no plan", () => {
  writeFileSync(join(root, ".git"), "no folder");
  const pool = openAgentPool(paths, clock, false);
  pool.enclosed("none", "why");
  pool.refused("claude", { kind: "network", message: "gone" });
  assert.equal(pool.choose([claude], "one").kind, "away");
});
