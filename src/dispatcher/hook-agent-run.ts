import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { adapterOf } from "../agents/adapters.ts";
import type { AgentRun, LiveRun } from "../agents/port.ts";
import { openRunLog } from "../agents/run-log.ts";
import type { PlanConfig, PlanStage, StageAgent } from "../config/presets.ts";
import type { AgentOptions } from "../hooks/context-types.ts";
import { isoTime } from "../kernel/clock.ts";
import { PrloomError } from "../kernel/errors.ts";
import { ensureDir, readTextNoFollow } from "../kernel/files.ts";
import type { PlanRecord } from "../plan/record.ts";
import { NOTHING_SPENT, overBudget } from "./availability.ts";
import { type Loom, requireRecord } from "./loom.ts";
import { worktreeOf } from "./observe.ts";
import { countHookRun } from "./perform/count-run.ts";
import { clearEnclosure, enclose } from "./perform/enclose.ts";
import { refuseStart } from "./perform/interrupted.ts";
import { environmentOf } from "./perform/start-run.ts";
import { writeRunRecord } from "./run-record.ts";

/** All files that a plugin puts below its prompt, together. */
const MOST_FILE_BYTES = 256 * 1024;
const MOST_ANSWER = 1024 * 1024;

/** How often a place that is taken is looked at again; hooks have deadlines, and this time does not count. */
export const PLACE_LOOK_MS = 250;

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
}

/** Runs the agent in the worktree that is kept free for it, and gives back what it said. */
export async function runIn(loom: Loom, record: PlanRecord, prepared: Prepared): Promise<string> {
  const { call, config, stage, name, runDir } = prepared;
  const agent = await agentFor(loom, record, prepared);
  const worktree = worktreeOf(loom, record).path;
  const runId = `${record.uid}/hooks/${name}`;
  ensureDir(join(runDir, "agent"));
  const enclosure = await enclose(loom, record, { agent, runDir });
  const startedAt = isoTime(loom.clock.now());
  writeRunRecord(runDir, { stage, agent: agent.name, attempt: 1, startedAt, level: enclosure.level });
  refuseStart(loom, record);
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
    env: environmentOf(loom, agent, { vars, enclosure }),
    limits: limitsFor(config, call.options.timeoutMs),
    wrapper: enclosure.wrapper,
    sandboxed: enclosure.sandboxed,
    signal: AbortSignal.any([call.signal, controller.signal]),
  });
  const over = loom.desk.started(agent.name);
  const answer = collect(loom, stream, runDir);
  const ended = answer.then(({ exit }) => exit);
  const live: LiveRun = { runDir, ended, stop: () => stopAgent(controller, ended) };
  loom.commandRuns.set(live, record.id);
  const { text, exit } = await answer.finally(async () => {
    over();
    loom.commandRuns.delete(live);
    countHookRun(loom, record.id, { runDir, key: runId });
    await clearEnclosure(runDir);
  });
  if (exit === "interrupted") throw new Error("the agent was interrupted");
  if (exit.reason !== "exited")
    throw new Error(`the agent was ended (${exit.reason})${exit.error ? `: ${exit.error}` : ""}`);
  if (exit.code !== 0) throw new Error(`the agent ended with ${exit.code ?? exit.signal}; see ${runDir}`);
  return text;
}

/** Waits for an agent of the stage as the plan's own runs do; a budget that is spent is no reason to wait. */
async function agentFor(loom: Loom, record: PlanRecord, { call, config, stage }: Prepared): Promise<StageAgent> {
  const spent = overBudget(requireRecord(loom, record.id).spent ?? NOTHING_SPENT, config.limits.budget);
  const today = overBudget(loom.desk.today(), config.limits.dailyBudget);
  if (spent !== undefined) throw new Error(`the budget of ${record.id} is spent: ${spent}`);
  if (today !== undefined) throw new Error(`the budget of today is spent: ${today}`);
  for (;;) {
    const choice = loom.desk.choose(config.agents[stage]);
    if (choice.kind === "free") return choice.agent;
    await sleep(PLACE_LOOK_MS, undefined, { signal: call.signal });
  }
}

async function stopAgent(controller: AbortController, ended: LiveRun["ended"]): Promise<void> {
  controller.abort();
  await ended;
}

function limitsFor(config: PlanConfig, timeoutMs: number | undefined) {
  const { limits } = config;
  return {
    deadlineMs: Math.min(timeoutMs ?? limits.runTimeoutMs, limits.runTimeoutMs),
    silenceMs: limits.silenceTimeoutMs,
    maxOutputBytes: limits.maxOutputBytes,
    graceMs: limits.stopGraceMs,
  };
}

async function collect(loom: Loom, stream: AgentRun, runDir: string) {
  const log = openRunLog(runDir);
  const parts: string[] = [];
  let length = 0;
  let exit: Awaited<LiveRun["ended"]> = "interrupted";
  try {
    for await (const event of stream) {
      log.add(event, loom.clock.now());
      if (event.type === "text" && length < MOST_ANSWER) {
        parts.push(event.text);
        length += event.text.length;
      }
      if (event.type === "done") exit = event.exit;
    }
  } finally {
    log.close();
  }
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
