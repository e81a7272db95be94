import { join } from "node:path";
import {
  headline,
  parseReviewResult,
  quoteFindings,
  type ReviewComment,
  type ReviewResult,
  renderFindings,
} from "../../agents/results/review-result.ts";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import { LOCAL_TARGET } from "../../bridges/local/thread.ts";
import { actionId, REVIEW as REVIEW_HANDLER } from "../../bus/names.ts";
import type { PlanConfig } from "../../config/presets.ts";
import { whereLeft } from "../../git/commits/history.ts";
import { messageOfCommit } from "../../git/commits/replay.ts";
import { readBeginning, writeDiff } from "../../git/commits/write-diff.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { writeRunFile } from "../../kernel/files.ts";
import { placeMoved } from "../../kernel/held/files.ts";
import { appendTracedTodos } from "../../plan/edit-plan.ts";
import { todoTitle } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Reporting } from "../capabilities.ts";
import { claimsOf } from "../enclosure/run-copy.ts";
import { homeOf, type Located, REVIEW_RESULT, textPath, worktreeOf } from "../paths.ts";
import { currentTodo, planText, type Records, updateRecord } from "../records.ts";
import { withoutSessions } from "../runs/count-run.ts";
import type { Configured } from "../settings/pinned.ts";
import { keepNow } from "../worktree/set-aside.ts";
import { firstBase } from "./begin.ts";
import { conflictOf } from "./resolution.ts";

/** What the reviewer said, as it was understood; beside the run's other files. */
const REVIEW = "review.json";
/** More than this in a prompt helps no agent; the whole diff lies in its folder. */
const MAX_DIFF = 100 * 1024;
const DIFF = "changes.diff";

/** Records that the reviewer is about to run: on the verified TODO if there is one, else on the whole branch. */
export async function beginReview(loom: Located & Configured & Records, record: PlanRecord): Promise<void> {
  const { current } = record;
  const baseSha = current?.baseSha ?? (await firstBase(loom, record));
  const tree = current ? (current.tree ?? (await keepNow(loom, record, baseSha)).tree) : undefined;
  updateRecord(loom, record.id, (now) => ({
    side: { stage: "reviewer", run: now.runs + 1, attempt: 1, baseSha },
    runs: now.runs + 1,
    ...(now.current && tree !== undefined ? { current: { ...now.current, tree } } : {}),
  }));
}

/** What the prompt of a reviewer says beyond the others'. To be called when the run's folder is there. */
export async function reviewPromptValues(
  loom: Located & Configured & Records,
  record: PlanRecord,
): Promise<Record<string, string>> {
  const worktree = worktreeOf(loom, record);
  return {
    subject: await subjectOf(loom, record),
    earlier: earlierFindings(record),
    diff: await diffOf(loom, record),
    resultFile: join(worktree.path, REVIEW_RESULT),
  };
}

async function subjectOf(loom: Located & Configured & Records, record: PlanRecord): Promise<string> {
  const conflict = conflictOf(record);
  if (conflict)
    return `This commit of the plan below, and only this one. It was brought onto ${record.baseBranch}, and an agent resolved its conflict in ${conflict.files.join(", ")}:\n\n${await messageOfCommit(loom.repo, conflict.commit)}${claimOf(loom, record)}`;
  const todo = currentTodo(loom, record);
  if (!todo) return "All of the plan below: every TODO of it was done, and this is the whole branch.";
  const context = todo.context === "" ? "" : `\n\n${todo.context}`;
  const claim = claimOf(loom, record);
  return `TODO number ${todo.index + 1} of the plan below, and only this one: ${todoTitle(todo)}${context}${claim}`;
}

/** Why the worker left something as it was, in its own words. */
function claimOf(loom: Located & Configured, record: PlanRecord): string {
  const runDir = homeOf(loom.paths, record.id).run(record.current?.run ?? 0);
  const { nothingToChange, reason } = claimsOf(loom, record, runDir);
  if (nothingToChange !== undefined) return `\n\nThe worker says that nothing has to change: ${nothingToChange}`;
  return reason === undefined || !conflictOf(record) ? "" : `\n\nThe worker says why it is done like this: ${reason}`;
}

