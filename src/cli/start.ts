import { findProgram } from "../agents/find-program.ts";
import type { Config } from "../config/config.ts";
import { runDispatcher } from "../dispatcher/daemon.ts";
import { readStatus, type StatusReport } from "../dispatcher/read.ts";
import type { PlanSummary } from "../plan/summary.ts";
import { startDetached } from "./detach.ts";
import { jsonLines, type LiveView, liveBlock, plainLines } from "./live.ts";
import type { Call } from "./output.ts";
import { reading, refuseInsideRun } from "./plans.ts";
import { planTable, waitsFor } from "./render/plan-table.ts";
import { visible } from "./render/safe-text.ts";
import { version } from "./version.ts";

export interface StartOptions {
  readonly untilIdle?: boolean;
  readonly detach?: boolean;
}

/** Works on plans until told to stop, or until nothing is left to do. */
export async function start(call: Call, options: StartOptions): Promise<number> {
  refuseInsideRun(call);
  if (options.detach) return startDetached(call, { untilIdle: options.untilIdle === true });
  const { output } = call;
  return reading(call, async (loom) => {
    for (const warning of missingPrograms(call, loom.config, loom.paths.root)) output.note(`warning: ${warning}`);
    const view = output.json ? jsonLines() : output.terminal ? liveBlock(output, loom) : plainLines(output);
    const reasons = await dispatch(call, view, options.untilIdle === true);
    loom.store.reload();
    summary(call, await readStatus(loom), { reasons, now: loom.clock.now() });
    return 0;
  });
}

/** Said and not refused: plans that use other agents are not to suffer. */
function missingPrograms(call: Call, config: Config, root: string): string[] {
  const used = Object.entries(config.agents).filter(([name]) => Object.values(config.stages).includes(name));
  return used
    .filter(([, { command, env }]) => findProgram(command, env.PATH ?? call.env.PATH, root) === undefined)
    .map(
      ([name, { command }]) =>
        `the agent "${name}" cannot work: the program "${command}" was not found. Set agents.${name}.command in prloom/config.json.`,
    );
}

async function dispatch(call: Call, view: LiveView, untilIdle: boolean): Promise<ReadonlyMap<string, string>> {
  const stop = new AbortController();
  const onSignal = (): void => {
    // Whoever asks twice does not want to wait; everything on disk is made for being ended anywhere.
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
    call.output.note("stopping: agents are asked to end; ask once more to end at once");
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    const outcome = await runDispatcher({
      cwd: call.cwd,
      version: version(),
      untilIdle,
      signal: stop.signal,
      onProgress: (progress) => view.show(progress),
    });
    return outcome.reasons;
  } finally {
    view.close();
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

/** What came of it, and why the rest stands still. */
function summary(call: Call, report: StatusReport, end: { reasons: ReadonlyMap<string, string>; now: number }): void {
  const { output } = call;
  const plans = report.plans.map((plan): PlanSummary => {
    const { waiting: _stale, ...rest } = plan;
    const reason = end.reasons.get(plan.planId);
    return reason === undefined ? rest : { ...rest, waiting: reason };
  });
  if (output.json) process.stdout.write(`${JSON.stringify({ type: "end", ...report, plans })}\n`);
  output.line();
  const done = plans.filter((plan) => plan.status === "done").length;
  const open = plans.filter((plan) => plan.status !== "done");
  if (open.length > 0) planTable(output, open, end.now);
  if (done > 0) output.line(`${done} done`);
  if (plans.length === 0) output.line('There are no plans. `prloom new "What shall be done" --queue` makes one.');
  const stuck = open.filter((plan) => plan.status !== "review" && waitsFor(plan) !== "");
  if (stuck.length > 0) output.line();
  for (const plan of stuck) {
    output.line(`${output.paint("bold", visible(plan.planId))}: ${visible(waitsFor(plan))}`);
    if (plan.blocked)
      output.line(`  hint: ${visible(plan.blocked.hint ?? `\`prloom show ${plan.planId}\` tells more.`)}`);
  }
  for (const problem of report.problems) {
    output.line(`${output.paint("yellow", "problem:")} ${visible(problem.file)}: ${visible(problem.reason)}`);
    output.line(`  hint: ${visible(problem.hint)}`);
  }
}
