import { runDispatcher } from "../../dispatcher/daemon.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { readStatus, type StatusReport } from "../../dispatcher/report/read.ts";
import type { Repository } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { PlanSummary } from "../../plan/summary.ts";
import type { Call } from "../output.ts";
import { reading, refuseInsideRun } from "../plans.ts";
import { unfinishedRuns } from "../reading/unfinished-runs.ts";
import { busState } from "../render/bus-state.ts";
import { hintLines } from "../render/hint.ts";
import { problemLines } from "../render/problems.ts";
import { jsonText, visible } from "../render/safe-text.ts";
import { planTable, waitsFor } from "../render/tables/plan-table.ts";
import { refreshConfigSchema } from "../setup/config-schema.ts";
import { version } from "../setup/version.ts";
import { startDetached } from "./detach.ts";
import { jsonProgress, type ProgressView, plainProgress } from "./progress-view.ts";
import { warnBeforeStart } from "./warn-before-start.ts";

export interface StartOptions {
  readonly untilIdle?: boolean;
  readonly detach?: boolean;
  readonly failIfBlocked?: boolean;
}

/** Works on plans until told to stop, or until nothing is left to do. */
export async function start(call: Call, options: StartOptions): Promise<number> {
  refuseInsideRun(call);
  const untilIdle = options.untilIdle === true;
  if (options.failIfBlocked && (!untilIdle || options.detach)) {
    const hint = "Type: prloom start --until-idle --fail-if-blocked";
    throw new PrloomError("usage", "--fail-if-blocked says how `start --until-idle` ends.", hint);
  }
  if (options.detach) return startDetached(call, { untilIdle });
  return reading(
    call,
    async (loom) => {
      await warnBeforeStart(call, loom);
      await refreshConfigSchema(loom);
      const view = await progressView(call, loom);
      const { reasons, signalled } = await dispatch({ ...call, repo: loom.repo }, view, untilIdle);
      const interrupted = unfinishedRuns(loom).length > 0;
      const stopped = signalled || !untilIdle || interrupted;
      const report = await readStatus(loom);
      // What the dispatcher last thought is out of date when it did not end by itself: its agents have been ended since.
      const plans = stopped ? report.plans : withReasons(report.plans, reasons);
      summary(call, { ...report, plans }, { stopped, interrupted, now: loom.clock.now() });
      return options.failIfBlocked && plans.some(({ blocked }) => blocked) ? 1 : 0;
    },
    "start",
  );
}

async function progressView({ output }: Call, loom: Loom): Promise<ProgressView> {
  if (output.json) return jsonProgress();
  // What draws in a terminal takes long to load, and most starts have none.
  return output.terminal ? (await import("./live-progress.ts")).liveProgress(output, loom) : plainProgress(output);
}

interface Dispatched {
  readonly reasons: ReadonlyMap<string, string>;
  readonly signalled: boolean;
}

async function dispatch(
  call: Call & { repo: Repository },
  view: ProgressView,
  untilIdle: boolean,
): Promise<Dispatched> {
  const stop = new AbortController();
  const onSignal = (): void => {
    // A user who asks twice does not want to wait; everything on disk is made for being ended anywhere.
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
    call.output.note("stopping: agents are asked to end; ask once more to end at once");
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    const { reasons } = await runDispatcher({
      cwd: call.cwd,
      repo: call.repo,
      version: version(),
      untilIdle,
      signal: stop.signal,
      onProgress: (progress) => view.show(progress),
    });
    return { reasons, signalled: stop.signal.aborted };
  } finally {
    view.close();
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

function withReasons(plans: readonly PlanSummary[], reasons: ReadonlyMap<string, string>): PlanSummary[] {
  return plans.map((plan) => {
    if (plan.status === "review" || plan.status === "draft") return plan;
    const { waiting: _stale, ...rest } = plan;
    const reason = reasons.get(plan.planId);
    return reason === undefined ? rest : { ...rest, waiting: reason };
  });
}

interface End {
  readonly stopped: boolean;
  /** Agents were at work when it was stopped. */
  readonly interrupted: boolean;
  readonly now: number;
}

/** What came of it, and why the rest stands still. */
function summary(call: Call, report: StatusReport, { stopped, interrupted, now }: End): void {
  const { output } = call;
  const { plans } = report;
  if (output.json) process.stdout.write(`${jsonText({ type: "end", stopped, ...report })}\n`);
  output.line();
  const done = plans.filter((plan) => plan.status === "done").length;
  const open = plans.filter((plan) => plan.status !== "done");
  if (open.length > 0) planTable(output, open, now);
  if (done > 0) output.line(`${done} done`);
  if (plans.length === 0) output.line('There are no plans. `prloom new "What to do" --queue` makes one.');
  // What a draft and a review wait for is in the table, with the command to type.
  const isTold = ({ status }: PlanSummary): boolean => status === "review" || status === "draft";
  const stuck = open.filter((plan) => plan.blocked || !(stopped || isTold(plan) || waitsFor(plan) === ""));
  if (stuck.length > 0) output.line();
  for (const plan of stuck) {
    output.line(`${output.paint("bold", visible(plan.planId))}: ${waitsFor(plan)}`);
    if (!plan.blocked) continue;
    for (const line of hintLines(plan.blocked.hint ?? `\`prloom show ${plan.planId}\` tells more.`)) output.line(line);
  }
  busState(output, report, now);
  problemLines(output, report);
  if (!stopped) return;
  output.line();
  output.line(`stopped; ${interrupted ? "agents were ended, `prloom start` goes on where they were" : GOES_ON}`);
}

const GOES_ON = "no agent was at work, `prloom start` goes on";
