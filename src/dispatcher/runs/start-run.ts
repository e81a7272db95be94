import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { adapterOf } from "../../agents/adapters.ts";
import { isHost, withPolicy } from "../../agents/enclosure-level.ts";
import type { RunExit, Stage } from "../../agents/port.ts";
import type { PlanConfig, StageAgent } from "../../config/presets.ts";
import { clearHostSettings } from "../../git/staging/stage.ts";
import { repairGitFile } from "../../git/worktree/repair.ts";
import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf } from "../../kernel/errors.ts";
import { ensureDir } from "../../kernel/files.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Reporting, Stopping, Waking } from "../capabilities.ts";
import { copyFiles } from "../enclosure/copy-files.ts";
import type { Enclosure } from "../enclosure/enclose.ts";
import { GIVEN, makeRunCopy } from "../enclosure/run-copy.ts";
import { requireEnforced } from "../gates/enforced.ts";
import type { Gated } from "../gates/gate-store.ts";
import { approvalOf, doorAt, toldPlan } from "../gates/plan-gate.ts";
import { governRun, oursFor, roleOfRun } from "../governing/governed.ts";
import { hasOtherTerms } from "../governing/new-terms.ts";
import type { PlanText } from "../intake/plan-texts.ts";
import { messageReceived, offerMessages, settleMessages, takeMessages } from "../messages/messages.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { givenEvents, giveWords, renderWords } from "../perform/answer-events.ts";
import { clearUnstarted } from "../perform/begin.ts";
import { followPerson } from "../perform/follow-person.ts";
import { conflictOf, resolutionValues, withResolution } from "../perform/resolution.ts";
import { reviewPromptValues } from "../perform/review.ts";
import { renderChecks } from "../perform/take-check.ts";
import { planText, type Records, requireRecord, updateRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { leftOut } from "../worktree/set-aside.ts";
import type { Pooled } from "./agent-pool.ts";
import { conversationOf, countRun, sessionFor } from "./count-run.ts";
import { onFirstChange } from "./first-change.ts";
import { runLimits } from "./follow.ts";
import type { AtWork } from "./occupancy.ts";
import { promptFor, variables, writeEvents } from "./prompt.ts";
import { StepInterrupted } from "./refuse-start.ts";
import { awaitedRun, stageOf, writeRunRecord } from "./run-record.ts";
import { type AgentStart, encloseAgent, prepareStart } from "./start-agent.ts";
import { addStranded } from "./stranded.ts";

/** One run, before it is started. */
interface Coming {
  readonly number: number;
  readonly runDir: string;
  readonly stage: Stage;
  readonly agent: StageAgent;
  readonly config: PlanConfig;
  /** Gives its place among the agents free. */
  over(): void;
}

/** Starts the agent that the record waits for; returns as soon as it runs. */
export async function startAgentRun(
  loom: Located & Configured & Records & Gated & Buses & Pooled & AtWork & Reporting & Stopping & Waking,
  planned: PlanRecord,
  config: PlanConfig,
): Promise<void> {
  const number = awaitedRun(planned);
  const found = planText(loom, planned);
  const { governance } = loom.config;
  if (number === undefined || !found) return;
  const text = withResolution(planned, found);
  const stage = stageOf(planned);
  const choice = loom.pool.choose(config.agents[stage], planned.id);
  // It was free when the step was decided; then the next look waits.
  if (choice.kind !== "free") return;
  const runDir = homeOf(loom.paths, planned.id).run(number);
  // Counted before anything is awaited: the next plan that asks finds the place taken.
  const over = loom.pool.started(choice.agent.name);
  const coming: Coming = { number, runDir, stage, agent: choice.agent, config, over };
  try {
    const record = giveWords(loom, await followPerson(loom, planned));
    // The door is closed for all but the worker.
    if (config.gated && stage !== "worker") await requireEnforced(loom.config, { [choice.agent.name]: choice.agent });
    await prepareWorktree(loom, record, coming, text);
    const { agent } = choice;
    const begins = sessionFor(record, stage, agent) === undefined;
    const enclosing = { agent, runDir, use: stage, begins, ...treeFor(record), ...oursFor(agent, runDir) };
    const enclosure = await encloseAgent(loom, record, enclosing);
    makeRunCopy(loom, record, text.text, enclosure.view);
    const start = await describeStart(loom, record, coming, { text, enclosure });
    const launch = await prepareStart(loom, record, start);
    requireSame(loom, record, { stage, config, governance, given: found });
    crashPoint("run:prepared");
    const ended = launch();
    if (stage === "designer") tellPlanning(loom, record, { number, given: text.text, ended });
    offerMessages(loom, record.id);
    crashPoint("run:started");
    const how = start.sessionId === undefined ? "" : ", going on with its conversation";
    const report = `${stage} started (run ${number}, agent ${choice.agent.name}${how})`;
    loom.report({ planId: record.id, level: "info", text: report });
  } catch (error) {
    if (!loom.occupancy.agentIn(planned.id)) {
      over();
      // The plans that were told to wait for this place meanwhile.
      loom.runEnded(planned.id);
    }
    throw error;
  }
}

interface PreparedRun {
  readonly stage: Stage;
  readonly config: PlanConfig;
  readonly governance: Configured["config"]["governance"];
  readonly given: PlanText;
}

/** A person may have changed what the run is to do, or may do, while it was prepared; one that runs is ended for that. */
function requireSame(
  loom: Located & Configured & Records & Gated,
  { id, current }: PlanRecord,
  { stage, config, governance, given }: PreparedRun,
): void {
  if (!isDeepStrictEqual(governance, loom.config.governance)) throw new StepInterrupted("the policy changed");
  if (stage !== "worker") return;
  const record = requireRecord(loom, id);
  const text = planText(loom, record);
  if (doorAt(loom, record, text, config).kind !== "open")
    throw new StepInterrupted("the plan is not approved as it is now");
  if (!text || hasOtherTerms(current?.todoId, given.doc, text.doc)) throw new StepInterrupted("its TODO changed");
}

interface Designing {
  readonly number: number;
  readonly given: string;
  readonly ended: Promise<unknown>;
}

/** The designer plans from when it first changes its copy of the plan. */
function tellPlanning(
  loom: Located & Configured & Records & Waking & Reporting,
  record: PlanRecord,
  { number, given, ended }: Designing,
): void {
  const note = (): void => {
    const now = loom.store.byId(record.id);
    if (now?.side?.run !== number || now.deleted) return;
    const { side } = now;
    updateRecord(loom, record.id, () => ({ side: { ...side, planning: true } }));
    loom.wake(record.id);
  };
  const end = onFirstChange(worktreeOf(loom, record).path, given, () => {
    try {
      note();
    } catch (error) {
      loom.report({ planId: record.id, level: "warn", text: `its phase could not be noted: ${messageOf(error)}` });
    }
  });
  void ended.finally(end);
}

async function prepareWorktree(
  loom: Located & Configured & Reporting,
  record: PlanRecord,
  coming: Coming,
  text: PlanText,
): Promise<void> {
  await clearUnstarted(coming.runDir);
  ensureDir(coming.runDir);
  await repairGitFile(worktreeOf(loom, record));
  // Ignored files among them may be an earlier run's, and would speak to this one's program.
  await clearHostSettings(worktreeOf(loom, record), leftOut(loom, record));
  await copyFiles(loom, worktreeOf(loom, record).path, false);
  writeFileSync(join(coming.runDir, GIVEN), text.text);
}

/** A reviewer sees what is to be committed, and nothing that the worker prepared beside it (ignored files, build output). */
function treeFor({ side, current }: PlanRecord): { tree?: string } {
  return side?.stage === "reviewer" ? { tree: current?.tree ?? side.baseSha } : {};
}

/** Says how the run starts, and writes that down before it does. */
async function describeStart(
  loom: Located & Configured & Records & Gated & Buses & Pooled & AtWork & Reporting & Stopping & Waking,
  record: PlanRecord,
  coming: Coming,
  { text, enclosure }: { text: PlanText; enclosure: Enclosure },
): Promise<AgentStart> {
  const { stage, agent, runDir, number, config } = coming;
  const session = adapterOf(agent).resumes ? sessionFor(record, stage, agent) : undefined;
  const about = conversationOf(record, stage);
  const todo = text.doc.todos.find((candidate) => candidate.id === record.current?.todoId);
  // With every agent, though not every one has rules inside: what a TODO asks for is kept, or said to be impossible.
  if (stage === "worker") roleOfRun(loom, record, todo);
  const more = await (stage === "reviewer" ? reviewPromptValues : resolutionValues)(loom, record);
  const messages = takeMessages(loom, record, number, session?.id);
  const given = givenEvents(loom, record);
  const events = writeEvents(given, runDir);
  const approval = stage === "worker" ? approvalOf(loom, record) : "";
  const checks = stage === "worker" ? renderChecks(() => loom.bus(record.id), todo) : "";
  const words = [approval, stage === "designer" ? renderWords(given) : "", checks, messages.text]
    .filter((part) => part !== "")
    .join("\n");
  const told = { ...text, text: toldPlan(loom, record, text.text) };
  // A worker in the middle of a rebase has one prompt, which says all.
  const goesOn = session !== undefined && session.todoId === about && (stage !== "worker" || !record.rebase);
  const vars = variables(loom, record, { stage, todo, runDir, resultFile: more.resultFile });
  const governance = isHost(agent.adapter)
    ? await governRun(loom, record, { adapter: agent.adapter, stage, runDir, text, enclosure, vars })
    : undefined;
  writeRunRecord(runDir, {
    stage,
    agent: agent.name,
    attempt: (record.side ?? record.current)?.attempt ?? 1,
    startedAt: isoTime(loom.clock.now()),
    level: governance ? withPolicy(enclosure.level) : enclosure.level,
    about,
    ...(stage === "worker" && record.current ? { baseSha: record.current.baseSha } : {}),
    ...(stage === "worker" && conflictOf(record) ? { resolves: true } : {}),
    ...(agent.model === undefined ? {} : { model: agent.model }),
    ...(session === undefined ? {} : { sessionId: session.id }),
    ...(messages.ids.length === 0 ? {} : { messages: messages.ids }),
  });
  return {
    ...{ kind: "agent", stage, agent, runDir, enclosure, model: agent.model, sessionId: session?.id },
    runId: `${record.uid}/${number}`,
    ...governance,
    prompt: promptFor(loom, record, { stage, ...told, todo, events, messages: words, goesOn, more }),
    vars,
    limits: runLimits(loom, record.id, config.limits),
    budgets: config.limits,
    hear(event) {
      if (event.type === "received") messageReceived(loom, record.id, event.messageId, number);
    },
    onEnd: (exit) => settleEnd(loom, record.id, { ...coming, exit }),
  };
}

/** The run is over: its place is free, and what it left is counted. */
function settleEnd(
  loom: Located & Configured & Records & Pooled & AtWork & Reporting & Stopping & Waking,
  id: string,
  { number, over, exit }: Coming & { readonly exit: RunExit | "interrupted" },
): void {
  over();
  if (exit !== "interrupted") loom.stranded.delete(id);
  else if (!loom.stopping) addStranded(loom, id);
  countEnded(loom, id, number);
  settleMessages(loom, id);
  loom.runEnded(id);
}

/** What cannot be counted now is counted before the run is judged. */
function countEnded(loom: Located & Configured & Records & Pooled & Reporting, id: string, run: number): void {
  try {
    countRun(loom, id, run);
  } catch (error) {
    loom.report({ planId: id, level: "warn", text: `its run could not be counted: ${messageOf(error)}` });
  }
}
