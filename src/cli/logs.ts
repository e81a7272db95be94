import { readExit } from "../agents/runner.ts";
import type { Loom } from "../dispatcher/loom.ts";
import { liveDaemon } from "../dispatcher/owner.ts";
import { type RunSummary, readPlanDetail } from "../dispatcher/read.ts";
import { PrloomError } from "../kernel/errors.ts";
import { firstRun, followPlan, followRun, lastLines } from "./follow-logs.ts";
import type { Call } from "./output.ts";
import { reading, suggesting } from "./plans.ts";
import { onlyColour } from "./render/safe-text.ts";
import { agentOutput, checksOf, checkText, endingInLine, startFailure } from "./run-output.ts";

export interface LogsOptions {
  readonly run?: number;
  readonly follow?: boolean;
  readonly tail?: number;
}

/** Prints what the agent of a run printed, and what the checks of its work did. */
export async function logs(call: Call, plan: string, options: LogsOptions): Promise<number> {
  return suggesting(call, plan, () =>
    reading(call, async (loom) => {
      const run = await chooseRun(loom, plan, options);
      if (call.output.json) await json(call, loom, { plan, run, options });
      else if (options.follow) {
        const print = (line: string): void => printLine(call, line);
        await followRun(loom, { plan, run, print, tail: options.tail });
        if (options.run === undefined) await followPlan(call, loom, { plan, run, print });
        else printText(call, checksOf(run.dir).map(checkText).join(""));
      } else printText(call, lastLines(wholeText(run.dir), options.tail));
      return 0;
    }),
  );
}

interface Wanted {
  readonly plan: string;
  readonly run: RunSummary;
  readonly options: LogsOptions;
}

async function json(call: Call, loom: Loom, { plan, run, options }: Wanted): Promise<void> {
  if (options.follow) await followRun(loom, { plan, run, print: () => undefined, tail: 0 });
  const exit = readExit(run.dir);
  call.output.data({
    run: run.run,
    state: exit ? "ended" : run.state,
    output: lastLines(agentOutput(run.dir), options.tail),
    checks: checksOf(run.dir),
    ...(exit?.error === undefined ? {} : { error: exit.error }),
  });
}

function wholeText(dir: string): string {
  const checks = checksOf(dir).map(checkText);
  const printed = agentOutput(dir);
  const failure = startFailure(dir);
  if (checks.length === 0 && failure === "") return printed;
  return [endingInLine(printed), failure, ...checks].join("");
}

async function chooseRun(loom: Loom, plan: string, options: LogsOptions): Promise<RunSummary> {
  const { runs } = await readPlanDetail(loom, plan);
  const run = options.run === undefined ? runs.at(-1) : runs.find((candidate) => candidate.run === options.run);
  if (run) return run;
  if (options.run === undefined && options.follow && (await liveDaemon(loom.paths))) {
    const begun = await firstRun(loom, plan);
    if (begun) return begun;
  }
  if (runs.length === 0) {
    throw new PrloomError(
      "run-not-found",
      `No agent has worked on ${plan} yet.`,
      "`prloom start` works on queued plans.",
    );
  }
  throw new PrloomError(
    "run-not-found",
    `${plan} has no run ${options.run}.`,
    `It has: ${runs.map(({ run: number }) => number).join(", ")}. \`prloom logs ${plan}\` shows the newest.`,
  );
}

function printText(call: Call, text: string): void {
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
