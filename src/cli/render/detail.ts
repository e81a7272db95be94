import { hasPolicy } from "../../agents/enclosure-level.ts";
import { LOCAL_TARGET } from "../../bridges/local/thread.ts";
import type { MessageState } from "../../dispatcher/messages/messages.ts";
import type { PlanDetail } from "../../dispatcher/report/read.ts";
import { readTasks } from "../../dispatcher/report/read-tasks.ts";
import { portRange } from "../../dispatcher/worktree/ports.ts";
import { drawGraph } from "../../governance/graph/draw.ts";
import { counted } from "../../kernel/text/words.ts";
import { todoTitle } from "../../plan/markdown/markdown.ts";
import type { Output } from "../output.ts";
import { backOffLines } from "./agents-state.ts";
import { hintLines } from "./hint.ts";
import { firstLine, visible, visibleLines } from "./safe-text.ts";
import { spendingInWords } from "./spending.ts";
import { ACTIVITY_WORDS, statusText, waitsFor } from "./tables/plan-table.ts";
import { runTable } from "./tables/run-table.ts";
import { cutToWidth } from "./tables/table.ts";
import { ageOf } from "./time.ts";

export interface DetailOptions {
  readonly home: string;
  readonly now: number;
  /** Words to the plan that no run has taken up yet. */
  readonly unread: readonly Words[];
  /** Those to its agent, and where they are, oldest first. */
  readonly messages: readonly SentWords[];
}

type SentWords = Pick<MessageState, "author" | "text" | "state" | "run">;

/** A comment. */
export interface Words {
  readonly author: string;
  readonly body: string;
}

/** Prints one plan for people. */
export function showDetail(output: Output, detail: PlanDetail, options: DetailOptions): void {
  head(output, detail, options);
  todos(output, detail);
  for (const problem of detail.problems) output.line(`${output.paint("yellow", "note:")} ${visible(problem)}`);
  tasks(output, detail);
  runs(output, detail, options.now);
  commits(output, detail);
  gates(output, detail, options);
  thread(output, detail, options);
  ignored(output, detail, options);
  section(output, "FILES");
  output.line(`  plan      ${visible(detail.planFile)}`);
  if (detail.record.worktreeReady) output.line(`  worktree  ${visible(detail.record.worktree ?? "")}`);
  output.line(`  records   ${visible(options.home)}`);
  aside(output, detail);
  if (detail.proposal !== undefined)
    output.line(`  proposed  ${visible(detail.proposal)} (\`prloom edit <plan> --file\` applies it)`);
}

const SHOWN_ASIDE = 5;

/** Work that is on no branch, the newest. */
function aside(output: Output, { aside: patches }: PlanDetail): void {
  for (const patch of patches.slice(-SHOWN_ASIDE)) output.line(`  put aside ${visible(patch)} (for \`git apply\`)`);
  if (patches.length > SHOWN_ASIDE)
    output.line(`  put aside ${patches.length - SHOWN_ASIDE} more, in the folders of earlier runs`);
}

/** What was asked and answered; what was shown is in the thread. */
function gates(output: Output, detail: PlanDetail, { now }: DetailOptions): void {
  if (detail.gates.length === 0) return;
  section(output, "GATES");
  for (const gate of detail.gates) {
    const { gateId, kind, state, openedAt, decidedBy, via, decidedAt, comment, amendments, approval } = gate;
    const before = approval ? `approved by ${approval.decidedBy} (${approval.via}), ` : "";
    const by = decidedBy === undefined || via === "prloom" ? "" : ` by ${decidedBy} (${via})`;
    const asked = kind === "pr" ? "change" : "plan";
    const isReplaced = state === "revised" && via === "prloom";
    const what = isReplaced ? `replaced${comment === undefined ? `, since the ${asked} was changed` : ""}` : state;
    const when = `${ageOf(decidedAt ?? openedAt, now)} ago`;
    const words = comment === undefined || comment === "" ? "" : `: ${firstLine(comment)}`;
    const amended = amendments.length === 0 ? "" : `, ${counted(amendments.length, "amendment")}`;
    output.line(`  ${gateId}  ${asked}  ${visible(before)}${what}${visible(by)}, ${when}${amended}${words}`);
  }
  const newest = detail.gates.at(-1);
  // What is shown in the local thread stands there.
  if (newest?.state !== "open" || newest.thread === undefined || newest.thread.target === LOCAL_TARGET) return;
  section(output, `SHOWN (${visible(newest.thread.target)})`);
  for (const line of visibleLines(newest.shown)) output.line(`  ${line}`);
}

