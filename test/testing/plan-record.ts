import type { PlanRecord } from "../../src/plan/record.ts";

/** A record as a new plan has it. */
export function planRecord(uid: string, patch: Partial<PlanRecord> = {}): PlanRecord {
  const at = "2026-01-01T00:00:00.000Z";
  return {
    schemaVersion: 1,
    uid,
    id: `plan-${uid.toLowerCase()}`,
    status: "queued",
    hidden: false,
    paused: false,
    inInbox: true,
    worktreeReady: false,
    runs: 0,
    createdAt: at,
    updatedAt: at,
    revision: 0,
    metadata: {},
    ...patch,
  };
}
