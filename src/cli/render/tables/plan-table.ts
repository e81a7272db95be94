import type { ActivityState } from "../../../agents/activity.ts";
import type { ListedPlan } from "../../../dispatcher/report/read.ts";
import type { PlanSummary } from "../../../plan/summary.ts";
import type { Output } from "../../output.ts";
import type { Style } from "../colour.ts";
import { firstLine, visible } from "../safe-text.ts";
import { ageOf } from "../time.ts";
import { shorterIds, shortIds } from "./short-ids.ts";
import { type Column, cutToWidth, fittingLayout, progressBar, renderTable, type TableLayout } from "./table.ts";

const PLAN: Column = { header: "PLAN", whole: true };
const STATUS: Column = { header: "STATUS" };
const TODO: Column = { header: "TODO" };
const CHANGED: Column = { header: "CHANGED", align: "right" };
const WAITS_FOR: Column = { header: "WAITS FOR", flexible: true };
const DOES: Column = { header: "DOES / WAITS FOR", flexible: true };

const BAR = 5;
/** Without a terminal nothing else would limit the line. */
const MAX_REASON = 160;

/** The table of plans that `status` and the end of `start` show. */
export function planTable(output: Output, plans: readonly ListedPlan[], now: number): void {
  output.line(planTableLines(output, plans, now).join("\n"));
}

/** Its lines, the header first. In a narrow terminal ids are shortened before the progress goes. */
export function planTableLines(
  { terminal, width, paint }: Pick<Output, "terminal" | "width" | "paint">,
  plans: readonly ListedPlan[],
  now: number,
): string[] {
  const ids = plans.map(({ planId }) => visible(planId));
  const last = plans.some((plan) => doing(plan) !== undefined) ? DOES : WAITS_FOR;
  const layout = (names: readonly string[], has: { bar: boolean; changed: boolean }): TableLayout => ({
    columns: [PLAN, STATUS, TODO, ...(has.changed ? [CHANGED] : []), last],
    rows: plans.map((plan, index) => [
      names[index] ?? "",
      { text: stateText(plan), style: styleOf(plan) },
      progressText(plan, has.bar),
      ...(has.changed ? [ageOf(plan.updatedAt, now)] : []),
      cutToWidth(doing(plan) ?? waitsOrOpen(plan), MAX_REASON),
    ]),
  });
  const { columns, rows } = fittingLayout(
    [
      layout(ids, { bar: terminal, changed: true }),
      layout(ids, { bar: false, changed: true }),
      layout(shortIds(ids, 24), { bar: false, changed: true }),
      layout(shortIds(ids, 24), { bar: false, changed: false }),
      layout(shorterIds(ids, 16, 24), { bar: false, changed: false }),
    ],
    width(),
  );
  return renderTable(columns, rows, { width: width(), paint });
}

/** One plan in one line, for files and pipes. */
export function planLine(plan: ListedPlan): string {
  const now = doing(plan) ?? waitsOrOpen(plan);
  const parts = [visible(plan.planId), stateText(plan), progressText(plan, false), cutToWidth(now, MAX_REASON)];
  return parts.join("  ").trimEnd();
}

/** What its agent does; undefined where none is at work, or something else says more. */
function doing({ activity, blocked, paused, hidden, opened }: ListedPlan): string | undefined {
  if (activity?.last === undefined || blocked || paused || hidden || opened) return undefined;
  return activity.state === "crashed" || activity.state === "finished-without-result"
    ? undefined
    : visible(activity.last);
}

function stateText(plan: ListedPlan): string {
  return [statusText(plan), ...(plan.opened ? ["open"] : activityWord(plan))].join(", ");
}

/** Nothing goes on with a plan before the person who is in its worktree leaves. */
function waitsOrOpen(plan: ListedPlan): string {
  if (plan.opened) return `a person has it open (\`prloom open\`, process ${plan.opened.pid})`;
  return waitsFor(plan);
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
  if (activity === undefined || activity.state === "none" || blocked) return [];
  return [...(activity.resolves ? ["conflict"] : []), ACTIVITY_WORDS[activity.state]];
}

/** What has to happen before the plan goes on, in one line; "" when it needs nothing. */
export function waitsFor(plan: PlanSummary): string {
  if (plan.blocked) return `blocked: ${firstLine(plan.blocked.reason)}`;
  if (plan.paused) return `\`prloom resume ${plan.planId}\``;
  if (plan.hidden && plan.status !== "done") return `\`prloom unhide ${plan.planId}\``;
  if (plan.status === "draft") {
    const why = plan.waiting === undefined ? "" : `: ${firstLine(plan.waiting)}`;
    return `\`prloom queue ${plan.planId}\`${why}`;
  }
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
