import type { PlanDetail, RunSummary } from "../../dispatcher/read.ts";
import type { Todo } from "../../plan/markdown.ts";
import type { Output } from "../output.ts";
import { statusText, waitsFor } from "./plan-table.ts";
import { visible, visibleLines } from "./safe-text.ts";
import { type Cell, type Column, cutToWidth } from "./table.ts";
import { ageOf, shortDuration } from "./time.ts";

export interface DetailOptions {
  readonly home: string;
  readonly now: number;
}

/** Prints one plan for people. */
export function showDetail(output: Output, detail: PlanDetail, options: DetailOptions): void {
  head(output, detail, options);
  todos(output, detail.todos);
  for (const problem of detail.problems) output.line(`${output.paint("yellow", "note:")} ${visible(problem)}`);
  runs(output, detail.runs, options.now);
  commits(output, detail);
  thread(output, detail, options.now);
  section(output, "FILES");
  output.line(`  plan      ${visible(detail.planFile)}`);
  if (detail.record.worktreeReady) output.line(`  worktree  ${visible(detail.record.worktree ?? "")}`);
  output.line(`  records   ${visible(options.home)}`);
}

function section(output: Output, name: string): void {
  output.line();
  output.line(output.paint("bold", name));
}

function head(output: Output, { summary, record }: PlanDetail, { now }: DetailOptions): void {
  const { paint } = output;
  output.line(paint("bold", visible(summary.title)));
  output.line(
    `${visible(summary.planId)}: ${statusText(summary)}${record.outcome ? ` (${record.outcome})` : ""}, changed ${ageOf(summary.updatedAt, now)} ago`,
  );
  if (summary.blocked) {
    output.line(
      `${paint("red", "blocked:")} ${visible(summary.blocked.reason)} (${ageOf(summary.blocked.at, now)} ago)`,
    );
    output.line(`  hint: ${visible(summary.blocked.hint ?? `\`prloom unblock ${summary.planId}\` tries again.`)}`);
  } else if (waitsFor(summary) !== "") output.line(`waits for: ${visible(waitsFor(summary))}`);
  if (summary.phase) output.line(`phase: ${summary.phase}`);
  if (summary.branch) {
    output.line(
      `branch: ${visible(summary.branch)} (from ${visible(record.baseBranch ?? "?")} at ${record.baseSha?.slice(0, 8) ?? "?"})`,
    );
  }
  if (summary.source)
    output.line(`source: ${visible(`${summary.source.system} ${summary.source.kind} ${summary.source.id}`)}`);
}

const MARK = { open: "[ ]", done: "[x]", blocked: "[b]" } as const;
const MARK_STYLE = { open: "dim", done: "green", blocked: "red" } as const;

function todos(output: Output, list: readonly Todo[]): void {
  section(output, "TODO");
  if (list.length === 0) output.line("  none yet; the designer agent makes them");
  const digits = String(list.length).length;
  for (const { index, state, text } of list) {
    const before = `  ${String(index + 1).padStart(digits)} `;
    const room = output.width() - before.length - 4;
    const words = Number.isFinite(room) ? cutToWidth(visible(text), room) : visible(text);
    output.line(`${before}${output.paint(MARK_STYLE[state], MARK[state])} ${words}`);
  }
}

const RUN_COLUMNS: readonly Column[] = [
  { header: "RUN", align: "right" },
  { header: "STAGE" },
  { header: "AGENT" },
  { header: "ATTEMPT", align: "right" },
  { header: "STARTED", align: "right" },
  { header: "TOOK", align: "right" },
  { header: "ENDED", flexible: true },
];

function runs(output: Output, list: readonly RunSummary[], now: number): void {
  if (list.length === 0) return;
  section(output, "RUNS");
  output.table(
    RUN_COLUMNS,
    list.map((run): Cell[] => [
      String(run.run),
      run.stage,
      visible(run.agent),
      String(run.attempt),
      ageOf(run.startedAt, now),
      run.exit ? shortDuration(Date.parse(run.exit.endedAt) - Date.parse(run.exit.startedAt)) : "",
      { text: visible(endOf(run)), style: run.state === "working" ? "yellow" : run.exit?.code === 0 ? "green" : "red" },
    ]),
  );
}

function endOf({ state, exit }: RunSummary): string {
  if (!exit) return state === "working" ? "still working" : "interrupted";
  if (exit.reason === "deadline") return "took too long";
  if (exit.reason === "silence") return "was silent too long";
  if (exit.reason === "spawn-failed") return `could not be started: ${exit.error ?? "no reason is known"}`;
  return exit.signal ? `ended by ${exit.signal}` : `exit ${exit.code ?? "?"}`;
}

function commits(output: Output, { commits: list, diff }: PlanDetail): void {
  if (list.length === 0) return;
  section(output, "COMMITS");
  for (const { sha, subject } of list) output.line(`  ${output.paint("yellow", sha.slice(0, 8))} ${visible(subject)}`);
  if (!diff) return;
  output.line();
  for (const { path, added, removed } of diff.files) {
    output.line(`  ${output.paint("green", `+${added}`)} ${output.paint("red", `-${removed}`)} ${visible(path)}`);
  }
  output.line(`  ${diff.files.length} file(s), +${diff.added} -${diff.removed}`);
}

function thread(output: Output, { thread: entries }: PlanDetail, now: number): void {
  if (entries.length === 0) return;
  section(output, "CONVERSATION");
  for (const { author, body, at } of entries) {
    output.line(`  ${output.paint("bold", visible(author))}, ${ageOf(at, now)} ago`);
    for (const line of visibleLines(body.trimEnd())) output.line(`    ${line}`);
  }
}
