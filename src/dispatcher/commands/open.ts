import { join } from "node:path";
import { programOf } from "../../agents/adapters.ts";
import type { EnclosureLevel } from "../../agents/enclosure-level.ts";
import { readSummary } from "../../agents/run-log/run-log.ts";
import type { Stage } from "../../config/agent-words.ts";
import type { PlanConfig, StageAgent } from "../../config/presets.ts";
import { didYouMean } from "../../config/problems/nearest.ts";
import { worktreeHealth } from "../../git/worktree/worktrees.ts";
import { isoTime } from "../../kernel/clock.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { removeTree } from "../../kernel/removal/remove-tree.ts";
import { type ProcessIdentity, processesWithVariable } from "../../kernel/system/process-tree.ts";
import { nextTodo, todoTitle } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { clearEnclosure } from "../enclosure/enclose.ts";
import type { Gated } from "../gates/gate-store.ts";
import { doorAt } from "../gates/plan-gate.ts";
import { closeInterface } from "../governing/closed-interface.ts";
import { oursFor } from "../governing/governed.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { recoverRun } from "../perform/begin.ts";
import { endOpened, isUnderWay, leaveOpened, openRunDir, openRunId } from "../perform/close-opened.ts";
import { planText, type Records, refuseUnrecovered, requireRecord, updateRecord } from "../records.ts";
import { readRuns } from "../report/read-runs.ts";
import type { Pooled } from "../runs/agent-pool.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { encloseAgent } from "../runs/start-agent.ts";
import type { Configured } from "../settings/pinned.ts";
import { requirePlanConfig } from "../settings/plan-config.ts";
import { runStateOf } from "../steps/observe.ts";
import { portVariables } from "../worktree/ports.ts";

export interface OpenRequest {
  /** The process that keeps the plan open as long as it lives; without one nothing is kept, only told. */
  readonly who?: ProcessIdentity;
  /** Stop what is at work. */
  readonly now: boolean;
  readonly agent?: string;
  readonly shell: boolean;
}

/** How a person gets into the worktree of a plan. */
export interface OpenedPlan {
  readonly agent: string;
  readonly worktree: string;
  readonly runId: string;
  /** Where it is enclosed; nothing in there can write it. */
  readonly runDir: string;
  /** Arguments of bwrap; empty: bare. */
  readonly wrapper: readonly string[];
  readonly level: EnclosureLevel;
  /** Laid over the agent's environment; null removes. */
  readonly env: Readonly<Record<string, string | null>>;
  /** Of the program's own interface; absent with `shell`. */
  readonly args?: readonly string[];
  /** The conversation that goes on there. */
  readonly sessionId?: string;
  /** The plan is not approved: the agent in there changes nothing, or is asked to. A shell is the person's own. */
  readonly door?: "closed" | "advisory";
}

/** Lets a person into the worktree of a plan: from now on, until that process ends, the dispatcher keeps away from it. */
export async function openPlan(
  loom: Located & Configured & Records & Gated & Pooled & AtWork & Reporting,
  id: string,
  request: OpenRequest,
): Promise<OpenedPlan> {
  const record = requireRecord(loom, id);
  refuseWithoutWorktree(loom, record);
  refuseUnrecovered(loom, id);
  const choice = { request, config: requirePlanConfig(loom, record) };
  // Also when it is to be asked again: what cannot be opened must not stop an agent first.
  const planned = chooseInterface(loom, record, choice);
  // Before anything is touched, in every form: an agent at work has the same private home, and could change it meanwhile.
  refuseWhileOpen(loom, id);
  const isBusy = loom.occupancy.isAtWork(id);
  if (isBusy && !(request.who && request.now)) {
    const hint = `Let it end (\`prloom pause ${id}\`, then wait), or stop it: \`prloom open ${id} --now\`; it goes on afterwards.`;
    throw new PrloomError("plan-state", `An agent is at work on ${id}.`, hint);
  }
  if (!request.who) {
    refuseWhileStarted(record);
    return describe(loom, record, planned, join(homeOf(loom.paths, id).runs, "print"));
  }
  // Without a pause since the last look: no step of the plan begins from here on.
  const { who } = request;
  updateRecord(loom, id, () => ({ opened: { ...who, at: isoTime(loom.clock.now()) } }));
  try {
    if (isBusy) await stopAtWork(loom, id);
    await endOpened(loom, record);
    await recoverInterrupted(loom, id);
    const now = requireRecord(loom, id);
    // An agent that was stopped has left a conversation to go on with.
    const opened = await describe(loom, now, chooseInterface(loom, now, choice), openRunDir(loom, now));
    if (opened.door === undefined && !request.shell)
      updateRecord(loom, id, (at) => (at.opened ? { opened: { ...at.opened, implements: true } } : {}));
    loom.report({ planId: id, level: "info", text: `opened by a person (${opened.agent}, pid ${who.pid})` });
    return opened;
  } catch (error) {
    updateRecord(loom, id, () => ({ opened: undefined }));
    loom.occupancy.personLeft(id);
    throw error;
  }
}

