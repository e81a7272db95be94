import type { BusEvent } from "../../bus/types.ts";
import type { EventContexts, PlanLocation } from "../../hooks/contexts/event-types.ts";
import { PLAN_STATUSES, type PlanStatus } from "../../plan/plan-types.ts";
import type { Observed, PlanRecord } from "../../plan/record.ts";
import { readsComments } from "../../plan/summary.ts";

/** What is seen of a plan, besides its record. */
export interface LifecycleFacts {
  /** Hash of the text's bytes; absent: the plan has no text. */
  readonly sha256?: string;
  /** Events wait for triage. */
  readonly triaging: boolean;
  /** What the text says; asked only when there is something to tell. */
  text(): { readonly digest: string; readonly title?: string } | undefined;
}

export interface LifecycleEvent {
  readonly event: BusEvent;
  /** What the record is to say once the event is appended. */
  readonly observed: Observed;
}

type LifecycleType = "plan_created" | "plan_edited" | "plan_status_changed" | "plan_deleted";

/**
 * The next thing to tell about a plan, or nothing: the difference between what was told so far (`record.observed`) and
 * what is. Asked again until there is nothing: created, then status, then edited, then deleted.
 */
export function nextLifecycleEvent(record: PlanRecord, facts: LifecycleFacts): LifecycleEvent | undefined {
  const { observed } = record;
  if (!observed) return created(record, facts);
  if (isEndTold(observed)) return undefined;
  return statusChanged(record, observed, facts) ?? edited(record, observed, facts) ?? deleted(record, observed);
}

/** True when the plan's end was told; nothing is told of it after that. */
export function isEndTold(observed: Observed | undefined): boolean {
  return observed?.status === "deleted" || observed?.status === "cleaned";
}

/**
 * What an event that was appended earlier told. After a kill between the event and the record, the record goes on from
 * there and not from what is true by now, so that no change in between is left out.
 */
export function observedFrom(event: BusEvent, before: Observed | undefined, facts: LifecycleFacts): Observed {
  const { newHash, hash = newHash, newStatus, status = newStatus, reason } = (event.context ?? {}) as ToldContext;
  const sha256 = hash ?? before?.sha256 ?? "";
  const digest = sha256 === before?.sha256 ? before.digest : sha256 === facts.sha256 ? facts.text()?.digest : undefined;
  const over = event.type === "plan_deleted" ? (reason === "cleaned" ? "cleaned" : "deleted") : undefined;
  return {
    sha256,
    ...(digest === undefined ? {} : { digest }),
    status: over ?? status ?? before?.status ?? "",
    seq: (before?.seq ?? 0) + 1,
  };
}

/** The contexts of our own events, in one. */
type ToldContext = Partial<
  Pick<EventContexts["plan_created"], "hash" | "status"> &
    Pick<EventContexts["plan_edited"], "newHash"> &
    Pick<EventContexts["plan_status_changed"], "newStatus"> &
    Pick<EventContexts["plan_deleted"], "reason">
>;

function created(record: PlanRecord, facts: LifecycleFacts): LifecycleEvent | undefined {
  if (record.deleted || facts.sha256 === undefined) return undefined;
  const status = statusOf(record, undefined, facts);
  const context: EventContexts["plan_created"] = {
    ...about(record),
    location: locationOf(record),
    status,
    hash: facts.sha256,
  };
  const words = {
    title: `Plan ${record.id} was created`,
    body: `${named(record, facts)} is new, ${statusWords(status)}.`,
  };
  return told(record, { type: "plan_created", context, words }, { ...textNow(facts.sha256, facts), status });
}

function statusChanged(record: PlanRecord, observed: Observed, facts: LifecycleFacts): LifecycleEvent | undefined {
  const newStatus = statusOf(record, observed, facts);
  const oldStatus = PLAN_STATUSES.find((status) => status === observed.status) ?? newStatus;
  if (newStatus === oldStatus) return undefined;
  const context: EventContexts["plan_status_changed"] = { ...about(record), oldStatus, newStatus };
  const words = {
    title: `Plan ${record.id} went from ${oldStatus} to ${newStatus}`,
    body: `${named(record, facts)} was ${statusWords(oldStatus)} and is ${statusWords(newStatus)} now.`,
  };
  return told(record, { type: "plan_status_changed", context, words }, { ...observed, status: newStatus });
}

