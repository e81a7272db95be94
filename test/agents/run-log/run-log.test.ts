import assert from "node:assert/strict";
import { appendFileSync, closeSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { AgentEvent } from "../../../src/agents/port.ts";
import { lastWords, openRunLog, readEvents, readSummary } from "../../../src/agents/run-log/run-log.ts";
import { addEvent, EMPTY_SUMMARY, spendingOf } from "../../../src/agents/run-log/run-summary.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-run-log-"));
after(() => rmSync(root, { recursive: true, force: true }));
const newRun = (): string => mkdtempSync(join(root, "run-"));

const EVENTS: AgentEvent[] = [
  { type: "session", sessionId: "s1" },
  { type: "turn" },
  { type: "tool_call", id: "1", name: "Bash", input: { command: "ls" } },
  { type: "tool_result", id: "1", output: "no", failed: true },
  { type: "usage", model: "big", input: 100, output: 10, cached: 40, costUsd: 0.25 },
  { type: "usage", model: "big", input: 50, output: 5, costUsd: 0.25 },
  { type: "usage", model: "small", input: 1_000_000, output: 0 },
  { type: "text", text: "Done." },
];

test("a run's events are summed, and a model's cost where it was told", () => {
  const summary = EVENTS.reduce(addEvent, EMPTY_SUMMARY);
  assert.deepEqual(summary, {
    turns: 1,
    tools: { Bash: 1 },
    failedTools: 1,
    models: {
      big: { input: 150, output: 15, cached: 40, costUsd: 0.5 },
      small: { input: 1_000_000, output: 0, cached: 0 },
    },
    sessionId: "s1",
    errors: [],
  });
  assert.deepEqual(spendingOf(summary), { tokens: 1_000_165, usd: 0.5 });
  assert.deepEqual(spendingOf(summary, { input: 3, output: 15 }), { tokens: 1_000_165, usd: 3.5 });
});

test("an error is the run's trouble until the model answers again", () => {
  const failed = addEvent(EMPTY_SUMMARY, { type: "error", kind: "overloaded", message: "529", retrying: true });
  assert.equal(failed.trouble?.kind, "overloaded");
  const recovered = addEvent(failed, { type: "turn" });
  assert.equal(recovered.trouble, undefined);
  assert.equal(recovered.errors.length, 1);
});

test("thousands of made-up tool names do not fill the summary", () => {
  let summary = EMPTY_SUMMARY;
  for (let index = 0; index < 5000; index += 1)
    summary = addEvent(summary, { type: "tool_call", id: "x", name: `tool-${index}`, input: {} });
  assert.equal(Object.keys(summary.tools).length, 101);
  assert.equal(summary.tools.others, 4900);
});

test("thousands of made-up models do not fill the summary, and what is told without end has a sum", () => {
  let summary = EMPTY_SUMMARY;
  for (let index = 0; index < 5000; index += 1)
    summary = addEvent(summary, {
      type: "usage",
      model: `model-${index}`,
      input: 1e308,
      output: 1e308,
      costUsd: 1e308,
    });
  assert.equal(Object.keys(summary.models).length, 101);
  const { tokens, usd } = spendingOf(summary);
  assert.ok(Number.isFinite(tokens) && Number.isFinite(usd), `${tokens} ${usd}`);
});

test("a tool may have the name of what every object has", () => {
  const call = { type: "tool_call", id: "x", name: "constructor", input: {} } as const;
  assert.deepEqual(addEvent(addEvent(EMPTY_SUMMARY, call), call).tools, { constructor: 2 });
});

test("a run that ended has its sum on disk; one that was cut off is summed from what was written", () => {
  const whole = newRun();
  const log = openRunLog(whole);
  for (const event of EVENTS) log.add(event, 0);
  log.close();
  assert.equal(readSummary(whole).turns, 1);
  const torn = newRun();
  const cut = openRunLog(torn);
  for (const event of EVENTS) cut.add(event, 0);
  appendFileSync(join(torn, "events.jsonl"), '{"type":"turn"');
  assert.deepEqual(readSummary(torn), readSummary(whole));
  assert.equal(readEvents(torn).length, EVENTS.length);
});