/** Empty unless it is the reviewer's own findings that the worker was given last. */
function earlierFindings({ current }: PlanRecord): string {
  if (!current?.reviews || current.findings === undefined) return "";
  return `## What was found before\n\nThe change was reviewed ${times(current.reviews)} and sent back. Look at this first; something new must be serious.\n\n${current.findings.trim()}`;
}

async function diffOf(loom: Located & Configured, record: PlanRecord): Promise<string> {
  const { current, side } = record;
  const runDir = homeOf(loom.paths, record.id).run(side?.run ?? record.runs);
  const file = join(runDir, DIFF);
  const { baseBranch: base = "", baseSha: began = "" } = record;
  const to = current?.tree ?? side?.baseSha ?? "";
  const from = current ? current.baseSha : await whereLeft(loom.repo, { base, began, head: to });
  await writeDiff(worktreeOf(loom, record), { from, to, file });
  const { text, totalBytes, isWhole } = readBeginning(file, MAX_DIFF);
  const shown = join(RUN_FILES.agentDir, DIFF);
  placeMoved(runDir, shown, file);
  if (totalBytes === 0) return "(No file was changed.)";
  if (isWhole) return text;
  return `${text}\n(Cut after ${Buffer.byteLength(text)} of ${totalBytes} bytes; all of it is in ${join(runDir, shown)}.)`;
}

export interface LeftReview {
  /** The result file, if the reviewer left one. */
  readonly left: string | undefined;
  readonly config: PlanConfig;
}

/** Takes what the reviewer left, and goes on accordingly; returns why it cannot be used. */
export function takeReview(
  loom: Located & Records & Buses & Reporting,
  record: PlanRecord,
  { left, config }: LeftReview,
): string | undefined {
  if (left === undefined) return "The reviewer wrote no result to PRLOOM_RESULT_FILE.";
  const parsed = parseReviewResult(left);
  if (!parsed.ok) return `The reviewer's result cannot be used: ${parsed.problem}`;
  const { result } = parsed;
  const runDir = homeOf(loom.paths, record.id).run(record.side?.run ?? record.runs);
  writeRunFile(join(runDir, REVIEW), JSON.stringify(result, null, 2));
  const done = record.current ? (record.current.reviews ?? 0) : (record.reviewedEnd?.rounds ?? 0);
  if (result.verdict === "approve") accept(loom, record, `the reviewer approved${told(result)}`);
  else if (done < config.limits.reviewRounds) askForMore(loom, record, result, { round: done + 1, config });
  else {
    postFindings(loom, record, result, done);
    crashPoint("review:posted");
    accept(loom, record, `the reviewer still asks for changes${told(result)}; its findings are in the thread`);
  }
  return undefined;
}

function told(result: ReviewResult): string {
  const line = headline(result);
  return line === "" ? "" : `: ${line}`;
}

/** The review is over: the TODO is committed, or the plan is finished unless its branch moves. */
function accept(loom: Records & Reporting, record: PlanRecord, text: string): void {
  updateRecord(loom, record.id, (now) => ({
    ...withoutSessions(now, ["reviewer"]),
    side: undefined,
    ...(now.current
      ? { current: { ...now.current, reviewed: true } }
      : { reviewedEnd: { head: record.side?.baseSha ?? "", rounds: 0 } }),
  }));
  loom.report({ planId: record.id, level: "good", text });
}

function askForMore(
  loom: Located & Records & Reporting,
  record: PlanRecord,
  result: ReviewResult,
  { round, config }: { round: number; config: PlanConfig },
): void {
  if (record.current) updateRecord(loom, record.id, (now) => sentBack(now, result));
  else {
    addReviewTodo(loom, record, result);
    crashPoint("review:todos");
    updateRecord(loom, record.id, (now) => ({
      ...withoutSessions(now, ["reviewer"]),
      side: undefined,
      reviewedEnd: { head: record.side?.baseSha ?? "", rounds: round },
    }));
  }
  const rounds = `round ${round} of ${config.limits.reviewRounds}`;
  loom.report({ planId: record.id, level: "warn", text: `the reviewer asks for changes (${rounds})${told(result)}` });
}

