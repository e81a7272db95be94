import { draftBecause } from "../../bridges/core/per-source.ts";
import { readThread, type ThreadEntry } from "../../bridges/local/thread.ts";
import type { Budget, Config } from "../../config/config.ts";
import type { GateRecord } from "../../gate/gate-record.ts";
import {
  type CommitSummary,
  commitsBetween,
  type DiffStat,
  diffStat,
  ownRange,
  type Range,
} from "../../git/commits/history.ts";
import { resolveCommit } from "../../git/repository.ts";
import type { PlanBefore } from "../../governance/graph/graph-of-plan.ts";
import { planProblems } from "../../governance/policy/todo-hints.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import type { Todo } from "../../plan/markdown/markdown.ts";
import { nearMisses } from "../../plan/metadata.ts";
import type { IgnoredComment, PlanRecord } from "../../plan/record.ts";
import { type PlanSummary, summarise } from "../../plan/summary.ts";
import { readUsage, type TimedUsage } from "../at-github/github-usage.ts";
import type { FailingBridge } from "../buses/health.ts";
import { type LiveDaemon, liveDaemon } from "../commands/live-daemon.ts";
import { gatesOf } from "../gates/plan-gate.ts";
import type { InboxProblem } from "../intake/inbox.ts";
import { type Intake, idInUse, ownsInboxFile } from "../intake/intake.ts";
import { phaseAt } from "../intake/phases.ts";
import { copyProblem } from "../moved-repository.ts";
import { homeOf, type Paths, textPath } from "../paths.ts";
import { type ClaimedElsewhere, claimedElsewhere } from "../publishing/claims.ts";
import { planText, type Records, requireRecord } from "../records.ts";
import { planConfig } from "../settings/plan-config.ts";
import { decide } from "../steps/decide.ts";
import { plansBefore } from "../steps/dependencies.ts";
import { deferredComments, type Observing, observe, unansweredComments } from "../steps/observe.ts";
import { currentRecords } from "./current-records.ts";
import { type PlanActivity, readActivity } from "./read-activity.ts";
import { type AgentsReport, type BackOff, machineLevel, type Probe, readAgents, readBackOffs } from "./read-agents.ts";
import { type AsideFiles, readAside } from "./read-aside.ts";
import {
  type BusReport,
  type FoundBus,
  failingBridges,
  planBus,
  readBuses,
  stallProblems,
  watchdogProblem,
} from "./read-bus.ts";
import { type PinnedReport, readPinned } from "./read-pinned.ts";
import { type RunSummary, type RunTotals, readRuns, readTotals } from "./read-runs.ts";

export { type RunSummary, readRuns };

/** A plan in the list, with what its agent is doing where one is at it. */
export type ListedPlan = PlanSummary & {
  readonly activity?: PlanActivity;
  /** A person is in its worktree (`prloom open`), with this process. */
  readonly opened?: { readonly pid: number };
};

/** A comment without effect, and the plan that it was about. */
export type FoundIgnored = IgnoredComment & { readonly planId: string };

export interface StatusReport extends BusReport, AgentsReport {
  readonly plans: ListedPlan[];
  /** Comments on plans that are not done, by authors whose words have no effect: how many, and the newest. */
  readonly ignored: { readonly count: number; readonly comments: readonly FoundIgnored[] };
  /** Bridges whose polls fail, as long as a dispatcher polls them. */
  readonly bridges: { readonly failing: readonly FailingBridge[] };
  /** What GitHub was asked, as the newest dispatcher left word. */
  readonly github?: TimedUsage;
  /** Of these no plan was made here, because other clones had claimed them; newest first. */
  readonly claimed: readonly ClaimedElsewhere[];
  readonly daemon: Pick<Partial<LiveDaemon>, "pid" | "startedAt" | "stopping" | "suspended"> & {
    readonly running: boolean;
  };
  /** What the dispatcher works with; absent before the first start. */
  readonly pinned?: PinnedReport;
  /** Files that cannot become plans, records that cannot be read or are those of another repository, and what ended the last dispatcher. */
  readonly problems: readonly InboxProblem[];
}

/** What other processes say. */
export interface OutsideAnswers {
  readonly daemon: LiveDaemon | undefined;
  readonly machine: Promise<Probe>;
}

function daemonState(daemon: LiveDaemon | undefined): StatusReport["daemon"] {
  if (!daemon) return { running: false };
  const { pid, startedAt, stopping, suspended } = daemon;
  return { running: true, pid, startedAt, ...(stopping ? { stopping } : {}), ...(suspended ? { suspended } : {}) };
}

/** Asks the dispatcher and the machine; the machine answers while everything else is being read. */
export async function askOthers(paths: Paths): Promise<OutsideAnswers> {
  const daemon = await liveDaemon(paths);
  return { daemon, machine: machineLevel(paths, daemon !== undefined) };
}

