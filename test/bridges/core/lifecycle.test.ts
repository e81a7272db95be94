import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type LifecycleEvent,
  type LifecycleFacts,
  nextLifecycleEvent,
  observedFrom,
} from "../../../src/bridges/core/lifecycle.ts";
import { busEventSchema } from "../../../src/bus/types.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { planRecord } from "../../testing/plan-record.ts";

const at = "2026-01-01T00:00:00.000Z";
const SOURCE = { system: "github", kind: "issue", id: "7" };

const record = (change: Partial<PlanRecord> = {}): PlanRecord =>
  planRecord("U1", { id: "plan", status: "draft", source: SOURCE, ...change });

const facts = (sha256: string | undefined, digest = "d1", triaging = false): LifecycleFacts => ({
  ...(sha256 === undefined ? {} : { sha256 }),
  triaging,
  text: () => (sha256 === undefined ? undefined : { digest, title: "A plan" }),
});
const observed = { sha256: "h1", digest: "d1", status: "draft", seq: 1 };

/** Everything there is to tell, as the dispatcher asks: one at a time, each recorded before the next. */
function tellAll(start: PlanRecord, seen: LifecycleFacts): LifecycleEvent[] {
  const told: LifecycleEvent[] = [];
  for (let now = start; ; ) {
    const next = nextLifecycleEvent(now, seen);
    if (!next) return told;
    told.push(next);
    now = { ...now, observed: next.observed };
    assert.ok(told.length < 10, "it never ends");
  }
}

const ids = (start: PlanRecord, seen: LifecycleFacts) => tellAll(start, seen).map(({ event }) => event.id);

test("a plan is created when its text is there, and not before", () => {
  assert.equal(nextLifecycleEvent(record(), facts(undefined)), undefined);
  const told = nextLifecycleEvent(record({ status: "queued" }), facts("h1"));
  assert.deepEqual(busEventSchema.parse(told?.event), {
    id: "plan_created-U1-1",
    source: "prloom",
    type: "plan_created",
    severity: "info",
    title: "Plan plan was created",
    body: '"A plan" is new, queued.',
    context: { planId: "plan", location: "inbox", source: SOURCE, status: "queued", hash: "h1" },
  });
  assert.deepEqual(told?.observed, { sha256: "h1", digest: "d1", status: "queued", seq: 1 });
});

test("nothing changed, nothing is told", () => {
  assert.equal(nextLifecycleEvent(record({ observed }), facts("h1")), undefined);
  const paused = record({ status: "active", paused: true, hidden: true, observed: { ...observed, status: "active" } });
  assert.equal(nextLifecycleEvent(paused, facts("h1")), undefined);
  assert.equal(nextLifecycleEvent(record({ observed }), facts(undefined)), undefined, "the text is gone for a moment");
});

test("in one look: status, then edited, then deleted", () => {
  const deleted = { at, reason: "deleted" as const };
  const start = record({ status: "active", observed, deleted, worktree: "/w", inInbox: false });
  assert.deepEqual(ids(start, facts("h2", "d2")), [
    "plan_status_changed-U1-2",
    "plan_edited-U1-3",
    "plan_deleted-U1-4",
  ]);
});

test("an edit tells both hashes, and whether more than ticks changed", () => {
  const ticked = nextLifecycleEvent(record({ observed }), facts("h2", "d1"));
  assert.deepEqual(ticked?.event.context, {
    planId: "plan",
    location: "inbox",
    source: SOURCE,
    oldHash: "h1",
    newHash: "h2",
    digestChanged: false,
  });
  const reworded = nextLifecycleEvent(record({ observed }), facts("h2", "d2"));
  assert.equal(reworded?.event.context?.digestChanged, true);
  const { digest: _, ...older } = observed;
  assert.equal(nextLifecycleEvent(record({ observed: older }), facts("h2"))?.event.context?.digestChanged, true);
  assert.equal(nextLifecycleEvent(record({ observed: older }), facts("h2"))?.observed.digest, "d1");
});

test("triaging is told for plans that are worked on, and back", () => {
  const start = record({ status: "review", observed: { ...observed, status: "review" } });
  const [there, more] = tellAll(start, facts("h1", "d1", true));
  assert.deepEqual([there?.event.context?.oldStatus, there?.event.context?.newStatus], ["review", "triaging"]);
  assert.equal(more, undefined);
  const back = nextLifecycleEvent({ ...start, observed: there?.observed }, facts("h1"));
  assert.deepEqual([back?.event.context?.oldStatus, back?.event.context?.newStatus], ["triaging", "review"]);
  assert.deepEqual(ids(record({ observed }), facts("h1", "d1", true)), []);
});

test("the end of a plan is told once, with its reason", () => {
  const removed = record({ observed, deleted: { at, reason: "file_removed" }, inInbox: false });
  const [event, more] = tellAll(removed, facts(undefined));
  assert.deepEqual(event?.event.context, { planId: "plan", location: "inbox", source: SOURCE, reason: "file_removed" });
  assert.equal(more, undefined);
  assert.deepEqual(ids(record({ deleted: { at, reason: "deleted" } }), facts(undefined)), [], "it was never told");
  const done = record({ status: "done", worktree: "/w", inInbox: false, observed: { ...observed, status: "done" } });
  assert.deepEqual(ids({ ...done, worktreeReady: true }, facts("h1")), []);
  const [cleaned] = tellAll(done, facts("h1"));
  assert.equal(cleaned?.event.context?.reason, "cleaned");
  const after = { ...done, observed: cleaned?.observed };
  assert.deepEqual(ids(after, facts("h9")), []);
  assert.deepEqual(ids({ ...after, deleted: { at, reason: "deleted" } }, facts("h9")), []);
});

test("after a kill the record goes on from what was told, not from what is true by now", () => {
  const cases: [start: PlanRecord, then: LifecycleFacts, now: LifecycleFacts][] = [
    [record(), facts("h1"), facts("h2", "d2")],
    [record({ observed }), facts("h2", "d2"), facts("h3", "d3")],
    [record({ observed, status: "queued" }), facts("h1"), facts("h2", "d2")],
    [record({ observed, deleted: { at, reason: "deleted" } }), facts(undefined), facts(undefined)],
    [record({ status: "done", worktree: "/w", observed: { ...observed, status: "done" } }), facts("h1"), facts("h1")],
  ];
  for (const [start, then, now] of cases) {
    const told = nextLifecycleEvent(start, then);
    assert.ok(told);
    const { digest, ...expected } = told.observed;
    const { digest: known, ...found } = observedFrom(told.event, start.observed, now);
    assert.deepEqual(found, expected);
    assert.ok(known === undefined || known === digest);
    assert.deepEqual(observedFrom(told.event, start.observed, then), told.observed);
  }
});
