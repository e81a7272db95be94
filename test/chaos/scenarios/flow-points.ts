import type { CrashPoint } from "./crash-points.ts";

/** Points on the way from an event to its delivery: passed whenever something happens outside. See `flow.ts`. */
export const FLOW_POINTS: ReadonlySet<string> = new Set([
  "bus.caught-up",
  "bus.projected",
  "bus.record-written",
  "bus.saving",
  "bus.settled",
  "bus.synced",
  "bus.written",
  "deliver:returned",
  "deliver:routed",
  "deliver:sending",
  "deliver:settled",
  "events:offered",
  "events:synced",
  "hook:all-called",
  "hook:attempted",
  "hook:called",
  "hook:pending",
  "hook:settled",
  "lifecycle:appended",
  "lifecycle:noted",
  "lifecycle:observed",
  "lifecycle:recovered",
  "notify:sent",
  "poll:events-appended",
  "poll:plan-events-appended",
  "poll:returned",
  "poll:settled",
  "state:file-synced",
  "state:file-written",
  "together:noted",
  "together:repaired",
  "together:written",
  "upsert:changed-text",
  "upsert:kept",
  "upsert:meta",
  "upsert:text",
]);

export function isFlowPoint(point: CrashPoint): boolean {
  return FLOW_POINTS.has(point.name);
}
