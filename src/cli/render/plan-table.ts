import type { ActivityState } from "../../agents/activity.ts";
import type { ListedPlan } from "../../dispatcher/report/read.ts";
import type { PlanSummary } from "../../plan/summary.ts";
import type { Output } from "../output.ts";
import type { Style } from "./colour.ts";
import { firstLine, visible } from "./safe-text.ts";
import { type Cell, type Column, cutToWidth, progressBar, tableWidth } from "./table.ts";
import { ageOf } from "./time.ts";
import { displayWidth } from "./width.ts";

const PLAN: Column = { header: "PLAN", whole: true };
const STATUS: Column = { header: "STATUS" };
const TODO: Column = { header: "TODO" };
const CHANGED: Column = { header: "CHANGED", align: "right" };
const WAITS_FOR: Column = { header: "WAITS FOR", flexible: true };

const BAR = 5;
/** The reason stays at least this readable before something else makes room for it. */
const LEAST_REASON = 20;
/** Without a terminal nothing else would limit the line. */
const MAX_REASON = 160;

/** The table of plans that `status` and the end of `start` show. */
export function planTable(output: Output, plans: readonly ListedPlan[], now: number): void {
  const rows = plans.map((plan) => ({
    id: visible(plan.planId),
    status: { text: [statusText(plan), ...activityWord(plan)].join(", "), style: styleOf(plan) },
    bar: progressText(plan, output.terminal),
    count: progressText(plan, false),
    changed: ageOf(plan.updatedAt, now),
    reason: cutToWidth(waitsFor(plan), MAX_REASON),
  }));
  const fits = (todo: readonly string[]): boolean => {
    if (!Number.isFinite(output.width())) return true;
    const columns = [
      [PLAN.header, ...rows.map((row) => row.id)],
      [STATUS.header, ...rows.map((row) => row.status.text)],
      [TODO.header, ...todo],
      [CHANGED.header, ...rows.map((row) => row.changed)],
    ];
    const reason = Math.min(LEAST_REASON, widest([WAITS_FOR.header, ...rows.map((row) => row.reason)]));
    return tableWidth([...columns.map(widest), reason]) <= output.width();
  };
  const shown = (["bar", "count"] as const).find((kind) => fits(rows.map((row) => row[kind])));
  output.table(
    [PLAN, STATUS, ...(shown ? [TODO] : []), CHANGED, WAITS_FOR],
    rows.map((row): Cell[] => [row.id, row.status, ...(shown ? [row[shown]] : []), row.changed, row.reason]),
  );
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);
}

/** The status with everything that keeps the plan from moving. */
export function statusText(plan: PlanSummary): string {
  const flags = [plan.blocked && "blocked", plan.paused && "paused", plan.hidden && "hidden"].filter(Boolean);
  return [plan.status, ...flags].join(", ");
}

/** Each state of an agent as a list shows it. */
export const ACTIVITY_WORDS: Readonly<Record<ActivityState, string>> = {
  none: "nothing runs",
  working: "working",
  "waiting-for-input": "asks",
  silent: "silent",
  stuck: "stuck",
  crashed: "crashed",
  "finished-without-result": "no result",
};

/** A blocked plan has its reason, which says more. */
function activityWord({ activity, blocked }: ListedPlan): string[] {
  return activity === undefined || activity.state === "none" || blocked ? [] : [ACTIVITY_WORDS[activity.state]];
}

/** What has to happen before the plan goes on, in one line; "" when it needs nothing. */
export function waitsFor(plan: PlanSummary): string {
  if (plan.blocked) return `blocked: ${firstLine(plan.blocked.reason)}`;
  if (plan.paused) return `\`prloom resume ${plan.planId}\``;
  if (plan.hidden && plan.status !== "done") return `\`prloom unhide ${plan.planId}\``;
  if (plan.status === "draft") return `\`prloom queue ${plan.planId}\``;
  if (plan.status === "review" && plan.waiting === undefined) return `your review: \`prloom merge ${plan.planId}\``;
  return firstLine(plan.waiting ?? "");
}

function progressText({ progress: { completed, total } }: PlanSummary, bar: boolean): string {
  if (total === 0) return "-";
  return bar ? `${completed}/${total} ${progressBar(completed, total, BAR)}` : `${completed}/${total}`;
}

function styleOf(plan: ListedPlan): Style {
  if (plan.blocked || plan.activity?.state === "stuck" || plan.activity?.state === "crashed") return "red";
  if (plan.paused || plan.hidden || plan.status === "draft") return "dim";
  if (plan.status === "done") return "green";
  if (plan.status === "review") return "cyan";
  return plan.status === "queued" ? "blue" : "yellow";
}
