import { existsSync, type FSWatcher, watch } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readEvents, SUMMARY_FILE } from "../../agents/run-log/run-log.ts";
import { outputLines } from "../../agents/runner/output-lines.ts";
import { readExit } from "../../agents/runner/run-exit.ts";
import { liveDaemon } from "../../dispatcher/commands/live-daemon.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { type RunSummary, readPlanDetail, readRuns } from "../../dispatcher/report/read.ts";
import { awaitedRun } from "../../dispatcher/runs/run-record.ts";
import { errnoOf } from "../../kernel/errors.ts";
import { identityOf } from "../../kernel/system/process-tree.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { PlanSummary } from "../../plan/summary.ts";
import type { Call } from "../output.ts";
import { reading } from "../plans.ts";
import type { Paint } from "../render/colour.ts";
import { eventLines } from "../render/event-lines.ts";
import { followEvents, isTelling } from "./run-events.ts";
import { agentOutput, type CheckOutput, checksOf, checkText, printedLines, startFailure } from "./run-output.ts";

/** A run that was interrupted writes no exit; whether a process still works on it is asked this often. */
const STILL_THERE_MS = 1000;
/** Between two runs there is nothing to watch: the next one, or a rest, is looked for this often. */
const LOOK_EVERY_MS = 250;

export interface Following {
  readonly plan: string;
  readonly run: RunSummary;
  readonly to: LogPrinter;
}

/** Where the log of a run goes, and as what. */
export interface LogPrinter {
  /** Lines as the program printed them; else what they mean. */
  readonly raw: boolean;
  readonly paint: Paint;
  line(line: string): void;
  /** Given when a program reads: then everything goes here instead. */
  data?(value: Readonly<Record<string, unknown>>): void;
}

/** One check of a run, in the way that the printer wants it. */
export function printCheck(to: LogPrinter, run: number, check: CheckOutput): void {
  if (to.data) to.data({ type: "check", run, ...check });
  else printAll(checkText(check), to.line);
}

/** The last lines of an output; all of them when no number is given. */
export function lastLines(text: string, count: number | undefined): string {
  if (count === undefined) return text;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const kept = lines.slice(Math.max(0, lines.length - count));
  return kept.length === 0 ? "" : `${kept.join("\n")}\n`;
}

/**
 * Pure: where following begins: with the first run that had not ended when the command was typed, however many have come
 * and gone by the time that it looks. When there is none, with the newest.
 */
export function runToFollow(runs: readonly RunSummary[], typedAt: number): RunSummary | undefined {
  const isNews = ({ exit, state, startedAt }: RunSummary): boolean => {
    if (exit) return Date.parse(exit.endedAt) >= typedAt;
    return state === "working" || Date.parse(startedAt) >= typedAt;
  };
  return runs.find(isNews) ?? runs.at(-1);
}

/** Waits for the first run of a plan; undefined when the dispatcher has ended before there was one. */
export async function firstRun(loom: Loom, plan: string): Promise<RunSummary | undefined> {
  for (;;) {
    // Asked before looking: what the dispatcher did last is there by the time it is known to be gone.
    const isOver = (await liveDaemon(loom.paths)) === undefined;
    const run = runToFollow(runsOf(loom, plan), typedAt());
    if (run || isOver) return run;
    await sleep(LOOK_EVERY_MS);
  }
}

/** Of the clock that a process's start is told in, on every Linux that there is. */
const TICKS_PER_SECOND = 100;

/** When this process began, which on a busy machine is long before it gets to look. */
export function typedAt(): number {
  const self = identityOf(process.pid);
  // Without /proc it is told in seconds since the epoch.
  if (!self || self.bootId === "") return self ? self.startTicks * 1000 : performance.timeOrigin;
  return Date.now() - Math.ceil((uptime() - (self.startTicks - 1) / TICKS_PER_SECOND) * 1000);
}

/** Prints what a run tells until it has ended; one that has ended is printed at once. */
export async function followRun(loom: Loom, following: Following & { tail?: number | undefined }): Promise<void> {
  const { run, to } = following;
  if (to.data) return followData(loom, following, to.data);
  const told = !to.raw && isTelling(loom.config, run);
  if (told) await followTold(loom, following);
  else await followPrinted(loom, following);
  printAll(startFailure(run.dir), to.line);
}

