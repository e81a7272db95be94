import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { adapterOf, programOf } from "../../agents/adapters.ts";
import { agentEnvironment } from "../../agents/environment.ts";
import type { AgentEvent, AgentRun, Instructions, LiveRun, Stage } from "../../agents/port.ts";
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
import { clearEnclosure, type Enclosure, enclose } from "../enclosure/enclose.ts";
import { makeRunCopy } from "../enclosure/run-copy.ts";
import type { PlanText } from "../intake/plan-texts.ts";
import { messageReceived, offerMessages, settleMessages, takeMessages } from "../messages/messages.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { givenEvents, giveWords, renderWords } from "../perform/answer.ts";
import { clearUnstarted } from "../perform/begin.ts";
import { leftOut } from "../perform/prepared.ts";
import { reviewPromptValues } from "../perform/review.ts";
import { planText, type Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Pooled } from "./agent-pool.ts";
import { conversationOf, countRun, sessionFor } from "./count-run.ts";
import { follow, runLimits } from "./follow.ts";
import { instructionsFor } from "./instructions.ts";
import { refuseStart } from "./interrupted.ts";
import type { AtWork } from "./occupancy.ts";
import { promptFor, variables, writeEvents } from "./prompt.ts";
import { requireAgentPinned } from "./require-pinned.ts";
import { awaitedRun, stageOf, writeRunRecord } from "./run-record.ts";

/** The text that the agent was given, beside the run's other files: claims are the difference to it. */
export const GIVEN = "given.md";

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
  loom: Located & Configured & Records & Buses & Pooled & AtWork & Reporting & Stopping & Waking,
  planned: PlanRecord,
  config: PlanConfig,
): Promise<void> {
  const number = awaitedRun(planned);
  const text = planText(loom, planned);
  if (number === undefined || !text) return;
  const stage = stageOf(planned);
  const choice = loom.desk.choose(config.agents[stage], planned.id);
  // It was free when the step was decided; then the next look waits.
  if (choice.kind !== "free") return;
  const record = giveWords(loom, planned);
  const runDir = homeOf(loom.paths, record.id).run(number);
  // Counted before anything is awaited: the next plan that asks finds the place taken.
  const over = loom.desk.started(choice.agent.name);
  const coming: Coming = { number, runDir, stage, agent: choice.agent, config, over };
  try {
    await prepareWorktree(loom, record, coming, text);
    const enclosure = await enclose(loom, record, { agent: choice.agent, runDir, use: stage, ...treeFor(record) });
    makeRunCopy(loom, record, text.text, enclosure.view);
    const prepared = await prepare(loom, record, coming, { text, enclosure });
    crashPoint("run:prepared");
    refuseStart(loom, record);
    requireAgentPinned(loom, choice.agent);
    launch(loom, record, coming, prepared);
    crashPoint("run:started");
    const how = prepared.sessionId === undefined ? "" : ", going on with its conversation";
    const report = `${stage} started (run ${number}, agent ${choice.agent.name}${how})`;
    loom.report({ planId: record.id, level: "info", text: report });
  } catch (error) {
    if (!loom.occupancy.agentIn(record.id)) over();
    throw error;
  }
}

