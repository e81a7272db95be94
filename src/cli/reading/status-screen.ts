import { createLogUpdate } from "log-update";
import type { StatusReport } from "../../dispatcher/report/read.ts";
import { withoutEscapes } from "../../kernel/text/terminal-escapes.ts";
import type { Output } from "../output.ts";
import { displayWidth } from "../render/tables/width.ts";
import { type StatusOptions, type StatusView, statusLines } from "./status-lines.ts";

/** Times on the screen grow older by themselves. */
const REDRAW_MS = 1000;
/** The table keeps at least so many lines; before that, what stands below it goes. */
const LEAST_TABLE = 5;

/** Redraws the status in place; for a terminal. What it showed last stays when it ends. */
export function statusScreen(output: Output, options: StatusOptions): StatusView {
  const block = createLogUpdate(process.stdout);
  let shown: { report: StatusReport; now: number; at: number } | undefined;
  const draw = (): void => {
    if (!shown) return;
    const now = shown.now + (performance.now() - shown.at);
    const lines = statusLines(output, shown.report, { options, now });
    const size = { width: output.width(), height: process.stdout.rows || 24 };
    block(onScreen(lines, size).join("\n"));
  };
  const timer = setInterval(draw, REDRAW_MS);
  process.stdout.on("resize", draw);
  return {
    show(report, now) {
      shown = { report, now, at: performance.now() };
      draw();
    },
    close() {
      clearInterval(timer);
      process.stdout.off("resize", draw);
      block.done();
    },
  };
}

/** Pure: as much as the screen has room for; the table comes first. A line is left for the cursor. */
export function onScreen(
  { table, around }: { readonly table: readonly string[]; readonly around: readonly string[] },
  { width, height }: { readonly width: number; readonly height: number },
): string[] {
  const room = Math.max(2, height - 1);
  const below: string[] = [];
  let left = room;
  for (const line of ["", ...around]) {
    const wrapped = Math.max(1, Math.ceil(displayWidth(withoutEscapes(line)) / width));
    if (left - wrapped < Math.min(table.length, LEAST_TABLE)) break;
    left -= wrapped;
    below.push(line);
  }
  if (table.length <= left) return [...table, ...below];
  const kept = table.slice(0, Math.max(1, left - 1));
  return [...kept, `… ${table.length - kept.length} more`, ...below];
}
