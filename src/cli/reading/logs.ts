import { readEvents } from "../../agents/run-log/run-log.ts";
import { readExit } from "../../agents/runner/run-exit.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { type RunSummary, readPlanDetail } from "../../dispatcher/report/read.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Call } from "../output.ts";
import { reading, suggesting } from "../plans.ts";
import { type Paint, plain } from "../render/colour.ts";
import { eventLines } from "../render/event-lines.ts";
import { jsonText, onlyColour } from "../render/safe-text.ts";
import {
  firstRun,
  followPlan,
  followRun,
  type LogPrinter,
  lastLines,
  printCheck,
  runToFollow,
  typedAt,
} from "./follow-logs.ts";
import { isTelling } from "./run-events.ts";
import { agentOutput, checksOf, checkText, endingInLine, printedLines, startFailure } from "./run-output.ts";

export interface LogsOptions {
  readonly run?: number;
  readonly follow?: boolean;
  readonly tail?: number;
  /** The bytes that the program printed, not what they mean. */
  readonly raw?: boolean;
}

/** Prints what the agent of a run did and said, and what the checks of its work did. */
export async function logs(call: Call, plan: string, options: LogsOptions): Promise<number> {
  return suggesting(call, plan, () =>
    reading(call, async (loom) => {
      const run = await chooseRun(loom, plan, options);
      if (call.output.json && options.raw) await rawData(call, loom, { plan, run, options });
      else if (options.follow) await follow(call, loom, { plan, run, options });
      else if (call.output.json) for (const value of dataOf(run, options.tail)) printData(value);
      else printText(call, lastLines(wholeText(call, loom, { plan, run, options }), options.tail));
      return 0;
    }),
  );
}

interface Wanted {
  readonly plan: string;
  readonly run: RunSummary;
  readonly options: LogsOptions;
}

async function follow(call: Call, loom: Loom, { plan, run, options }: Wanted): Promise<void> {
  const to = printerOf(call, options);
  await followRun(loom, { plan, run, to, tail: options.tail });
  if (options.run === undefined) await followPlan(call, loom, { plan, run, to });
  else for (const check of checksOf(run.dir)) printCheck(to, run.run, check);
}

function printerOf(call: Call, options: LogsOptions): LogPrinter {
  return {
    raw: options.raw === true,
    paint: call.output.paint,
    line: (line) => printLine(call, line),
    ...(call.output.json ? { data: printData } : {}),
  };
}

function printData(value: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${jsonText(value)}\n`);
}

/** The events of a run, and its checks, one object each. A run that left no events has its lines as texts. */
function dataOf({ run, dir }: RunSummary, tail: number | undefined): Record<string, unknown>[] {
  const events = readEvents(dir);
  const told = events.length > 0 ? events : printedLines(agentOutput(dir)).map((text) => ({ type: "text", text }));
  const values = [
    ...told.map((event) => ({ run, ...event })),
    ...checksOf(dir).map((check) => ({ type: "check", run, ...check })),
  ];
  return tail === undefined ? values : values.slice(Math.max(0, values.length - tail));
}

async function rawData(call: Call, loom: Loom, { plan, run, options }: Wanted): Promise<void> {
  const to: LogPrinter = { raw: true, paint: plain, line: () => undefined };
  if (options.follow) await followRun(loom, { plan, run, to, tail: 0 });
  const exit = readExit(run.dir);
  call.output.data({
    run: run.run,
    state: exit ? "ended" : run.state,
    output: lastLines(agentOutput(run.dir), options.tail),
    checks: checksOf(run.dir),
    ...(exit?.error === undefined ? {} : { error: exit.error }),
  });
}

function wholeText(call: Call, loom: Loom, { run, options }: Wanted): string {
  const told = options.raw || !isTelling(loom.config, run) ? undefined : toldText(run.dir, call.output.paint);
  const printed = told ?? agentOutput(run.dir);
  const checks = checksOf(run.dir).map(checkText);
  const failure = startFailure(run.dir);
  if (checks.length === 0 && failure === "") return printed;
  return [endingInLine(printed), failure, ...checks].join("");
}

/** A run's events for people; undefined when it left none, and what it printed is all there is. */
function toldText(dir: string, paint: Paint): string | undefined {
  const events = readEvents(dir);
  if (events.length === 0) return undefined;
  const told = eventLines(paint);
  return events
    .flatMap((event) => told.lines(event))
    .map((line) => `${line}\n`)
    .join("");
}

async function chooseRun(loom: Loom, plan: string, options: LogsOptions): Promise<RunSummary> {
  const { runs, summary } = await readPlanDetail(loom, plan);
  const newest = options.follow ? runToFollow(runs, typedAt()) : runs.at(-1);
  const run = options.run === undefined ? newest : runs.find((candidate) => candidate.run === options.run);
  if (run) return run;
  if (options.run === undefined && options.follow) {
    const begun = await firstRun(loom, plan);
    if (begun) return begun;
  }
  if (runs.length === 0) {
    throw new PrloomError(
      "run-not-found",
      `No agent has worked on ${plan} yet.`,
      summary.waiting === undefined ? "`prloom start` works on queued plans." : `It waits: ${summary.waiting}.`,
    );
  }
  throw new PrloomError(
    "run-not-found",
    `${plan} has no run ${options.run}.`,
    `It has: ${runs.map(({ run: number }) => number).join(", ")}. \`prloom logs ${plan}\` shows the newest.`,
  );
}

function printText(call: Call, text: string): void {
  if (!call.output.terminal) process.stdout.write(text);
  else for (const line of printedLines(text)) printLine(call, line);
}

/** An unfinished colour of the agent must not colour what follows. */
function printLine({ output }: Call, line: string): void {
  const clean = output.terminal ? onlyColour(line) : line;
  output.line(clean.includes("\u001b") ? `${clean}\u001b[0m` : clean);
}
