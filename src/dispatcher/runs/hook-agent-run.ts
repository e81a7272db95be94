import { join } from "node:path";
import { adapterOf } from "../../agents/adapters.ts";
import type { AgentRun, LiveRun, RunLimits } from "../../agents/port.ts";
import type { PlanConfig, PlanStage, StageAgent } from "../../config/presets.ts";
import type { AgentOptions } from "../../hooks/contexts/context-types.ts";
import { isoTime } from "../../kernel/clock.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { ensureDir, readTextNoFollow } from "../../kernel/files.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting, Stopping } from "../capabilities.ts";
import { clearEnclosure, enclose } from "../enclosure/enclose.ts";
import { type Located, worktreeOf } from "../paths.ts";
import { type Records, requireRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Pooled } from "./agent-pool.ts";
import { isRefusal, NOTHING_SPENT, overBudget } from "./availability.ts";
import { countHookRun } from "./count-run.ts";
import { type Followed, follow, runLimits } from "./follow.ts";
import { instructionsFor } from "./instructions.ts";
import { refuseStart } from "./interrupted.ts";
import type { AtWork } from "./occupancy.ts";
import { requireAgentPinned } from "./require-pinned.ts";
import { writeRunRecord } from "./run-record.ts";
import { environmentOf } from "./start-run.ts";

/** All files that a plugin puts below its prompt, together. */
const MOST_FILE_BYTES = 256 * 1024;
const MOST_ANSWER = 1024 * 1024;

export interface AgentCall {
  readonly prompt: string;
  readonly options: AgentOptions;
  readonly signal: AbortSignal;
}

export interface Planned {
  readonly call: AgentCall;
  readonly config: PlanConfig;
}

interface Prepared extends Planned {
  readonly stage: PlanStage;
  readonly name: string;
  readonly runDir: string;
  /** What it is to see instead of the worktree. */
  readonly tree?: string;
}

/** Runs the agent in the worktree that is kept free for it, and gives back what it said. */
export async function runIn(
  loom: Located & Configured & Records & Pooled & AtWork & Reporting & Stopping,
  record: PlanRecord,
  prepared: Prepared,
): Promise<string> {
  const { agent, over } = await agentFor(loom, record, prepared);
  try {
    return await runAs(loom, record, { ...prepared, agent });
  } finally {
    over();
  }
}

interface Chosen extends Prepared {
  readonly agent: StageAgent;
}

async function runAs(
  loom: Located & Configured & Records & Pooled & AtWork & Reporting & Stopping,
  record: PlanRecord,
  chosen: Chosen,
): Promise<string> {
  const { call, config, stage, name, runDir, agent, tree } = chosen;
  const worktree = worktreeOf(loom, record).path;
  const runId = `${record.uid}/hooks/${name}`;
  ensureDir(join(runDir, "agent"));
  const enclosure = await enclose(loom, record, { agent, runDir, use: stage, ...(tree ? { tree } : {}) });
  const startedAt = isoTime(loom.clock.now());
  writeRunRecord(runDir, { stage, agent: agent.name, attempt: 1, startedAt, level: enclosure.level });
  const instructions = await instructionsFor(loom, record, { agent, runDir });
  refuseStart(loom, record);
  requireAgentPinned(loom, agent);
  const controller = new AbortController();
  const model = call.options.model ?? agent.model;
  const vars = {
    PRLOOM_STAGE: stage,
    PRLOOM_PLAN_ID: record.id,
    PRLOOM_WORKTREE: worktree,
    PRLOOM_RUN_DIR: join(runDir, "agent"),
    PRLOOM_RUN_ID: runId,
  };
  const stream = adapterOf(agent).start({
    stage,
    prompt: `${call.prompt}${filesBelow(worktree, call.options.files ?? [])}`,
    cwd: worktree,
    runDir,
    runId,
    ...(model === undefined ? {} : { model }),
    ...(instructions === undefined ? {} : { instructions }),
    env: environmentOf(loom, agent, { vars, enclosure }),
    limits: limitsFor(loom, record.id, { config, timeoutMs: call.options.timeoutMs }),
    wrapper: enclosure.wrapper,
    sandboxed: enclosure.sandboxed,
    signal: AbortSignal.any([call.signal, controller.signal]),
  });
  const followed = {
    planId: record.id,
    key: runId,
    runDir,
    agent,
    limits: config.limits,
    stop: () => controller.abort(),
  };
  const answer = collect(loom, stream, followed);
  const ended = answer.then(({ exit }) => exit);
  const live: LiveRun = { runDir, ended, stop: () => stopAgent(controller, ended) };
  const leave = loom.occupancy.enter(record.id, "plugin-agent", { run: live });
  const { text, exit } = await answer.finally(async () => {
    leave();
    const { trouble } = countHookRun(loom, record.id, { runDir, key: runId });
    if (trouble && isRefusal(trouble)) loom.desk.refused(agent.name, { ...trouble, planId: record.id });
    await clearEnclosure(runDir);
  });
  if (exit === "interrupted") throw new Error("the agent was interrupted");
  if (exit.reason !== "exited")
    throw new Error(`the agent was ended (${exit.reason})${exit.error ? `: ${exit.error}` : ""}`);
  if (exit.code !== 0) throw new Error(`the agent ended with ${exit.code ?? exit.signal}; see ${runDir}`);
  return text;
}

