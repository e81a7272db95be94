import type { PlanSummary } from "../../plan/summary.ts";
import type { Output } from "../output.ts";
import type { Style } from "./colour.ts";
import { visible } from "./safe-text.ts";
import { type Cell, type Column, progressBar } from "./table.ts";
import { ageOf } from "./time.ts";

const COLUMNS: readonly Column[] = [
  { header: "PLAN" },
  { header: "STATUS" },
  { header: "TODO" },
  { header: "AGE", align: "right" },
  { header: "WAITS FOR", flexible: true },
];

const BAR = 5;

/** The table of plans that `status` and the end of `start` show. */
export function planTable(output: Output, plans: readonly PlanSummary[], now: number): void {
  const rows = plans.map((plan): Cell[] => [
    visible(plan.planId),
    { text: statusText(plan), style: styleOf(plan) },
    progressText(plan, output.terminal),
    ageOf(plan.updatedAt, now),
    visible(waitsFor(plan)),
  ]);
  output.table(COLUMNS, rows);
}

/** The status with everything that keeps the plan from moving. */
export function statusText(plan: PlanSummary): string {
  const flags = [plan.blocked && "blocked", plan.paused && "paused", plan.hidden && "hidden"].filter(Boolean);
  return [plan.status, ...flags].join(", ");
}

/** What has to happen before the plan goes on; "" when it needs nothing. */
export function waitsFor(plan: PlanSummary): string {
  if (plan.blocked) return `blocked: ${plan.blocked.reason}`;
  if (plan.paused) return `\`prloom resume ${plan.planId}\``;
  if (plan.hidden && plan.status !== "done") return `\`prloom unhide ${plan.planId}\``;
  if (plan.status === "draft") return `\`prloom queue ${plan.planId}\``;
  if (plan.status === "review") return `your review: \`prloom merge ${plan.planId}\``;
  return plan.waiting ?? "";
}

function progressText({ progress: { completed, total } }: PlanSummary, bar: boolean): string {
  if (total === 0) return "-";
  return bar ? `${completed}/${total} ${progressBar(completed, total, BAR)}` : `${completed}/${total}`;
}

function styleOf(plan: PlanSummary): Style {
  if (plan.blocked) return "red";
  if (plan.paused || plan.hidden || plan.status === "draft") return "dim";
  if (plan.status === "done") return "green";
  if (plan.status === "review") return "cyan";
  return plan.status === "queued" ? "blue" : "yellow";
}
