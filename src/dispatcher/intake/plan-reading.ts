import type { PlanContent, PlanQuery } from "../../hooks/contexts/context-types.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { progressOf } from "../../plan/markdown/markdown.ts";
import type { PlanRecord, PlanStatus, StoredStatus } from "../../plan/record.ts";
import { type PlanSummary, summarise } from "../../plan/summary.ts";
import type { Buses } from "../buses/buses.ts";
import type { Gated } from "../gates/gate-store.ts";
import { type Located, textPath } from "../paths.ts";
import { planText, type Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { unansweredComments } from "../steps/observe.ts";
import { phaseAt } from "./phases.ts";

/** A plan's text and progress, wherever it lies; undefined when there is no such plan. */
export function readPlan(loom: Located & Records, planId: string): PlanContent | undefined {
  const record = loom.store.byId(planId);
  const text = record && !record.deleted ? planText(loom, record) : undefined;
  return text && { content: text.text, progress: progressOf(text.doc) };
}

/** The summary that plugins get of a plan: as `prloom status` shows it, but for what the plan waits for. */
export function summaryFor(loom: Located & Configured & Records & Gated & Buses, record: PlanRecord): PlanSummary {
  const triaging = record.status !== "done" && unansweredComments(loom, record.id) > 0;
  return summarise(record, loom.texts.facts(textPath(loom, record), record.id), {
    triaging,
    ...phaseOrNone(loom, record),
  });
}

/** A gate that cannot be read is told elsewhere, and keeps no plan from being listed. */
function phaseOrNone(loom: Located & Configured & Records & Gated, record: PlanRecord): ReturnType<typeof phaseAt> {
  try {
    return phaseAt(loom, record);
  } catch (error) {
    if (error instanceof PrloomError) return {};
    throw error;
  }
}

/** The plans that match everything the query says. Only the summaries of plans that can match are made. */
export function listPlans(loom: Located & Configured & Records & Gated & Buses, query: PlanQuery = {}): PlanSummary[] {
  const statuses = query.status === undefined ? undefined : new Set([query.status].flat());
  const filter = {
    ...(statuses === undefined ? {} : { status: storedStatuses(statuses) }),
    ...(query.hidden === undefined ? {} : { hidden: query.hidden }),
    ...(query.source === undefined ? {} : { source: query.source }),
  };
  const whole = completeSource(query);
  const found = whole ? loom.store.bySource(whole) : undefined;
  const records = whole ? (found ? [found] : []) : loom.store.list(filter).records;
  return records
    .filter((record) => !record.deleted && (query.hidden === undefined || record.hidden === query.hidden))
    .map((record) => summaryFor(loom, record))
    .filter((summary) => statuses === undefined || statuses.has(summary.status))
    .filter((summary) => query.location === undefined || summary.location === query.location);
}

/** `triaging` is shown, never stored. */
function storedStatuses(statuses: ReadonlySet<PlanStatus>): StoredStatus[] {
  const stored = [...statuses].flatMap((status): StoredStatus[] =>
    status === "triaging" ? ["active", "review"] : [status],
  );
  return [...new Set(stored)];
}

function completeSource({ source }: PlanQuery) {
  const { system, kind, id } = source ?? {};
  return system !== undefined && kind !== undefined && id !== undefined ? { system, kind, id } : undefined;
}