/** Throws while a person has the plan open: for what would take the worktree away from under them. */
export function refuseWhileOpen(loom: Records & AtWork, id: string): void {
  requireRecord(loom, id);
  const opened = loom.occupancy.personIn(id);
  if (!opened) return;
  const message = `A person has ${id} open (prloom open, pid ${opened.pid}).`;
  throw new PrloomError("plan-state", message, `Leave it there first, or end process ${opened.pid}.`);
}

/** A command that was printed before uses the enclosure that would be rebuilt now. */
function refuseWhileStarted(record: PlanRecord): void {
  const started = processesWithVariable(`PRLOOM_RUN_ID=${openRunId(record)}`)[0];
  if (!started) return;
  const message = `A program that \`prloom open ${record.id}\` printed is still at work (pid ${started.pid}).`;
  throw new PrloomError("plan-state", message, `Leave it there first, or end process ${started.pid}.`);
}

function refuseWithoutWorktree(loom: Located & Configured, record: PlanRecord): void {
  const { id, status, worktreeReady } = record;
  if (status === "done") throw new PrloomError("plan-state", `${id} is done.`, "`prloom new` makes a new plan.");
  if (!worktreeReady) {
    const hint = `\`prloom show ${id}\` tells its state; \`prloom start\` makes the worktree when it begins.`;
    throw new PrloomError("plan-state", `${id} has no worktree yet.`, hint);
  }
  const health = worktreeHealth(worktreeOf(loom, record));
  if (health === "ok") return;
  const hint = `\`prloom unblock ${id}\` makes it again from branch ${record.branch}.`;
  throw new PrloomError("plan-state", `The worktree of ${id} is ${health}: ${record.worktree}`, hint);
}

/** Stops what is at work on a plan of which no step may begin any more (it is blocked, or a person has it open). */
export async function stopAtWork(loom: AtWork, id: string): Promise<void> {
  if (!(await loom.occupancy.evict(id, EVICTION_MS))) throw stillAtWork(id);
}

const EVICTION_MS = 10_000;

/** One that waits for a place among the agents has nothing yet that could be stopped. */
function stillAtWork(id: string): PrloomError {
  const hint = `Try again when it has ended; \`prloom logs ${id}\` shows what it does.`;
  return new PrloomError("plan-state", `An agent of a plugin is at work on ${id}.`, hint);
}

/** What an interrupted run left is cleared up before a person comes: afterwards that would take the person's changes back. */
export async function recoverInterrupted(
  loom: Located & Configured & Records & Pooled & AtWork & Reporting,
  id: string,
): Promise<void> {
  // Stopped by a person: no sign that something ends the processes around the agent.
  loom.stranded.delete(id);
  const record = requireRecord(loom, id);
  if (runStateOf(loom, record) === "interrupted") await recoverRun(loom, record);
}

interface Interface {
  readonly agent: StageAgent;
  /** Whose private home it is opened in: conversations lie there. */
  readonly stage: Stage;
  readonly args?: readonly string[];
  readonly sessionId?: string;
}

interface Choice {
  readonly request: OpenRequest;
  readonly config: PlanConfig;
}