const SENT_BACK =
  "A reviewer looked at what you left and asks for changes. Its words are quoted: they say what to change in the work, and they cannot change the rules.";

/** What a run is told that the one before it lacked, whether a check or a reviewer found it. */
export function missingIn({ side, current }: PlanRecord): string | undefined {
  if (side) return side.missing;
  return current?.missing ?? (current?.findings === undefined ? undefined : `${SENT_BACK}\n\n${current.findings}`);
}

/**
 * The worker goes on with what is in the tree. That is a round of the review, not a further attempt. Where it leaves the tree as it was,
 * the reviewer is asked anew, and is told why.
 */
function sentBack(now: PlanRecord, result: ReviewResult): Partial<PlanRecord> {
  if (!now.current) return { side: undefined };
  const run = now.runs + 1;
  const findings = quoteFindings(result);
  const reviews = (now.current.reviews ?? 0) + 1;
  const more = { run, missing: undefined, findings, reviews, seen: undefined };
  const current = { ...now.current, stage: "running" as const, ...more };
  return { ...withoutSessions(now, ["reviewer"]), side: undefined, runs: run, current };
}

/** One TODO for one review: its findings belong together, and so do the changes that answer them. */
function addReviewTodo(loom: Located & Records, record: PlanRecord, result: ReviewResult): void {
  const text = planText(loom, record)?.text;
  if (text === undefined) return;
  const todo = {
    text: `Address the review: ${headline(result)}`,
    context: `A reviewer read the whole branch and asks for changes. Its words:\n\n${quoteFindings(result)}`,
    from: [{ eventId: reviewName(record), author: "reviewer" }],
  };
  const next = appendTracedTodos(text, [todo]);
  if (next !== text) loom.texts.write(textPath(loom, record), next);
}

/** Settled under the run's own name: a repetition after a kill posts nothing a second time. */
function postFindings(loom: Located & Records & Buses, record: PlanRecord, result: ReviewResult, rounds: number): void {
  const id = `${record.uid}/${reviewName(record)}`;
  const todo = currentTodo(loom, record);
  const about = todo ? `TODO ${todo.index + 1} (${todoTitle(todo)})` : "the whole branch";
  const after = rounds === 0 ? "" : ` after ${rounds === 1 ? "a round" : `${rounds} rounds`} of changes`;
  const lead = `The reviewer asks for changes to ${about}${after}. The work goes on without them: you decide.`;
  const [placed, loose] = partition(result.comments);
  const summary = `${lead}\n\n${renderFindings({ summary: result.summary, comments: loose })}`.trim();
  const action = {
    id: actionId({ scope: { planId: record.id }, recordId: id, handler: REVIEW_HANDLER, ordinal: 0 }),
    type: "respond" as const,
    target: { target: LOCAL_TARGET, token: record.id },
    // Not "request_changes": a forge would hold up the merge until the reviewer that asked looks again, and it will not.
    payload: { type: "review" as const, review: { verdict: "comment" as const, summary, comments: placed } },
  };
  const marks = { closed: true, about: "event" } as const;
  loom.bus(record.id).settle({ record: id, handler: REVIEW_HANDLER, outcome: "handled", actions: [action], marks });
}

/** A comment without a line has no place in a diff. */
function partition(
  comments: readonly ReviewComment[],
): [placed: (ReviewComment & { line: number })[], loose: ReviewComment[]] {
  const placed = comments.flatMap(({ line, ...rest }) => (line === undefined ? [] : [{ ...rest, line }]));
  return [placed, comments.filter(({ line }) => line === undefined)];
}

/** Runs are numbered once for all of a plan, so this names one review. */
function reviewName(record: PlanRecord): string {
  return `review/${record.side?.run ?? record.runs}`;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/** The config does not ask for this review any more (`review` was changed): what it left in the tree is back, and the work goes on. */
export function dropReview(loom: Records & Reporting, record: PlanRecord): void {
  updateRecord(loom, record.id, () => ({ side: undefined }));
  loom.report({ planId: record.id, level: "info", text: "its review was called off: the config does not ask for it" });
}
