import { createLogUpdate } from "log-update";
import type { Loom } from "../../dispatcher/loom.ts";
import { textPath } from "../../dispatcher/paths.ts";
import { readRuns } from "../../dispatcher/report/read.ts";
import type { Output } from "../output.ts";
import { unfinishedRuns } from "../reading/unfinished-runs.ts";
import { LEVEL_STYLES } from "../render/colour.ts";
import { visible, visibleLines } from "../render/safe-text.ts";
import { type Cell, type Column, progressBar, renderTable } from "../render/table.ts";
import { ageOf, clockTime } from "../render/time.ts";
import { indented, type ProgressView } from "./progress-view.ts";

const REDRAW_MS = 1000;
const SOON_MS = 50;
const COLUMNS: readonly Column[] = [
  { header: "WORKING ON", whole: true },
  { header: "TODO" },
  { header: "FOR", align: "right" },
  { header: "STAGE" },
  { header: "AGENT", flexible: true },
];

/** Lines that stay, and below them a block with the plans that are being worked on; for a terminal. */
export function liveProgress(output: Output, loom: Loom): ProgressView {
  const block = createLogUpdate(process.stdout);
  const draw = (): void => {
    const rows = runningRows(loom);
    if (rows.length === 0) block.clear();
    else block(["", ...renderTable(COLUMNS, rows, { width: output.width(), paint: output.paint })].join("\n"));
  };
  const timer = setInterval(draw, REDRAW_MS);
  let soon: NodeJS.Timeout | undefined;
  return {
    show({ at, planId, level, text }) {
      const style = LEVEL_STYLES[level];
      const [first = "", ...more] = visibleLines(text.trim());
      block.clear();
      const name = planId === undefined ? "" : `${output.paint("bold", visible(planId))}  `;
      output.line(`${output.paint("dim", clockTime(at))}  ${name}${style ? output.paint(style, first) : first}`);
      for (const line of more) output.line(style ? output.paint(style, indented(line)) : indented(line));
      // Many lines may come at once; the block is drawn when they have.
      soon ??= setTimeout(() => {
        soon = undefined;
        draw();
      }, SOON_MS);
    },
    close() {
      clearInterval(timer);
      clearTimeout(soon);
      block.clear();
      block.done();
    },
  };
}

function runningRows(loom: Loom): Cell[][] {
  return unfinishedRuns(loom).flatMap(({ record, run: number }) => {
    const run = readRuns(loom, record, true).find((candidate) => candidate.run === number);
    if (!run) return [];
    const facts = loom.texts.facts(textPath(loom, record), record.id);
    const { completed, total } = facts ?? { completed: 0, total: 0 };
    const bar = total === 0 ? "-" : `${completed}/${total} ${progressBar(completed, total, 5)}`;
    return [[visible(record.id), bar, ageOf(run.startedAt, loom.clock.now()), run.stage, visible(run.agent)]];
  });
}
