import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after } from "node:test";
import type { BusEvent } from "../../src/bus/types.ts";
import { takeWholeInbox } from "../../src/dispatcher/intake/intake.ts";
import type { Loom } from "../../src/dispatcher/loom.ts";
import type { PlanRecord } from "../../src/plan/record.ts";
import { makeProject, type Project } from "../testing/project.ts";

export const TEXT = "## Title\n\nA plan\n\n## TODO\n\n- [ ] one\n- [ ] two\n";

/** A repository with an inbox, removed after the test. */
export function project(): Project {
  const made = makeProject();
  after(() => made.remove());
  mkdirSync(made.inbox, { recursive: true });
  return made;
}

/** Everything on the global bus. */
export const eventsOf = (loom: Loom): BusEvent[] => loom.globalBus().readEvents({ limit: 1000 }).events;

/** What was told, in short: the type and what it is about. */
export function told(loom: Loom): string[] {
  return eventsOf(loom).map(({ type, context = {} }) => {
    if (type === "plan_status_changed") return `${context.oldStatus} → ${context.newStatus}`;
    if (type === "plan_edited") return `edited${context.digestChanged ? "" : ", ticks only"}`;
    if (type === "plan_deleted") return `${context.reason} from ${context.location}`;
    return `created in ${context.location} as ${context.status}`;
  });
}

/** Each event of a plan goes on where the one before it ended, and each id is there once. */
export function assertChains(loom: Loom): void {
  const events = eventsOf(loom);
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length, "an event was doubled");
  const known = new Map<string, { hash: unknown; status: unknown; seq: number }>();
  for (const { id, type, context = {} } of events) {
    const uid = id.split("-").at(-2) ?? "";
    const seq = Number(id.split("-").at(-1));
    const before = known.get(uid);
    assert.equal(seq, (before?.seq ?? 0) + 1, id);
    if (type === "plan_edited") assert.equal(context.oldHash, before?.hash, id);
    if (type === "plan_status_changed") assert.equal(context.oldStatus, before?.status, id);
    known.set(uid, {
      hash: context.newHash ?? context.hash ?? before?.hash,
      status: context.newStatus ?? context.status ?? before?.status,
      seq,
    });
  }
  for (const record of loom.store.list({}, { limit: 1000 }).records) {
    assert.equal(record.observed?.seq, known.get(record.uid)?.seq, record.id);
  }
}

/** Brings the records in line with the inbox. */
export function take(loom: Loom): void {
  takeWholeInbox(loom, loom.inbox.scan());
}

/** The record of a plan that is there. */
export function recordOf(loom: Loom, id: string): PlanRecord {
  const record = loom.store.byId(id);
  assert.ok(record);
  return record;
}

/** Tells what happened to any plan. */
export const lookAll = (loom: Loom): string[] => loom.lifecycle().lookAt(loom.store.list().records.map(({ id }) => id));