function edited(record: PlanRecord, observed: Observed, facts: LifecycleFacts): LifecycleEvent | undefined {
  if (facts.sha256 === undefined || facts.sha256 === observed.sha256) return undefined;
  const now = textNow(facts.sha256, facts);
  const digestChanged = now.digest === undefined || now.digest !== observed.digest;
  const context: EventContexts["plan_edited"] = {
    ...about(record),
    location: locationOf(record),
    oldHash: observed.sha256,
    newHash: facts.sha256,
    digestChanged,
  };
  const words = {
    title: `Plan ${record.id} was edited`,
    body: `The text of ${named(record, facts)} changed${digestChanged ? "" : ": ticks or its Progress Log only"}.`,
  };
  return told(record, { type: "plan_edited", context, words }, { status: observed.status, ...now });
}

function deleted(record: PlanRecord, observed: Observed): LifecycleEvent | undefined {
  const isCleaned = record.status === "done" && record.worktree !== undefined && !record.worktreeReady;
  const reason = record.deleted?.reason ?? (isCleaned ? ("cleaned" as const) : undefined);
  if (reason === undefined) return undefined;
  const context: EventContexts["plan_deleted"] = { ...about(record), location: locationOf(record), reason };
  const words = { title: `Plan ${record.id} was removed`, body: REASONS[reason] };
  const status = record.deleted ? "deleted" : "cleaned";
  return told(record, { type: "plan_deleted", context, words }, { ...observed, status });
}

const REASONS: Readonly<Record<EventContexts["plan_deleted"]["reason"], string>> = {
  deleted: "It was deleted.",
  file_removed: "Its file was taken out of the inbox.",
  cleaned: "It is done, and its worktree was cleaned up.",
};

interface Telling {
  readonly type: LifecycleType;
  readonly context: Readonly<Record<string, unknown>>;
  readonly words: { readonly title: string; readonly body: string };
}

function told(record: PlanRecord, telling: Telling, now: Omit<Observed, "seq">): LifecycleEvent {
  const seq = (record.observed?.seq ?? 0) + 1;
  const { type, context, words } = telling;
  const event: BusEvent = {
    id: `${type}-${record.uid}-${seq}`,
    source: "prloom",
    type,
    severity: "info",
    ...words,
    context: { ...context },
  };
  return { event, observed: { ...now, seq } };
}

function textNow(sha256: string, facts: LifecycleFacts): Pick<Observed, "sha256" | "digest"> {
  const digest = facts.text()?.digest;
  return { sha256, ...(digest === undefined ? {} : { digest }) };
}

function about(record: PlanRecord) {
  return { planId: record.id, ...(record.source ? { source: record.source } : {}) };
}

function locationOf(record: PlanRecord): PlanLocation {
  return record.status === "draft" || record.status === "queued" ? "inbox" : "worktree";
}

/** A plan that is deleted is not triaged any more; it is told as it was. */
function statusOf(record: PlanRecord, observed: Observed | undefined, facts: LifecycleFacts): PlanStatus {
  const triaging = record.deleted ? observed?.status === "triaging" : facts.triaging;
  return triaging && readsComments(record) ? "triaging" : record.status;
}

function named(record: PlanRecord, facts: LifecycleFacts): string {
  return `"${facts.text()?.title ?? record.id}"`;
}

const STATUS_WORDS: Readonly<Record<PlanStatus, string>> = {
  draft: "a draft",
  queued: "queued",
  active: "being worked on",
  triaging: "reading what was said to it",
  review: "in review",
  done: "done",
};

function statusWords(status: PlanStatus): string {
  return STATUS_WORDS[status];
}