/** So long a plugin waits for an agent: providers that say no may do so for hours. */
const LONGEST_WAIT_MS = 5 * 60_000;

interface TakenAgent {
  readonly agent: StageAgent;
  over(): void;
}

/**
 * Waits for a place and for an agent of the stage, and takes both at once: whoever waits for one must not keep the other.
 * A budget that is spent is no reason to wait.
 */
async function agentFor(
  loom: Configured & Records & Pooled,
  record: PlanRecord,
  { call, config, stage }: Prepared,
): Promise<TakenAgent> {
  const until = loom.clock.now() + LONGEST_WAIT_MS;
  for (;;) {
    refuseSpent(loom, record.id, config);
    const choice = loom.desk.choose(config.agents[stage], record.id);
    const isFull = loom.desk.atWork() >= loom.config.limits.maxRunningAgents;
    if (choice.kind === "free" && !isFull) return { agent: choice.agent, over: loom.desk.started(choice.agent.name) };
    if (choice.kind === "away" && Math.max(choice.until, loom.clock.now()) > until)
      throw new Error(`no agent can be started: ${choice.why}`);
    await loom.desk.changed(choice.kind === "free" ? undefined : choice.until, call.signal);
  }
}

function refuseSpent(loom: Records & Pooled, planId: string, { limits }: PlanConfig): void {
  const spent = overBudget(requireRecord(loom, planId).spent ?? NOTHING_SPENT, limits.budget);
  const today = overBudget(loom.desk.today(), limits.dailyBudget);
  if (spent !== undefined) throw new Error(`the budget of ${planId} is spent: ${spent}`);
  if (today !== undefined) throw new Error(`the budget of today is spent: ${today}`);
}

async function stopAgent(controller: AbortController, ended: LiveRun["ended"]): Promise<void> {
  controller.abort();
  await ended;
}

function limitsFor(
  loom: Records & Pooled,
  planId: string,
  { config, timeoutMs }: { config: PlanConfig; timeoutMs: number | undefined },
): RunLimits {
  const limits = runLimits(loom, planId, config.limits);
  return { ...limits, deadlineMs: Math.min(timeoutMs ?? limits.deadlineMs, limits.deadlineMs) };
}

async function collect(loom: Records & Pooled & Reporting, stream: AgentRun, followed: Followed) {
  const parts: string[] = [];
  let length = 0;
  const exit = await follow(loom, stream, followed, (event) => {
    if (event.type !== "text" || length >= MOST_ANSWER) return;
    parts.push(event.text);
    length += event.text.length;
  });
  return { text: parts.join("\n"), exit };
}

/** Read without following links: a plugin passes on names that may come from an agent. */
function filesBelow(worktree: string, files: readonly string[]): string {
  let left = MOST_FILE_BYTES;
  const shown = files.map((file) => {
    const text = readTextNoFollow(worktree, file, left);
    if (text === undefined)
      throw new PrloomError(
        "hook-misuse",
        `runAgent: there is no file ${file} in the worktree.`,
        "Name files below it.",
      );
    left -= Buffer.byteLength(text);
    return `\n\n## ${file}\n\n\`\`\`\n${text}\n\`\`\``;
  });
  return shown.join("");
}
