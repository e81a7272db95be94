import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePlan, progressOf, titleOf } from "../../src/plan/markdown/markdown.ts";
import { type PlanRecord, planRecordSchema } from "../../src/plan/record.ts";
import { summarise } from "../../src/plan/summary.ts";
import { planRecord } from "../testing/plan-record.ts";

const record = (more: Partial<PlanRecord> = {}): PlanRecord =>
  planRecordSchema.parse(
    planRecord("u", {
      id: "add-login",
      status: "draft",
      inInbox: more.status === undefined || more.status === "draft" || more.status === "queued",
      updatedAt: "2026-01-02T00:00:00.000Z",
      ...more,
    }),
  );
const written = (at: string) => ({ writtenAt: Date.parse(at) });
const facts = (text: string) => ({
  title: titleOf(text, "add-login"),
  ...progressOf(parsePlan(text)),
  ...written("2026-01-01T12:00:00Z"),
});
const doc = facts("# Add login\n\n## TODO\n- [x] a\n- [ ] b\n");

test("a draft in the inbox has just what is known", () => {
  assert.deepEqual(summarise(record(), facts("")), {
    planId: "add-login",
    title: "add-login",
    status: "draft",
    hidden: false,
    location: "inbox",
    progress: { total: 0, completed: 0 },
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-02T00:00:00.000Z",
    paused: false,
  });
});

test("a plan has changed when its record or its text has", () => {
  assert.equal(summarise(record(), doc).updatedAt, "2026-01-02T00:00:00.000Z");
  const later = { ...doc, ...written("2026-01-03T00:00:00Z") };
  assert.equal(summarise(record(), later).updatedAt, "2026-01-03T00:00:00.000Z");
  assert.equal(summarise(record(), undefined).updatedAt, "2026-01-02T00:00:00.000Z");
});

test("an active plan shows progress, phase, block and branch", () => {
  const blocked = { reason: "no key", at: "2026-01-02T00:00:00.000Z" };
  const summary = summarise(record({ status: "active", branch: "prloom/x", blocked }), doc, {
    phase: "implementing",
    waiting: "Waits.",
  });
  assert.equal(summary.title, "Add login");
  assert.equal(summary.location, "worktree");
  assert.deepEqual(summary.progress, { total: 2, completed: 1 });
  assert.equal(summary.phase, "implementing");
  assert.deepEqual(summary.blocked, blocked);
  assert.equal(summary.branch, "prloom/x");
  assert.equal(summary.waiting, "Waits.");
});

test("triaging is shown only where it can be, and a known phase wins", () => {
  assert.equal(summarise(record({ status: "review" }), doc, { triaging: true }).status, "triaging");
  assert.equal(summarise(record({ status: "queued" }), doc, { triaging: true }).status, "queued");
  assert.equal(summarise(record({ status: "active", designed: true }), doc, { triaging: true }).status, "triaging");
  assert.equal(summarise(record({ status: "active" }), doc, { triaging: true }).status, "active", "not designed yet");
  assert.equal(summarise(record({ status: "active" }), doc, { phase: "planning_complete" }).phase, "planning_complete");
  assert.equal(summarise(record({ status: "active" }), undefined).title, "add-login");
});
