import type { PlanDetail, RunSummary } from "../../dispatcher/read.ts";
import { type Todo, todoTitle } from "../../plan/markdown.ts";
import type { Output } from "../output.ts";
import type { Style } from "./colour.ts";
import { hintLines } from "./hint.ts";
import { statusText, waitsFor } from "./plan-table.ts";
import { firstLine, visible, visibleLines } from "./safe-text.ts";
import { type Cell, type Column, cutToWidth } from "./table.ts";
import { ageOf, shortDuration } from "./time.ts";

export interface DetailOptions {
  readonly home: string;
  readonly now: number;
  /** Words to the plan that nobody has taken up yet. */
  readonly unread: readonly Words[];
}

/** What somebody said. */
export interface Words {
  readonly author: string;
  readonly body: string;
}

/** Prints one plan for people. */
export function showDetail(output: Output, detail: PlanDetail, options: DetailOptions): void {
  head(output, detail, options);
  todos(output, detail.todos);
  for (const problem of detail.problems) output.line(`${output.paint("yellow", "note:")} ${visible(problem)}`);
  runs(output, detail, options.now);
  commits(output, detail);
  thread(output, detail, options);
  section(output, "FILES");
  output.line(`  plan      ${visible(detail.planFile)}`);
  if (detail.record.worktreeReady) output.line(`  worktree  ${visible(detail.record.worktree ?? "")}`);
  output.line(`  records   ${visible(options.home)}`);
  if (detail.proposal !== undefined)
    output.line(`  proposed  ${visible(detail.proposal)} (\`prloom edit <plan> --file\` takes it over)`);
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
    const [first = "", ...more] = visibleLines(summary.blocked.reason.trim());
    output.line(`${paint("red", "blocked:")} ${first} (${ageOf(summary.blocked.at, now)} ago)`);
    for (const line of more) output.line(`  ${line}`.trimEnd());
    const hint = summary.blocked.hint ?? `\`prloom unblock ${summary.planId}\` tries again.`;
    for (const line of hintLines(hint)) output.line(line);
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
  for (const todo of list) {
    const { index, state } = todo;
    const text = visible(todoTitle(todo));
    const before = `  ${String(index + 1).padStart(digits)} `;
    const room = output.width() - before.length - 4;
    const words = Number.isFinite(room) ? cutToWidth(text, room) : text;
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

function runs(output: Output, detail: PlanDetail, now: number): void {
  if (detail.runs.length === 0) return;
  section(output, "RUNS");
  output.table(
    RUN_COLUMNS,
    detail.runs.map((run): Cell[] => {
      const refused = run.exit !== undefined && wasRefused(run, detail);
      return [
        String(run.run),
        run.stage,
        visible(run.agent),
        String(run.attempt),
        `${ageOf(run.startedAt, now)} ago`,
        run.exit ? shortDuration(Date.parse(run.exit.endedAt) - Date.parse(run.exit.startedAt)) : "",
        { text: `${firstLine(endOf(run))}${refused ? ", not accepted" : ""}`, style: endStyle(run, refused) },
      ];
    }),
  );
}

/**
 * Whether it is on record that what a run left was not accepted: the next run of its kind is a further attempt, or the
 * plan waits for one. Attempts are counted per TODO, so a higher number is about the same TODO.
 */
function wasRefused(run: RunSummary, { runs: all, record }: PlanDetail): boolean {
  const next = all.find((other) => other.run > run.run && other.stage === run.stage);
  if (next) return next.attempt === run.attempt + 1;
  const awaited = run.stage === "worker" ? record.current : record.side?.stage === run.stage ? record.side : undefined;
  if (!awaited || awaited.run <= run.run) return false;
  return awaited.missing !== undefined || record.blocked?.cause === "step";
}

function endStyle({ state, exit }: RunSummary, refused: boolean): Style {
  if (state === "working" || refused) return "yellow";
  return exit?.code === 0 ? "green" : "red";
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

function thread(output: Output, { thread: entries }: PlanDetail, { now, unread }: DetailOptions): void {
  if (entries.length === 0) return;
  section(output, "CONVERSATION");
  const marked = newestAmong(entries, unread);
  for (const [index, { author, body, at }] of entries.entries()) {
    const note = marked.has(index) ? ` ${output.paint("yellow", "(not read yet)")}` : "";
    output.line(`  ${output.paint("bold", visible(author))}, ${ageOf(at, now)} ago${note}`);
    for (const line of visibleLines(body.trimEnd())) output.line(`    ${line}`);
  }
}

/** Which entries the words are; of entries that say the same the newest. */
function newestAmong(entries: readonly Words[], words: readonly Words[]): Set<number> {
  const found = new Set<number>();
  for (const { author, body } of words) {
    const at = entries.findLastIndex(
      (entry, index) => !found.has(index) && entry.author === author && entry.body === body,
    );
    if (at >= 0) found.add(at);
  }
  return found;
}
