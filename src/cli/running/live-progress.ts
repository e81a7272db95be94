import { createLogUpdate } from "log-update";
import type { Loom } from "../../dispatcher/loom.ts";
import { homeOf, textPath } from "../../dispatcher/paths.ts";
import { readRuns } from "../../dispatcher/report/read.ts";
import { readActivity } from "../../dispatcher/report/read-activity.ts";
import type { Output } from "../output.ts";
import { FolderWatch } from "../reading/folder-watch.ts";
import { type UnfinishedRun, unfinishedRuns } from "../reading/unfinished-runs.ts";
import { LEVEL_STYLES } from "../render/colour.ts";
import { visible, visibleLines } from "../render/safe-text.ts";
import { clockTime } from "../render/time.ts";
import { indented, type ProgressView } from "./progress-view.ts";
import { type RunningPlan, runningLines } from "./running-table.ts";

/** Times in the block grow older by themselves. */
const REDRAW_MS = 1000;
/** Many lines may come at once; the block is drawn when they have. */
const SOON_MS = 50;
/** Agents write many lines a second; people read fewer. */
const LATER_MS = 200;

/** Lines that stay, and below them a block with the plans that are being worked on; for a terminal. */
export function liveProgress(output: Output, loom: Loom): ProgressView {
  const block = createLogUpdate(process.stdout);
  let running: readonly RunningPlan[] = [];
  const draw = (): void => {
    if (running.length === 0) block.clear();
    else block(["", ...runningLines(output, running, loom.clock.now())].join("\n"));
  };
  let coming: NodeJS.Timeout | undefined;
  const lookIn = (ms: number): void => {
    coming ??= setTimeout(() => {
      coming = undefined;
      look();
    }, ms);
  };
  const watch = new FolderWatch(() => lookIn(LATER_MS));
  const look = (): void => {
    running = runningPlans(loom);
    const folders = running.map(({ planId, run }) => homeOf(loom.paths, planId).run(run));
    if (watch.follow(folders)) lookIn(SOON_MS);
    draw();
  };
  const timer = setInterval(draw, REDRAW_MS);
  look();
  return {
    show({ at, planId, level, text }) {
      const style = LEVEL_STYLES[level];
      const [first = "", ...more] = visibleLines(text.trim());
      block.clear();
      const name = planId === undefined ? "" : `${output.paint("bold", visible(planId))}  `;
      output.line(`${output.paint("dim", clockTime(at))}  ${name}${style ? output.paint(style, first) : first}`);
      for (const line of more) output.line(style ? output.paint(style, indented(line)) : indented(line));
      lookIn(SOON_MS);
    },
    close() {
      clearInterval(timer);
      clearTimeout(coming);
      watch.close();
      block.clear();
      block.done();
    },
  };
}

function runningPlans(loom: Loom): RunningPlan[] {
  return unfinishedRuns(loom).flatMap((unfinished) => {
    try {
      return runningPlan(loom, unfinished);
    } catch {
      // The dispatcher itself draws this: what it cannot read of one plan, and `status` tells of, keeps no other from being worked on.
      return [];
    }
  });
}

function runningPlan(loom: Loom, { record, run: number }: UnfinishedRun): RunningPlan[] {
  const run = readRuns(loom, record, true).find((candidate) => candidate.run === number);
  if (!run) return [];
  const { completed = 0, total = 0 } = loom.texts.facts(textPath(loom, record), record.id) ?? {};
  const { stage, agent, startedAt } = run;
  const last = readActivity(loom, record, true)?.last ?? "";
  return [{ planId: record.id, run: number, stage, agent, startedAt, completed, total, last }];
}
