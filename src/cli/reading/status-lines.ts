import type { StatusReport } from "../../dispatcher/report/read.ts";
import { offerLine } from "../../dispatcher/settings/pinned.ts";
import { counted } from "../../kernel/text/words.ts";
import type { PlanStatus } from "../../plan/record.ts";
import type { PlanSummary } from "../../plan/summary.ts";
import type { Output } from "../output.ts";
import { agentsState } from "../render/agents-state.ts";
import { busState } from "../render/bus-state.ts";
import { problemLines } from "../render/problems.ts";
import { visible } from "../render/safe-text.ts";
import { planTableLines } from "../render/tables/plan-table.ts";
import { ageOf, timeUntil } from "../render/time.ts";

export interface StatusOptions {
  readonly all?: boolean;
  readonly status?: PlanStatus;
  /** Milliseconds. */
  readonly stale?: number;
}

/** Shows what is known, again and again. */
export interface StatusView {
  show(report: StatusReport, now: number): void;
  close(): void;
}

/** The table of plans, and the lines about everything around them. */
export function statusLines(
  output: Output,
  report: StatusReport,
  { options, now }: { readonly options: StatusOptions; readonly now: number },
): { readonly table: string[]; readonly around: string[] } {
  const shown = report.plans.filter((plan) => isShownInStatus(plan, options, now));
  const table = shown.length > 0 ? planTableLines(output, shown, now) : [nothingToShow(report.plans.length, options)];
  const around: string[] = [];
  const done = report.plans.filter((plan) => plan.status === "done").length;
  if (done > 0 && !options.all && options.status !== "done")
    around.push(`${done} done (\`prloom status --all\` shows them)`);
  surroundings({ ...output, line: (text = "") => void around.push(text) }, report, now);
  return { table, around };
}

export function isShownInStatus(plan: PlanSummary, options: StatusOptions, now: number): boolean {
  if (options.status !== undefined) {
    if (plan.status !== options.status) return false;
  } else if (plan.status === "done" && !options.all) return false;
  return options.stale === undefined || now - Date.parse(plan.updatedAt) >= options.stale;
}

function nothingToShow(plans: number, options: StatusOptions): string {
  if (options.status !== undefined || options.stale !== undefined)
    return "No plans match. `prloom status --all` lists all.";
  if (plans > 0) return 'All plans are done. `prloom new "What to do" --queue` makes the next one.';
  return 'There are no plans yet. `prloom new "What to do" --queue` makes one, `prloom start` works on it.';
}

function daemonWords({ running, stopping, suspended, pid, startedAt }: StatusReport["daemon"], now: number): string {
  if (!running) return "not running (`prloom start` starts it)";
  if (stopping) return `stopping (pid ${pid}); \`prloom stop\` waits for it`;
  if (suspended) return `suspended (pid ${pid}): \`fg\` in its terminal, or \`kill -CONT ${pid}\`, lets it go on`;
  return `running (pid ${pid}${startedAt === undefined ? "" : `, for ${ageOf(startedAt, now)}`})`;
}

function surroundings(output: Output, report: StatusReport, now: number): void {
  const { daemon } = report;
  output.line(`dispatcher: ${daemonWords(daemon, now)}`);
  if (report.pinned && report.pinned.changes.length > 0) {
    const differs = offerLine(report.pinned, daemon.running);
    output.line(`${output.paint("yellow", "config:")} ${visible(differs)}`);
  }
  agentsState(output, report, now);
  githubState(output, report, now);
  claimsState(output, report);
  busState(output, report, now);
  problemLines(output, report);
}

const HOUR_MS = 3_600_000;

const SHOWN_CLAIMS = 3;

/** What other clones have claimed, so that no plan is missed here. */
function claimsState(output: Output, { claimed }: Pick<StatusReport, "claimed">): void {
  for (const { name, by, at } of claimed.slice(0, SHOWN_CLAIMS)) {
    const number = name.slice(name.lastIndexOf("#") + 1);
    const since = at === "" ? "" : ` since ${at}`;
    output.line(
      `claimed: ${visible(`${name} by ${by}${since}`)} (\`prloom import ${visible(number)} --claim\` takes it over)`,
    );
  }
  if (claimed.length > SHOWN_CLAIMS)
    output.line(`claimed: ${claimed.length - SHOWN_CLAIMS} more (\`--json\` has them)`);
}

/** What GitHub was asked in the last hour, and what is left of the token's limit. */
function githubState(output: Output, { github }: Pick<StatusReport, "github">, now: number): void {
  if (!github || now - Date.parse(github.at) > HOUR_MS) return;
  const { repo, lastHour, limits, reserve, plans } = github;
  const { core } = limits;
  const kept = core ? Math.ceil(core.limit * reserve) : 0;
  const left = core
    ? `; ${core.remaining} of ${core.limit} are left, ${kept} of them for people, all again ${timeUntil(new Date(core.resetAt).toISOString(), now)}`
    : "";
  const most = Object.entries(plans).sort(([, one], [, other]) => other - one)[0];
  const whose = most ? ` (most for ${visible(most[0])}: ${most[1]})` : "";
  output.line(`GitHub: ${visible(repo)}, ${counted(lastHour, "call")} in the last hour${whose}${left}`);
}