test("a flood that was cut off is summed without what was summed before, and its last words are read from its end", () => {
  const torn = newRun();
  const log = openRunLog(torn);
  const flood = Array.from({ length: 60_000 }, (_, index) => EVENTS[index % EVENTS.length]!);
  for (const event of flood) log.add(event, 0);
  assert.deepEqual(readSummary(torn), flood.reduce(addEvent, EMPTY_SUMMARY));
  // What was summed is not read again: it may be anything.
  const file = join(torn, "events.jsonl");
  const { size } = statSync(file);
  const fd = openSync(file, "r+");
  writeSync(fd, Buffer.alloc(1024 * 1024, "x"), 0, 1024 * 1024, 0);
  closeSync(fd);
  assert.ok(size > 4 * 1024 * 1024, String(size));
  assert.deepEqual(readSummary(torn), flood.reduce(addEvent, EMPTY_SUMMARY));
  assert.equal(lastWords(torn, 11), "Done.\nDone.");
  log.close();
  assert.deepEqual(readdirSync(torn).sort(), ["events.jsonl", "summary.json"]);
});

test("a flood is cut", () => {
  const dir = newRun();
  const log = openRunLog(dir);
  for (let index = 0; index < 4000; index += 1) log.add({ type: "text", text: "x".repeat(100_000) }, 0);
  log.close();
  assert.ok(statSync(join(dir, "events.jsonl")).size <= 32 * 1024 * 1024);
});

test("the last words are whole lines from the end", () => {
  const dir = newRun();
  const log = openRunLog(dir);
  for (const text of ["first", "second", ""]) log.add({ type: "text", text }, 0);
  log.add({ type: "error", kind: "auth", message: "no key" }, 0);
  log.close();
  assert.equal(lastWords(dir, 1000), "first\nsecond\n\n(auth) no key");
  assert.equal(lastWords(dir, 22), "second\n\n(auth) no key");
  assert.equal(lastWords(newRun(), 10), "");
});

test("the end that a provider named is the same, however late the run is read", () => {
  const dir = newRun();
  const log = openRunLog(dir);
  const at = Date.UTC(2026, 10, 16, 12);
  log.add({ type: "error", kind: "quota", message: "limit", retryAfterMs: 3_600_000 }, at);
  const retryAt = "2026-11-16T13:00:00.000Z";
  // As a kill leaves it, and as it is after an orderly end.
  assert.equal(readSummary(dir).trouble?.retryAt, retryAt);
  log.close();
  assert.equal(readSummary(dir).trouble?.retryAt, retryAt);
});

test("a wait that no clock can tell, in whichever direction, is kept as one that it can", () => {
  const at = "2026-11-16T12:00:00.000Z";
  const endsAt = (retryAfterMs: number) =>
    addEvent(EMPTY_SUMMARY, { type: "error", kind: "rate-limit", message: "429", retryAfterMs, at }).trouble?.retryAt;
  assert.deepEqual([endsAt(-1e300), endsAt(1e300)], [at, "2027-11-17T12:00:00.000Z"]);
});

test("however long what a program tells is, the sum of it is short", () => {
  const dir = newRun();
  const log = openRunLog(dir);
  const long = "a".repeat(4_000_000);
  for (let at = 0; at < 20; at += 1) {
    log.add({ type: "error", kind: "other", message: long }, 0);
    log.add({ type: "tool_call", id: long, name: `${at}${long}`, input: {} }, 0);
    log.add({ type: "usage", model: `${at}${long}`, input: 1, output: 1 }, 0);
    log.add({ type: "waiting", question: long }, 0);
  }
  // So many that the sum so far is kept several times.
  for (let at = 0; at < 60_000; at += 1) log.add({ type: "turn" }, 0);
  log.close();
  const { errors, tools, models } = readSummary(dir);
  assert.deepEqual([errors.length, Object.keys(tools).length, Object.keys(models).length], [20, 20, 20]);
  assert(statSync(join(dir, "summary.json")).size < 1_000_000);
  assert(statSync(join(dir, "events.jsonl")).size < 10_000_000);
});