/** Everything `prloom status` shows. Reads without a lock and writes nothing. */
export async function readStatus(loom: Observing & Intake, asked?: OutsideAnswers): Promise<StatusReport> {
  const { daemon, machine } = asked ?? (await askOthers(loom.paths));
  const scan = loom.inbox.scan();
  const records = currentRecords(loom, scan.entries);
  const broken: InboxProblem[] = [];
  const buses = records.map(({ id }) => planBus(loom, id));
  const plans = records.map((record, at) => summaryOr(loom, record, { daemon, broken, bus: buses[at] }));
  const taken = [...scan.entries.keys()].filter((id) => !ownsInboxFile(loom.store.byId(id))).map(idInUse);
  const unreadable = loom.store.problems.map(({ path, message }) => ({
    file: path,
    reason: message,
    hint: "Fix the file; prloom leaves it as it is.",
  }));
  const { problems: ofConfig, ...pinned } = readPinned(loom);
  const usage = readUsage(loom);
  const working = plans.flatMap(({ activity }) => (activity && isAtWork(activity) ? [activity.agent] : []));
  const copy = copyProblem(loom.paths);
  return {
    plans,
    ignored: readIgnored(records),
    ...readAgents(loom, { machine: await machine, working, plans: plans.map(({ planId }) => planId) }),
    ...readBuses(loom, buses),
    ...(usage ? { github: usage } : {}),
    claimed: claimedElsewhere(loom),
    bridges: { failing: daemon ? failingBridges(loom) : [] },
    daemon: daemonState(daemon),
    ...pinned,
    problems: [
      ...(copy ? [{ file: loom.paths.root, reason: copy.message, hint: copy.hint }] : []),
      ...[...ofConfig, ...scan.problems, ...taken, ...unreadable, ...broken],
      ...[...watchdogProblem(loom), ...stallProblems(loom)],
    ],
  };
}

const MAX_IGNORED = 50;

function readIgnored(records: readonly PlanRecord[]): StatusReport["ignored"] {
  const open = records.filter(({ status }) => status !== "done");
  const comments = open
    .flatMap(({ id, ignored }) => (ignored?.newest ?? []).map((comment) => ({ ...comment, planId: id })))
    .sort((a, b) => b.at.localeCompare(a.at));
  const count = open.reduce((sum, { ignored }) => sum + (ignored?.count ?? 0), 0);
  return { count, comments: comments.slice(0, MAX_IGNORED) };
}

function isAtWork({ state }: PlanActivity): boolean {
  return state === "working" || state === "waiting-for-input" || state === "silent" || state === "stuck";
}

/** One plan whose files cannot be read is a problem to show, and keeps no other from being shown. */
function summaryOr(
  loom: Observing,
  record: PlanRecord,
  known: { daemon: LiveDaemon | undefined; broken: InboxProblem[]; bus: FoundBus | undefined },
): ListedPlan {
  try {
    const summary = summaryOf(loom, record, { ...known, isAtRest: known.bus?.resting !== undefined });
    const activity = readActivity(loom, record, known.daemon !== undefined);
    const person = loom.occupancy.personIn(record.id);
    return {
      ...summary,
      ...(activity === undefined || activity.state === "none" ? {} : { activity }),
      ...(person ? { opened: { pid: person.pid } } : {}),
    };
  } catch (error) {
    const hint = error instanceof PrloomError ? error.hint : `Look at ${homeOf(loom.paths, record.id).home}.`;
    known.broken.push({ file: homeOf(loom.paths, record.id).home, reason: messageOf(error), hint });
    return summarise(record, undefined);
  }
}

interface Known {
  readonly daemon: LiveDaemon | undefined;
  /** Nothing waits on the plan's bus: it need not be opened. */
  readonly isAtRest: boolean;
}

function summaryOf(loom: Observing, record: PlanRecord, known: Known): PlanSummary {
  const facts = loom.texts.facts(textPath(loom, record), record.id);
  const triaging = !known.isAtRest && unansweredComments(loom, record.id) > 0;
  const waiting = waitingFor(loom, record, { ...known, triaging });
  const lower = lowerOf(loom, record);
  return summarise(record, facts, {
    triaging,
    ...phaseAt(loom, record),
    ...(lower ? { stackedOn: lower.id } : {}),
    ...(waiting === undefined ? {} : { waiting }),
  });
}

const lowerOf = ({ store }: Records, { stack }: PlanRecord): PlanRecord | undefined => stack && store.get(stack.on);

