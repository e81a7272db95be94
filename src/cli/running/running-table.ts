import type { Output } from "../output.ts";
import { visible } from "../render/safe-text.ts";
import { shorterIds, shortIds } from "../render/tables/short-ids.ts";
import { type Column, fittingLayout, progressBar, renderTable, type TableLayout } from "../render/tables/table.ts";
import { ageOf } from "../render/time.ts";

/** A plan with an agent at work. */
export interface RunningPlan {
  readonly planId: string;
  readonly run: number;
  readonly stage: string;
  readonly agent: string;
  readonly startedAt: string;
  readonly completed: number;
  readonly total: number;
  /** What the agent did last, in its own words. */
  readonly last: string;
}

const PLAN: Column = { header: "WORKING ON", whole: true };
const TODO: Column = { header: "TODO" };
const FOR: Column = { header: "FOR", align: "right" };
const STAGE: Column = { header: "STAGE" };
const AGENT: Column = { header: "AGENT" };
const DOES: Column = { header: "DOES", flexible: true };

const BAR = 5;

/** Pure: the block that `start` shows in a terminal. In a narrow one ids are shortened before the progress goes. */
export function runningLines(
  { width, paint }: Pick<Output, "width" | "paint">,
  plans: readonly RunningPlan[],
  now: number,
): string[] {
  const ids = plans.map(({ planId }) => visible(planId));
  const layout = (names: readonly string[], has: { bar: boolean; more: boolean }): TableLayout => ({
    columns: [PLAN, TODO, FOR, ...(has.more ? [STAGE, AGENT] : []), DOES],
    rows: plans.map((plan, index) => [
      names[index] ?? "",
      progressText(plan, has.bar),
      ageOf(plan.startedAt, now),
      ...(has.more ? [plan.stage, visible(plan.agent)] : []),
      visible(plan.last),
    ]),
  });
  const { columns, rows } = fittingLayout(
    [
      layout(ids, { bar: true, more: true }),
      layout(ids, { bar: false, more: true }),
      layout(ids, { bar: false, more: false }),
      layout(shortIds(ids, 24), { bar: false, more: false }),
      layout(shorterIds(ids, 16, 24), { bar: false, more: false }),
    ],
    width(),
  );
  return renderTable(columns, rows, { width: width(), paint });
}

function progressText({ completed, total }: RunningPlan, bar: boolean): string {
  if (total === 0) return "-";
  return `${completed}/${total}${bar ? ` ${progressBar(completed, total, BAR)}` : ""}`;
}
