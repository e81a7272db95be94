import { watch } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { outputLines } from "../agents/output-lines.ts";
import { readExit } from "../agents/runner.ts";
import type { Loom } from "../dispatcher/loom.ts";
import { liveDaemon } from "../dispatcher/owner.ts";
import { type RunSummary, readPlanDetail, readRuns } from "../dispatcher/read.ts";
import type { PlanRecord } from "../plan/record.ts";
import type { PlanSummary } from "../plan/summary.ts";
import type { Call } from "./output.ts";
import { reading } from "./plans.ts";
import { agentOutput, checksOf, checkText, startFailure } from "./run-output.ts";

/** A run that was interrupted writes no exit; whether somebody still works on it is asked this often. */
const STILL_THERE_MS = 1000;
/** Between two runs there is nothing to watch: the next one, or a rest, is looked for this often. */
const LOOK_EVERY_MS = 250;

export interface Following {
  readonly plan: string;
  readonly run: RunSummary;
  print(line: string): void;
}

/** The last lines of a text; all of them when no number is given. */
export function lastLines(text: string, count: number | undefined): string {
  if (count === undefined) return text;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const kept = lines.slice(Math.max(0, lines.length - count));
  return kept.length === 0 ? "" : `${kept.join("\n")}\n`;
}

/** Waits for the first run of a plan; undefined when the dispatcher has ended before there was one. */
export async function firstRun(loom: Loom, plan: string): Promise<RunSummary | undefined> {
  for (;;) {
    const run = runsOf(loom, plan).at(-1);
    if (run) return run;
    if (!(await liveDaemon(loom.paths))) return undefined;
    await sleep(LOOK_EVERY_MS);
  }
}

/** Prints what a run prints until it has ended; one that has ended is printed at once. */
export async function followRun(loom: Loom, following: Following & { tail?: number | undefined }): Promise<void> {
  const { run, print, tail } = following;
  const before = agentOutput(run.dir).split("\n").length - 1;
  let skip = tail === undefined ? 0 : Math.max(0, before - tail);
  // Not by `run.state`: the record that it was read with may be older than the run.
  const ended = endOfRun(loom, following);
  for await (const line of outputLines(run.dir, ended)) {
    if (skip > 0) skip -= 1;
    else print(line);
  }
  await ended;
  printAll(startFailure(run.dir), print);
}

/** Goes on after a run: its checks, then the plan's next runs, until the plan rests or no dispatcher runs. */
export async function followPlan(call: Call, loom: Loom, { plan, run, print }: Following): Promise<void> {
  let current = run;
  let shown = 0;
  const printChecks = (all: boolean): void => {
    const checks = checksOf(current.dir);
    const done = checks.filter((check, index) => index >= shown && (all || check.exit !== undefined));
    for (const check of done) printAll(checkText(check), print);
    shown += done.length;
  };
  for (;;) {
    // Asked before looking: what the dispatcher did last is there by the time it is known to be gone.
    const over = await isOver(call, loom, plan);
    printChecks(over);
    const next = runsOf(loom, plan).find((candidate) => candidate.run > current.run);
    if (next) {
      printChecks(true);
      print(`--- run ${next.run} (${next.stage}, attempt ${next.attempt}, agent ${next.agent}) ---`);
      await followRun(loom, { plan, run: next, print });
      current = next;
      shown = 0;
    } else if (over) return;
    else await sleep(LOOK_EVERY_MS);
  }
}

async function isOver(call: Call, loom: Loom, plan: string): Promise<boolean> {
  const record = recordOf(loom, plan);
  if (record?.deleted) return true;
  if (record && !mayRest(record)) return (await liveDaemon(loom.paths)) === undefined;
  // Only a fresh look at the plan's bus tells whether a comment is about to wake it.
  const { summary, record: fresh } = await reading(call, (other) => readPlanDetail(other, plan));
  return (mayRest(fresh) && rests(summary)) || (await liveDaemon(loom.paths)) === undefined;
}

function mayRest(record: PlanRecord): boolean {
  if (record.blocked) return true;
  return (record.status === "review" || record.status === "done") && !record.current && !record.side;
}

function rests({ status, blocked }: PlanSummary): boolean {
  return blocked !== undefined || status === "review" || status === "done";
}

function recordOf(loom: Loom, plan: string): PlanRecord | undefined {
  loom.store.reload();
  return loom.store.byId(plan);
}

function runsOf(loom: Loom, plan: string): RunSummary[] {
  const record = recordOf(loom, plan);
  try {
    return record ? readRuns(loom, record, true) : [];
  } catch (error) {
    // A run that begins at this very moment has written its file in part; the next look finds it whole.
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function printAll(text: string, print: (line: string) => void): void {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) print(line);
}

/** Resolves when the run has ended, by itself or with its dispatcher, or when another has taken its place. */
async function endOfRun(loom: Loom, { plan, run }: Pick<Following, "plan" | "run">): Promise<void> {
  const over = Promise.withResolvers<void>();
  const look = (): void => {
    if (readExit(run.dir)) over.resolve();
  };
  const lookAround = (): void => {
    look();
    if ((recordOf(loom, plan)?.runs ?? 0) > run.run) over.resolve();
    void liveDaemon(loom.paths).then((daemon) => daemon === undefined && over.resolve(), over.reject);
  };
  const watcher = watch(run.dir, look);
  watcher.on("error", look);
  const timer = setInterval(lookAround, STILL_THERE_MS);
  lookAround();
  try {
    await over.promise;
  } finally {
    clearInterval(timer);
    watcher.close();
  }
}