/** Comments that had no effect, newest first, and why. */
function ignored(output: Output, { record }: PlanDetail, { now }: DetailOptions): void {
  if (!record.ignored) return;
  const { count, newest } = record.ignored;
  section(output, `IGNORED (${count})`);
  for (const { id, reason, at } of newest) {
    output.line(`  ${visible(id)}  ${firstLine(reason)}, ${ageOf(at, now)} ago`);
  }
}

function section(output: Output, name: string): void {
  output.line();
  output.line(output.paint("bold", name));
}

function head(output: Output, detail: PlanDetail, { now }: DetailOptions): void {
  const { summary, record } = detail;
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
  for (const [name, backsOff] of Object.entries(detail.backsOff)) backOffLines(output, name, { backsOff, now });
  if (summary.phase) output.line(`phase: ${summary.phase}`);
  agentLine(output, detail);
  if (record.firstPort !== undefined) output.line(`ports: ${portRange(record.firstPort)}`);
  if (summary.branch) output.line(branchLine(summary.branch, detail));
  if (record.outcome === "merged" && record.merge)
    output.line(`merged: ${record.merge.sha.slice(0, 8)} on ${visible(record.baseBranch ?? "?")}`);
  else if (record.outcome === "merged" && record.published?.merged !== undefined)
    output.line(mergedThere(record.published.merged, detail));
  if (summary.source)
    output.line(`source: ${visible(`${summary.source.system} ${summary.source.kind} ${summary.source.id}`)}`);
}

function mergedThere(sha: string, { head: tip, record: { baseBranch } }: PlanDetail): string {
  const other =
    tip === undefined || tip === sha ? "" : `; the branch here is at ${tip.slice(0, 8)}, which was not merged`;
  return `merged: ${sha.slice(0, 8)} into ${visible(baseBranch ?? "?")}, on the server${other}`;
}

const BEHIND = { conflict: "conflicts with", behind: "behind", stack: "to be brought onto" } as const;

function branchLine(branch: string, { summary, record, head: tip }: PlanDetail): string {
  const isGone = tip === undefined && record.status === "done";
  const from = `from ${visible(record.baseBranch ?? "?")} at ${record.baseSha?.slice(0, 8) ?? "?"}`;
  const behind = record.behind && `, ${BEHIND[record.behind.why]} ${visible(record.baseBranch ?? "?")}`;
  const stacked = record.stack && `, stacked on ${visible(summary.stackedOn ?? "another plan")}`;
  return `branch: ${visible(branch)} (${isGone ? "deleted" : from}${stacked ?? ""}${behind ?? ""})`;
}

const ACTIVITY_NAMES = {
  ...ACTIVITY_WORDS,
  "waiting-for-input": "waiting for input",
  "finished-without-result": "finished without result",
} as const;

/** What the agent is doing, and what makes us say so. */
function agentLine(output: Output, { activity, record }: PlanDetail): void {
  if (record.opened)
    output.line("agent: a person is in the worktree (`prloom open`); the dispatcher keeps out of it meanwhile");
  if (activity === undefined || activity.state === "none") return;
  const state = ACTIVITY_NAMES[activity.state];
  const style = activity.state === "working" ? "green" : activity.state === "silent" ? "yellow" : "red";
  output.line(
    `agent: ${visible(activity.agent)} (run ${activity.run}${activity.resolves ? `, resolves a conflict with ${visible(record.baseBranch ?? "?")}` : ""}): ${output.paint(style, state)} (${firstLine(activity.evidence)})`,
  );
}

const MARK = { open: "[ ]", done: "[x]", blocked: "[b]" } as const;
const MARK_STYLE = { open: "dim", done: "green", blocked: "red" } as const;

