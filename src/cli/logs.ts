import { watch } from "node:fs";
import { join } from "node:path";
import { outputLines } from "../agents/output-lines.ts";
import { RUN_FILES } from "../agents/run-files.ts";
import { readExit } from "../agents/runner.ts";
import type { Loom } from "../dispatcher/loom.ts";
import { liveDaemon } from "../dispatcher/owner.ts";
import { type RunSummary, readPlanDetail } from "../dispatcher/read.ts";
import { PrloomError } from "../kernel/errors.ts";
import { readTextIfExists } from "../kernel/files.ts";
import type { Call } from "./output.ts";
import { reading, suggesting } from "./plans.ts";
import { onlyColour } from "./render/safe-text.ts";

export interface LogsOptions {
  readonly run?: number;
  readonly follow?: boolean;
  readonly tail?: number;
}

/** A run that was interrupted writes no exit; whether somebody still works on it is asked this often. */
const STILL_THERE_MS = 1000;

/** Prints what the agent of a run printed. */
export async function logs(call: Call, plan: string, options: LogsOptions): Promise<number> {
  return suggesting(call, plan, () =>
    reading(call, async (loom) => {
      const run = chooseRun(plan, (await readPlanDetail(loom, plan)).runs, options.run);
      const ended = options.follow && run.state === "working" ? endOfRun(loom, run) : undefined;
      if (call.output.json) {
        await ended;
        call.output.data({
          run: run.run,
          state: readExit(run.dir) ? "ended" : run.state,
          output: lastLines(outputOf(run), options.tail),
        });
      } else if (ended) await follow(call, run, { ended, tail: options.tail });
      else print(call, lastLines(outputOf(run), options.tail));
      return 0;
    }),
  );
}

function chooseRun(plan: string, runs: readonly RunSummary[], wanted: number | undefined): RunSummary {
  const run = wanted === undefined ? runs.at(-1) : runs.find((candidate) => candidate.run === wanted);
  if (run) return run;
  if (runs.length === 0) {
    throw new PrloomError(
      "run-not-found",
      `No agent has worked on ${plan} yet.`,
      "`prloom start` works on queued plans.",
    );
  }
  throw new PrloomError(
    "run-not-found",
    `${plan} has no run ${wanted}.`,
    `It has: ${runs.map(({ run: number }) => number).join(", ")}. \`prloom logs ${plan}\` shows the newest.`,
  );
}

function outputOf(run: RunSummary): string {
  return readTextIfExists(join(run.dir, RUN_FILES.output)) ?? "";
}

function lastLines(text: string, count: number | undefined): string {
  if (count === undefined) return text;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const kept = lines.slice(Math.max(0, lines.length - count));
  return kept.length === 0 ? "" : `${kept.join("\n")}\n`;
}

function print(call: Call, text: string): void {
  if (!call.output.terminal) {
    process.stdout.write(text);
    return;
  }
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) printLine(call, line);
}

/** An unfinished colour of the agent must not colour what follows. */
function printLine({ output }: Call, line: string): void {
  const clean = output.terminal ? onlyColour(line) : line;
  output.line(clean.includes("\u001b") ? `${clean}\u001b[0m` : clean);
}

async function follow(
  call: Call,
  run: RunSummary,
  options: { ended: Promise<void>; tail: number | undefined },
): Promise<void> {
  const before = outputOf(run).split("\n").length - 1;
  let skip = options.tail === undefined ? 0 : Math.max(0, before - options.tail);
  for await (const line of outputLines(run.dir, options.ended)) {
    if (skip > 0) skip -= 1;
    else printLine(call, line);
  }
}

/** Resolves when the run has ended, by itself or with its dispatcher. */
async function endOfRun(loom: Loom, run: RunSummary): Promise<void> {
  const over = Promise.withResolvers<void>();
  const look = (): void => {
    if (readExit(run.dir)) over.resolve();
  };
  const watcher = watch(run.dir, look);
  watcher.on("error", look);
  const timer = setInterval(() => {
    look();
    void liveDaemon(loom.paths).then((daemon) => daemon === undefined && over.resolve(), over.reject);
  }, STILL_THERE_MS);
  look();
  try {
    await over.promise;
  } finally {
    clearInterval(timer);
    watcher.close();
  }
}
