import type { StoredStatus } from "./record.ts";

export const PLAN_EVENTS = [
  "queue",
  "unqueue",
  "activate",
  "finish",
  "todos-added",
  "merged",
  "closed",
  "delete",
  "block",
  "unblock",
  "pause",
  "resume",
  "hide",
  "unhide",
] as const;
export type PlanEvent = (typeof PLAN_EVENTS)[number];

export interface PlanState {
  readonly status: StoredStatus;
  readonly hidden: boolean;
  readonly paused: boolean;
  readonly blocked: boolean;
}

export type Transition =
  | { readonly ok: true; readonly status: StoredStatus }
  | { readonly ok: false; readonly why: string };

const STARTED = "Work on the plan has already started; `prloom pause` stops it.";
const NOT_STARTED = "The plan is not active yet, so it has no change request.";
const FINISHED = "The plan is done.";

/** For each event and status: the status after it, or the reason why it is refused. Asking for the current state is fine. */
const TABLE: Readonly<Record<PlanEvent, Readonly<Record<StoredStatus, StoredStatus | { why: string }>>>> = {
  queue: {
    draft: "queued",
    queued: "queued",
    active: { why: "The plan is active already." },
    review: { why: "The plan is in review already." },
    done: { why: "The plan is done; make a new one with `prloom new`." },
  },
  unqueue: {
    draft: "draft",
    queued: "draft",
    active: { why: STARTED },
    review: { why: STARTED },
    done: { why: FINISHED },
  },
  activate: {
    draft: { why: "The plan is a draft; `prloom queue` lets it start." },
    queued: "active",
    active: { why: "The plan is active already." },
    review: { why: "The plan is in review already." },
    done: { why: FINISHED },
  },
  finish: {
    draft: { why: "The plan is a draft; it has not started." },
    queued: { why: "The plan is queued; it has not started." },
    active: "review",
    review: { why: "The plan is in review already." },
    done: { why: FINISHED },
  },
  "todos-added": {
    draft: "draft",
    queued: "queued",
    active: "active",
    review: "active",
    done: { why: "The plan is done; new TODOs need a new plan." },
  },
  merged: { draft: { why: NOT_STARTED }, queued: { why: NOT_STARTED }, active: "done", review: "done", done: "done" },
  closed: { draft: { why: NOT_STARTED }, queued: { why: NOT_STARTED }, active: "done", review: "done", done: "done" },
  delete: stay(),
  block: { ...stay(), done: { why: FINISHED } },
  unblock: stay(),
  pause: { ...stay(), done: { why: FINISHED } },
  resume: stay(),
  hide: stay(),
  unhide: stay(),
};

/** The status after an event, or why it cannot happen: the only place where a plan's status is decided. */
export function transition(from: PlanState, event: PlanEvent): Transition {
  const next = TABLE[event][from.status];
  if (typeof next !== "string") return { ok: false, why: next.why };
  const held = event === "activate" || event === "finish" ? heldBy(from) : undefined;
  return held === undefined ? { ok: true, status: next } : { ok: false, why: held };
}

function heldBy({ hidden, paused, blocked }: PlanState): string | undefined {
  if (blocked) return "The plan is blocked; `prloom unblock` clears the reason.";
  if (paused) return "The plan is paused; `prloom resume` lets it go on.";
  if (hidden) return "The plan is hidden; `prloom unhide` lets it go on.";
  return undefined;
}

function stay(): Record<StoredStatus, StoredStatus> {
  return { draft: "draft", queued: "queued", active: "active", review: "review", done: "done" };
}