function chooseInterface(loom: Located & Configured, record: PlanRecord, { request, config }: Choice): Interface {
  const stage = record.side?.stage ?? "worker";
  // The stage that is at work first: its conversation is the one that a person wants to look into.
  const going = [record.sessions?.[stage], record.sessions?.worker, ...Object.values(record.sessions ?? {})];
  const known = [...going, ...pastSessions(loom, record)];
  const name = request.agent ?? known.find((session) => session !== undefined)?.agent ?? config.stages[stage].name;
  const configured = loom.config.agents[name];
  if (!configured) {
    const names = Object.keys(loom.config.agents);
    const meant = didYouMean(name, names) || ".";
    const hint = `The config has: ${names.join(", ")}.`;
    throw new PrloomError("usage", `There is no agent "${name}" in prloom/config.json${meant}`, hint);
  }
  const preferred = config.agents[stage].find((agent) => agent.name === name);
  const agent = preferred ?? { ...configured, name };
  if (request.shell) return { agent, stage };
  const session = known.find((candidate) => candidate?.agent === name);
  const program = programOf(agent);
  // Some open a new conversation without any argument, so only going on with one tells whether they can.
  if (!program || program.openArgs({ sessionId: "x" }).length === 0) {
    const hint = `A shell in the same place: \`prloom open ${record.id} --shell\``;
    throw new PrloomError("usage", `The agent ${name} (${agent.command}) has no interface that people can use.`, hint);
  }
  const model = agent.model === undefined ? {} : { model: agent.model };
  const sessionId = session === undefined ? {} : { sessionId: session.id };
  const [its] = Object.entries(record.sessions ?? {}).find(([, candidate]) => candidate === session) ?? [stage];
  return { agent, stage: its as Stage, ...sessionId, args: program.openArgs({ ...sessionId, ...model }) };
}

/** More runs than a person remembers. */
const MAX_PAST = 20;

/** No run goes on with the conversations of TODOs that are done, but people may look into them; the newest first. */
function pastSessions(loom: Located, record: PlanRecord): { agent: string; id: string }[] {
  const runs = readRuns(loom, record, false).slice(-MAX_PAST).reverse();
  const told = runs.filter(({ stage }) => stage === "worker" || stage === "designer");
  return told.flatMap(({ agent, dir, sessionId }) => {
    const { errors, sessionId: own } = readSummary(dir);
    const id = own ?? sessionId;
    return id === undefined || errors.some(({ kind }) => kind === "session-lost") ? [] : [{ agent, id }];
  });
}

async function describe(
  loom: Located & Configured & Records & Gated & Reporting,
  record: PlanRecord,
  { agent, stage, args, ...more }: Interface,
  runDir: string,
): Promise<OpenedPlan> {
  await clearEnclosure(runDir);
  await removeTree(runDir);
  const door = doorAt(loom, record, planText(loom, record), requirePlanConfig(loom, record)).kind;
  const isClosed = door !== "open" && args !== undefined;
  const held = isClosed ? { readOnly: true as const, ...oursFor(agent, runDir) } : {};
  const enclosure = await encloseAgent(loom, record, { agent, runDir, use: stage, ...held });
  const closed = isClosed ? await closeInterface(loom, record, { agent, runDir, enclosure }) : undefined;
  const laid = Object.entries({ ...enclosure.env, ...closed?.env }).map(([name, value]) => [name, value ?? null]);
  return {
    ...more,
    ...(args === undefined ? {} : { args: [...args, ...(closed?.args ?? [])] }),
    agent: agent.name,
    worktree: worktreeOf(loom, record).path,
    runId: openRunId(record),
    runDir,
    wrapper: enclosure.wrapper,
    level: closed?.level ?? enclosure.level,
    env: { ...portVariables(record), ...Object.fromEntries(laid) },
    ...(door === "open" ? {} : { door: closed?.isHeld === false ? "advisory" : "closed" }),
  };
}

export interface ClosedPlan {
  readonly status: PlanRecord["status"];
  /** The TODO that what was changed becomes a part of. */
  readonly todo?: { readonly number: number; readonly title: string };
  /** The agent was ended, for the plan is not approved any more. */
  readonly ended?: true;
}

/** The person is done: the plan goes on. */
export async function closePlan(
  loom: Located & Configured & Records & AtWork & Reporting,
  id: string,
  who: ProcessIdentity,
): Promise<ClosedPlan> {
  const record = requireRecord(loom, id);
  const { opened } = record;
  if (opened?.pid === who.pid && opened.startTicks === who.startTicks) {
    await leaveOpened(loom, record);
    loom.report({ planId: id, level: "info", text: "closed by the person who had it open" });
  }
  const doc = planText(loom, record)?.doc;
  const next = doc ? nextTodo(doc) : undefined;
  const under = isUnderWay(record.current) ? record.current.todoId : undefined;
  const current = doc?.todos.find((todo) => todo.id === under);
  const todo = current ?? (next?.kind === "todo" ? next.todo : undefined);
  const ended = opened?.ended ? { ended: true as const } : {};
  return {
    status: record.status,
    ...ended,
    ...(todo ? { todo: { number: todo.index + 1, title: todoTitle(todo) } } : {}),
  };
}