async function followPrinted(loom: Loom, following: Following & { tail?: number | undefined }): Promise<void> {
  const { run, to, tail } = following;
  const before = agentOutput(run.dir).split("\n").length - 1;
  let skip = tail === undefined ? 0 : Math.max(0, before - tail);
  // Not by `run.state`: the record that it was read with may be older than the run.
  const ended = endOfRun(loom, following, () => readExit(run.dir) !== undefined);
  for await (const line of outputLines(run.dir, ended)) {
    if (skip > 0) skip -= 1;
    else to.line(line);
  }
  await ended;
}

async function followTold(loom: Loom, following: Following & { tail?: number | undefined }): Promise<void> {
  const { run, to, tail } = following;
  const past = eventLines();
  const before = readEvents(run.dir).reduce((count, event) => count + past.lines(event).length, 0);
  let skip = tail === undefined ? 0 : Math.max(0, before - tail);
  const told = eventLines(to.paint);
  for await (const event of followEvents(run.dir, endOfTelling(loom, following))) {
    for (const line of told.lines(event)) {
      if (skip > 0) skip -= 1;
      else to.line(line);
    }
  }
}

async function followData(loom: Loom, following: Following, data: NonNullable<LogPrinter["data"]>): Promise<void> {
  const { run } = following;
  for await (const event of followEvents(run.dir, endOfTelling(loom, following))) data({ run: run.run, ...event });
}

/** The exit is there before its events are written: the sum of them comes last. */
function endOfTelling(loom: Loom, following: Following): Promise<void> {
  return endOfRun(loom, following, () => existsSync(join(following.run.dir, SUMMARY_FILE)));
}

/** Goes on after a run: its checks, then the plan's next runs, until the plan rests or no dispatcher runs. */
export async function followPlan(call: Call, loom: Loom, { plan, run, to }: Following): Promise<void> {
  let current = run;
  let shown = 0;
  const printChecks = (all: boolean): void => {
    const checks = checksOf(current.dir);
    const done = checks.filter((check, index) => index >= shown && (all || check.exit !== undefined));
    for (const check of done) printCheck(to, current.run, check);
    shown += done.length;
  };
  for (;;) {
    // Asked before looking: what the dispatcher did last is there by the time it is known to be gone.
    const over = await restsNow(call, loom, plan);
    printChecks(over);
    const next = runsOf(loom, plan).find((candidate) => candidate.run > current.run);
    if (next) {
      printChecks(true);
      const { run: number, stage, attempt, agent } = next;
      if (to.data) to.data({ type: "run", run: number, stage, attempt, agent });
      else to.line(`--- run ${number} (${stage}, attempt ${attempt}, agent ${agent}) ---`);
      await followRun(loom, { plan, run: next, to });
      current = next;
      shown = 0;
    } else if (over) return;
    else await sleep(LOOK_EVERY_MS);
  }
}

async function restsNow(call: Call, loom: Loom, plan: string): Promise<boolean> {
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
  for (const line of printedLines(text)) print(line);
}

/** Resolves when the run has ended, by itself or with its dispatcher, or when another has taken its place. */
async function endOfRun(loom: Loom, { plan, run }: Following, isOver: () => boolean): Promise<void> {
  const over = Promise.withResolvers<void>();
  const look = (): void => {
    if (isOver()) over.resolve();
  };
  const lookAround = (): void => {
    look();
    const record = recordOf(loom, plan);
    const isLeft = record !== undefined && awaitedRun(record) !== run.run && readExit(run.dir) !== undefined;
    if (isLeft || (record?.runs ?? 0) > run.run) over.resolve();
    void liveDaemon(loom.paths).then((daemon) => daemon === undefined && over.resolve(), over.reject);
  };
  const watcher = watchIfPossible(run.dir, look);
  watcher?.on("error", look);
  const timer = setInterval(lookAround, STILL_THERE_MS);
  lookAround();
  try {
    await over.promise;
  } finally {
    clearInterval(timer);
    watcher?.close();
  }
}

/** An agent may have taken all watches that this user may have; then the timer alone looks. */
function watchIfPossible(dir: string, look: () => void): FSWatcher | undefined {
  try {
    return watch(dir, look);
  } catch (error) {
    if (!["EMFILE", "ENOSPC", "ENFILE"].includes(errnoOf(error) ?? "")) throw error;
    return undefined;
  }
}