function todos(output: Output, { todos: list, record: { status } }: PlanDetail): void {
  section(output, "TODO");
  const isOver = status === "review" || status === "done";
  if (list.length === 0) output.line(isOver ? "  none" : "  none yet; the designer agent makes them");
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

const SHOWN_TASKS = 12;
const SHOWN_CHECKPOINTS = 3;

/** What agents did and handed over, as they recorded it; only where some did. */
function tasks(output: Output, detail: PlanDetail): void {
  if (!detail.runs.some(({ level }) => level !== undefined && hasPolicy(level))) return;
  const { graph, problems } = readTasks(detail);
  const drawn = drawGraph(graph, { nodes: SHOWN_TASKS, checkpoints: SHOWN_CHECKPOINTS, isForPeople: true });
  section(output, "TASKS");
  for (const line of visibleLines(drawn)) output.line(`  ${line}`);
  if (problems.length > 0)
    output.line(`  ${counted(problems.length, "record")} left out: \`prloom tasks ${visible(detail.record.id)}\``);
}

function runs(output: Output, detail: PlanDetail, now: number): void {
  const { runs: list, record, budget } = detail;
  if (list.length === 0) return;
  section(output, "RUNS");
  runTable(output, detail, now);
  for (const { run, nothingToChange } of list)
    if (nothingToChange !== undefined)
      output.line(`  run ${run}: nothing had to change: ${firstLine(nothingToChange)}`);
  const tools = new Map<string, number>();
  for (const run of list)
    for (const [name, calls] of Object.entries(run.tools)) tools.set(name, (tools.get(name) ?? 0) + calls);
  if (tools.size > 0) {
    const most = [...tools].sort((a, b) => b[1] - a[1]);
    output.line(`  tools: ${most.map(([name, calls]) => `${visible(name)} ${calls}`).join(", ")}`);
  }
  if (record.spent)
    output.line(`  spent: ${spendingInWords(record.spent, budget)} in ${counted(record.spent.runs, "run")}`);
  for (const run of list) {
    const trouble = run.errors.at(-1);
    if (trouble) output.line(`  run ${run.run}: ${trouble.kind}: ${firstLine(trouble.message)}`);
  }
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
  output.line(`  ${counted(diff.files.length, "file")}, +${diff.added} -${diff.removed}`);
}

function thread(output: Output, { thread: entries, gates: shown }: PlanDetail, options: DetailOptions): void {
  if (entries.length === 0) return;
  section(output, "CONVERSATION");
  // The whole plan again and again: only the newest is of interest.
  const earlier = new Map(shown.slice(0, -1).map((gate) => [gate.shown, gate.gateId]));
  const notes = notesOn(output, entries, options);
  for (const [index, { author, body, at }] of entries.entries()) {
    const note = notes.get(index);
    const after = note === undefined ? "" : ` ${note}`;
    output.line(`  ${output.paint("bold", visible(author))}, ${ageOf(at, options.now)} ago${after}`);
    const gateId = earlier.get(body);
    const words = gateId === undefined ? body.trimEnd() : `The plan as it was shown at gate ${gateId} (whole: --json).`;
    for (const line of visibleLines(words)) output.line(`    ${line}`);
  }
}

/** Where the words are now, by their place in the conversation. */
function notesOn(
  { paint }: Output,
  entries: readonly Words[],
  { unread, messages }: DetailOptions,
): Map<number, string> {
  const notes = new Map<number, string>();
  for (const [at] of newestAmong(entries, unread)) notes.set(at, paint("yellow", "(not read yet)"));
  const newestFirst = messages.map((sent) => ({ ...sent, body: sent.text })).reverse();
  for (const [at, { state, run }] of newestAmong(entries, newestFirst)) {
    notes.set(at, paint(state === "reached" ? "dim" : "yellow", `(${PLACES[state]}${run === undefined ? "" : run})`));
  }
  return notes;
}

const PLACES = {
  waits: "to its agent: waits for the next turn",
  given: "to its agent: given with run ",
  reached: "to its agent: reached run ",
} as const;

/** The words by the entry that they are; of entries that say the same the newest. */
function newestAmong<W extends Words>(entries: readonly Words[], words: readonly W[]): Map<number, W> {
  const found = new Map<number, W>();
  for (const one of words) {
    const at = entries.findLastIndex(
      (entry, index) => !found.has(index) && entry.author === one.author && entry.body === one.body,
    );
    if (at >= 0) found.set(at, one);
  }
  return found;
}
