import { isoTime } from "../kernel/clock.ts";
import type { Phase, PlanStatus, PlanSummary } from "./plan-types.ts";
import type { PlanRecord } from "./record.ts";

export type { Phase, PlanSummary } from "./plan-types.ts";

/** What a list shows of a plan's text. */
export interface TextFacts {
  readonly title: string;
  readonly total: number;
  readonly completed: number;
  /** When the text was last written, ms since the epoch. */
  readonly writtenAt: number;
}

/** What the record and the text do not tell. */
export interface SummaryExtras {
  /** Events wait for triage. */
  readonly triaging?: boolean;
  readonly phase?: Phase;
  readonly waiting?: string;
  readonly stackedOn?: string;
  readonly gate?: PlanSummary["gate"];
}

/** The summary of a plan; `facts` are undefined when its text cannot be read. */
export function summarise(record: PlanRecord, facts: TextFacts | undefined, extras: SummaryExtras = {}): PlanSummary {
  return {
    planId: record.id,
    title: facts?.title ?? record.id,
    status: statusOf(record, extras.triaging === true),
    hidden: record.hidden,
    location: record.inInbox ? "inbox" : "worktree",
    ...(record.source && { source: record.source }),
    progress: { total: facts?.total ?? 0, completed: facts?.completed ?? 0 },
    createdAt: record.createdAt,
    updatedAt: facts ? laterOf(record.updatedAt, facts.writtenAt) : record.updatedAt,
    ...(record.blocked && { blocked: record.blocked }),
    paused: record.paused,
    ...(record.branch !== undefined && { branch: record.branch }),
    ...(record.changeRequest && { changeRequest: record.changeRequest }),
    ...(extras.stackedOn !== undefined && { stackedOn: extras.stackedOn }),
    ...(record.behind && { behind: record.behind.why }),
    ...(extras.phase && { phase: extras.phase }),
    ...(extras.gate && { gate: extras.gate }),
    ...(extras.waiting !== undefined && { waiting: extras.waiting }),
  };
}

/** A plan has changed when its text has, by an agent or by a person. */
function laterOf(updatedAt: string, writtenAt: number): string {
  return writtenAt > Date.parse(updatedAt) ? isoTime(writtenAt) : updatedAt;
}

function statusOf(record: PlanRecord, triaging: boolean): PlanStatus {
  return triaging && readsComments(record) ? "triaging" : record.status;
}

/** What is said to a plan before its design goes to the designer, and only then to triage. */
export function readsComments({ status, designed }: PlanRecord): boolean {
  return status === "review" || (status === "active" && designed === true);
}