async function prepareWorktree(
  loom: Located & Configured & Reporting,
  record: PlanRecord,
  coming: Coming,
  text: PlanText,
): Promise<void> {
  await clearUnstarted(coming.runDir);
  ensureDir(join(coming.runDir, "agent"));
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

interface Prepared {
  readonly prompt: string;
  readonly sessionId: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly enclosure: Enclosure;
  readonly instructions: Instructions | undefined;
}

/** Writes down what the run is started as, before it is. */
async function prepare(
  loom: Located & Configured & Records & Buses & AtWork,
  record: PlanRecord,
  coming: Coming,
  { text, enclosure }: { text: PlanText; enclosure: Enclosure },
): Promise<Prepared> {
  const { stage, agent, runDir, number } = coming;
  const session = adapterOf(agent).resumes ? sessionFor(record, stage, agent) : undefined;
  const about = conversationOf(record);
  const todo = text.doc.todos.find((candidate) => candidate.id === record.current?.todoId);
  const more: Record<string, string> = stage === "reviewer" ? await reviewPromptValues(loom, record) : {};
  const messages = takeMessages(loom, record, number, session?.id);
  const given = givenEvents(loom, record);
  const events = writeEvents(given, runDir);
  const words = [stage === "designer" ? renderWords(given) : "", messages.text]
    .filter((part) => part !== "")
    .join("\n");
  const goesOn = session !== undefined && session.todoId === about;
  const prompt = promptFor(loom, record, { stage, ...text, todo, events, messages: words, goesOn, more });
  const runId = `${record.uid}/${number}`;
  const vars = variables(loom, record, { stage, todo, runDir, resultFile: more.resultFile });
  writeRunRecord(runDir, {
    stage,
    agent: agent.name,
    attempt: (record.side ?? record.current)?.attempt ?? 1,
    startedAt: isoTime(loom.clock.now()),
    level: enclosure.level,
    about,
    ...(agent.model === undefined ? {} : { model: agent.model }),
    ...(session === undefined ? {} : { sessionId: session.id }),
    ...(messages.ids.length === 0 ? {} : { messages: messages.ids }),
  });
  const env = environmentOf(loom, agent, { vars: { ...vars, PRLOOM_RUN_ID: runId }, enclosure });
  const instructions = await instructionsFor(loom, record, coming);
  return { prompt, sessionId: session?.id, env, enclosure, instructions };
}

/** The whole environment of an agent's run. */
export function environmentOf(
  loom: Configured,
  agent: StageAgent,
  { vars, enclosure }: { vars: Readonly<Record<string, string>>; enclosure: Enclosure },
): Record<string, string> {
  const program = programOf(agent);
  // Where a program's files lie is told by us in a sandbox, and by the user's environment without one.
  const places = enclosure.sandboxed ? [] : (program?.placeVariables ?? []);
  const pass = [...agent.passEnv, ...(program?.variables ?? []), ...places];
  const env = agentEnvironment(loom.environment, { vars, extra: agent.env, pass });
  const laid = Object.entries({ ...env, ...enclosure.env });
  return Object.fromEntries(laid.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function launch(
  loom: Located & Configured & Records & Pooled & AtWork & Reporting & Stopping & Waking,
  record: PlanRecord,
  coming: Coming,
  prepared: Prepared,
): void {
  const { agent, runDir, number, stage, config } = coming;
  const controller = new AbortController();
  const { enclosure, sessionId, instructions } = prepared;
  const stream = adapterOf(agent).start({
    stage,
    prompt: prepared.prompt,
    cwd: worktreeOf(loom, record).path,
    runDir,
    runId: `${record.uid}/${number}`,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(agent.model === undefined ? {} : { model: agent.model }),
    ...(instructions === undefined ? {} : { instructions }),
    env: prepared.env,
    limits: runLimits(loom, record.id, config.limits),
    wrapper: enclosure.wrapper,
    sandboxed: enclosure.sandboxed,
    signal: controller.signal,
  });
  watch(loom, record, coming, { stream, controller });
}

function watch(
  loom: Located & Configured & Records & Pooled & AtWork & Reporting & Stopping & Waking,
  record: PlanRecord,
  { agent, runDir, number, config, over }: Coming,
  { stream, controller }: { stream: AgentRun; controller: AbortController },
): void {
  const stopNow = (): void => controller.abort();
  const key = `${record.uid}/${number}`;
  const followed = { planId: record.id, key, runDir, agent, limits: config.limits, stop: stopNow };
  const hear = (event: AgentEvent): void => {
    if (event.type === "received") messageReceived(loom, record.id, event.messageId, number);
  };
  const ended = follow(loom, stream, followed, hear).catch((error) => {
    // Then the run has no exit that we know of; recovery ends what is left of it before anything else.
    loom.report({ planId: record.id, level: "bad", text: `following the agent failed: ${messageOf(error)}` });
    return "interrupted" as const;
  });
  const stop = async (): Promise<void> => {
    stopNow();
    await ended;
  };
  const live: LiveRun = { runDir, ended, stop, send: (message) => stream.send(message) };
  const leave = loom.occupancy.enter(record.id, "agent", { run: live });
  offerMessages(loom, record.id);
  void ended.then(async (exit) => {
    await clearAfter(loom, record.id, runDir);
    over();
    leave();
    if (exit !== "interrupted") loom.stranded.delete(record.id);
    else if (!loom.stopping) loom.stranded.set(record.id, (loom.stranded.get(record.id) ?? 0) + 1);
    countEnded(loom, record.id, number);
    settleMessages(loom, record.id);
    loom.runEnded(record.id);
  });
}

/** Only disk space is lost where this fails; the next start tries again. */
async function clearAfter(loom: Reporting, id: string, runDir: string): Promise<void> {
  try {
    await clearEnclosure(runDir);
  } catch (error) {
    loom.report({ planId: id, level: "warn", text: `its sandbox could not be cleared away: ${messageOf(error)}` });
  }
}

/** What cannot be counted now is counted before the run is judged. */
function countEnded(loom: Located & Configured & Records & Pooled & Reporting, id: string, run: number): void {
  try {
    countRun(loom, id, run);
  } catch (error) {
    loom.report({ planId: id, level: "warn", text: `its run could not be counted: ${messageOf(error)}` });
  }
}
