import { join } from "node:path";
import { commandAdapter } from "../agents/command/adapter.ts";
import { agentEnvironment } from "../agents/environment.ts";
import type { LiveRun } from "../agents/port.ts";
import { probePidNamespace } from "../agents/runner.ts";
import type { PlanConfig } from "../config/presets.ts";
import type { AgentOptions } from "../hooks/context-types.ts";
import { isoTime } from "../kernel/clock.ts";
import { PrloomError } from "../kernel/errors.ts";
import { ensureDir, readTextNoFollow, writeRunFile } from "../kernel/files.ts";
import { type Loom, requireRecord } from "./loom.ts";
import { planConfig, worktreeOf } from "./observe.ts";
import { homeOf } from "./paths.ts";
import { refuseStart } from "./perform/interrupted.ts";

/** All files that a plugin puts below its prompt, together. */
const MOST_FILE_BYTES = 256 * 1024;
const MOST_ANSWER = 1024 * 1024;

export interface AgentCall {
  readonly prompt: string;
  readonly options: AgentOptions;
  readonly signal: AbortSignal;
}

/** Runs an agent for a hook, in the worktree of its plan, like any other run: through the shim, with the same limits. */
export async function runHookAgent(loom: Loom, planId: string, call: AgentCall): Promise<string> {
  const record = requireRecord(loom, planId);
  if (!record.worktreeReady) {
    throw new PrloomError(
      "plan-state",
      `${planId} has no worktree, so no agent can run for it.`,
      `\`prloom show ${planId}\` tells its state.`,
    );
  }
  const config = planConfig(loom, record);
  if (!config.ok) throw new PrloomError("config-invalid", config.reason, "Mend prloom/config.json.");
  const stage = call.options.stage ?? "reviewer";
  const agent = config.config.stages[stage];
  const worktree = worktreeOf(loom, record).path;
  const name = loom.ids.ulid(loom.clock.now());
  const runDir = join(homeOf(loom.paths, planId).runs, "hooks", name);
  const runId = `${record.uid}/hooks/${name}`;
  ensureDir(join(runDir, "agent"));
  writeRunFile(
    join(runDir, "run.json"),
    JSON.stringify({ stage, agent: agent.name, attempt: 1, startedAt: isoTime(loom.clock.now()) }),
  );
  const prompt = `${call.prompt}${filesBelow(worktree, call.options.files ?? [])}`;
  const pidNamespace = await probePidNamespace();
  refuseStart(loom, record);
  const controller = new AbortController();
  const signal = AbortSignal.any([call.signal, controller.signal]);
  const model = call.options.model ?? agent.model;
  const stream = commandAdapter(agent).start({
    stage,
    prompt,
    cwd: worktree,
    runDir,
    runId,
    ...(model === undefined ? {} : { model }),
    env: agentEnvironment(loom.environment, {
      vars: {
        PRLOOM_STAGE: stage,
        PRLOOM_PLAN_ID: planId,
        PRLOOM_WORKTREE: worktree,
        PRLOOM_RUN_DIR: join(runDir, "agent"),
        PRLOOM_RUN_ID: runId,
      },
      extra: agent.env,
      pass: agent.passEnv,
    }),
    limits: limitsFor(config.config, call.options.timeoutMs),
    pidNamespace,
    signal,
  });
  const answer = collect(stream);
  const ended = answer.then(({ exit }) => exit);
  const live: LiveRun = { runDir, ended, stop: () => stopAgent(controller, ended) };
  loom.commandRuns.set(live, planId);
  const { text, exit } = await answer.finally(() => loom.commandRuns.delete(live));
  if (exit === "interrupted") throw new Error("the agent was interrupted");
  if (exit.reason !== "exited")
    throw new Error(`the agent was ended (${exit.reason})${exit.error ? `: ${exit.error}` : ""}`);
  if (exit.code !== 0) throw new Error(`the agent ended with ${exit.code ?? exit.signal}; see ${runDir}`);
  return text;
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

async function collect(stream: ReturnType<ReturnType<typeof commandAdapter>["start"]>) {
  const parts: string[] = [];
  let length = 0;
  let exit: Awaited<LiveRun["ended"]> = "interrupted";
  for await (const event of stream) {
    if (event.type === "text" && length < MOST_ANSWER) {
      parts.push(event.text);
      length += event.text.length;
    }
    if (event.type === "done") exit = event.exit;
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