/** The same decision that the dispatcher makes, asked only for its reason. */
function waitingFor(
  loom: Observing,
  record: PlanRecord,
  known: Known & { readonly triaging: boolean },
): string | undefined {
  const { daemon, triaging, isAtRest } = known;
  const putOff = record.status === "review" && !isAtRest && !triaging && deferredComments(loom, record.id) > 0;
  const isAgain = record.status === "review" && (triaging || record.rebase !== undefined);
  const isOpen = record.status === "queued" || record.status === "active" || isAgain;
  const trouble = record.published?.trouble;
  if (trouble !== undefined && record.status === "review" && !record.blocked) return `not yet published: ${trouble}`;
  if (putOff && !record.blocked) return "an unanswered comment that a plugin put off";
  const lower = lowerOf(loom, record);
  if (lower && record.status === "review" && !isAgain && !record.blocked) return waitsBelow(lower);
  if (!isOpen) return draftBecause(record);
  if (record.blocked) return undefined;
  if (record.hidden) return "hidden";
  if (record.paused) return "paused";
  if (record.uid === "") return daemon ? undefined : "no dispatcher is running";
  const told = daemon?.waits[record.id];
  if (told !== undefined) return told;
  const bus = isAtRest ? { bus: { fresh: 0, pending: [] } } : {};
  const view = observe(loom, record, { slots: { agent: true, open: true }, ...bus });
  const step = decide(daemon && view.run === "interrupted" ? { ...view, run: "live" } : view, loom.clock.now());
  if (step.kind === "wait" && (daemon || view.bus.fresh === 0)) return step.why;
  const { rebase, baseBranch } = record;
  const catchingUp = rebase && `the ${rebase.merge ? "merge with" : "rebase onto"} ${baseBranch}`;
  return daemon ? catchingUp : `${catchingUp ? `${catchingUp}: ` : ""}no dispatcher is running`;
}

function waitsBelow({ id, deleted, outcome }: PlanRecord): string {
  if (!deleted && outcome === undefined) return `stacked on ${id}, which must be merged first`;
  return `stacked on ${id}, which was ${deleted ? "deleted" : outcome}: the dispatcher looks at it next`;
}

export interface PlanDetail extends AsideFiles {
  readonly summary: PlanSummary;
  readonly record: PlanRecord;
  readonly planFile: string;
  readonly text: string | undefined;
  readonly todos: readonly Todo[];
  readonly problems: readonly string[];
  /** Plans that must be merged before it. */
  readonly before: readonly PlanBefore[];
  /** Those of the config. */
  readonly roles: Config["governance"]["roles"];
  readonly runs: (RunSummary & RunTotals)[];
  readonly activity?: PlanActivity;
  /** What the plan's agents may spend; no limits where it has none. */
  readonly budget: Budget;
  /** Agents of the plan that are left alone for a while, by name. */
  readonly backsOff: Readonly<Record<string, BackOff>>;
  /** The newest commit of its branch. */
  readonly head: string | undefined;
  /** What is its own on that branch. */
  readonly range: Range | undefined;
  readonly commits: CommitSummary[];
  readonly diff: DiffStat | undefined;
  readonly thread: ThreadEntry[];
  /** At which it was shown to people, oldest first. */
  readonly gates: readonly GateRecord[];
}

/** Everything `prloom show` tells about one plan. */
export async function readPlanDetail(loom: Observing & Intake, id: string): Promise<PlanDetail> {
  const daemon = await liveDaemon(loom.paths);
  const record =
    currentRecords(loom, loom.inbox.scan().entries).find((candidate) => candidate.id === id) ?? requireRecord(loom, id);
  const text = planText(loom, record);
  const head =
    record.branch && record.status !== "queued"
      ? await resolveCommit(loom.repo, `refs/heads/${record.branch}`)
      : undefined;
  const config = planConfig(loom, record);
  const { roles } = loom.config.governance;
  const activity = readActivity(loom, record, daemon !== undefined);
  // While it is being rebased the branch has only a part of it, or nothing.
  const whole = head && (record.rebase?.from ?? head);
  const range = await ownRange(loom.repo, { base: record.baseBranch, began: record.baseSha, head: whole });
  return {
    summary: summaryOf(loom, record, { daemon, isAtRest: planBus(loom, id).resting !== undefined }),
    record,
    planFile: textPath(loom, record),
    text: text?.text,
    todos: text?.doc.todos ?? [],
    before: text ? plansBefore(loom, record, text.doc) : [],
    roles,
    problems: [...(text ? planProblems(text.doc, roles) : []), ...nearMisses(record.metadata)],
    runs: readRuns(loom, record, daemon !== undefined).map((run) => ({ ...run, ...readTotals(loom, run) })),
    budget: config.ok ? config.config.limits.budget : loom.config.limits.budget,
    backsOff: config.ok && record.status !== "done" ? readBackOffs(loom, config.config.agents, id) : {},
    ...(activity === undefined ? {} : { activity }),
    head,
    range,
    commits: range ? await commitsBetween(loom.repo, range.base, range.head) : [],
    diff: range ? await diffStat(loom.repo, range.base, range.head) : undefined,
    thread: readThread(loom.log, id),
    gates: gatesOf(loom, record),
    ...readAside(loom, id),
  };
}
