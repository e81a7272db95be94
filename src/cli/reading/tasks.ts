import { readPlanDetail } from "../../dispatcher/report/read.ts";
import { readTasks, type TasksReport } from "../../dispatcher/report/read-tasks.ts";
import { bestAnchors, stalenessHours } from "../../governance/context/anchors.ts";
import { drawGraph } from "../../governance/graph/draw.ts";
import type { Call } from "../output.ts";
import { reading, suggesting } from "../plans.ts";
import { visible, visibleLines } from "../render/safe-text.ts";

const SHOWN_CHECKPOINTS = 5;

function tasksOf(call: Call, plan: string): Promise<TasksReport & { now: number }> {
  return suggesting(call, plan, () =>
    reading(call, async (loom) => ({ ...readTasks(await readPlanDetail(loom, plan)), now: loom.clock.now() })),
  );
}

/** Draws a plan's tasks: what each waits for, what was done for it, and whom parts of it were given to. */
export async function tasks(call: Call, plan: string): Promise<number> {
  const { graph, problems } = await tasksOf(call, plan);
  call.output.data({ ...graph, problems });
  const drawn = drawGraph(graph, { checkpoints: SHOWN_CHECKPOINTS, isForPeople: true });
  for (const line of visibleLines(drawn)) call.output.line(line);
  for (const problem of problems) call.output.note(visible(problem));
  return 0;
}

/** Lists what a plan's agents anchored, the most important first. */
export async function anchors(call: Call, plan: string): Promise<number> {
  const { anchors: all, problems, now } = await tasksOf(call, plan);
  const best = bestAnchors(all, { now });
  call.output.data({ anchors: best.map(({ anchor, isStale }) => ({ ...anchor, isStale })), problems });
  for (const { anchor, isStale } of best) {
    const age = `${Math.floor(stalenessHours(anchor, now))} h${isStale ? ", stale" : ""}`;
    call.output.line(`[${anchor.priority}/${anchor.entityType}, ${age}] ${visible(anchor.content)}`);
  }
  if (best.length === 0) call.output.line("No anchors.");
  for (const problem of problems) call.output.note(visible(problem));
  return 0;
}
