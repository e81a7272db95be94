import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { commandAdapter } from "../agents/command/adapter.ts";
import { agentEnvironment } from "../agents/environment.ts";
import type { LiveRun } from "../agents/port.ts";
import { probePidNamespace } from "../agents/runner.ts";
import type { PlanConfig, PlanStage } from "../config/presets.ts";
import { type KeptTree, keepTree, restoreTree } from "../git/aside.ts";
import { branchTip } from "../git/repository.ts";
import { worktreeHealth } from "../git/worktrees.ts";
import type { AgentOptions } from "../hooks/context-types.ts";
import { isoTime } from "../kernel/clock.ts";
import { crashPoint } from "../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../kernel/errors.ts";
import { ensureDir, listDir, readTextIfExists, readTextNoFollow, writeRunFile } from "../kernel/files.ts";
import type { PlanRecord } from "../plan/record.ts";
import { blockPlan, type Loom, requireRecord } from "./loom.ts";
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

/** Agents that run or are about to, plugins' own included. */
export function agentsAtWork(loom: Loom, starting: Iterable<string> = []): number {
  let count = new Set([...loom.live.keys(), ...starting]).size;
  for (const agents of loom.hookAgents.values()) count += agents;
  return count;
}

/** Runs an agent for a hook, in the worktree of its plan, like any other run: through the shim, with the same limits. */
export async function runHookAgent(loom: Loom, planId: string, call: AgentCall): Promise<string> {
  const record = requireRecord(loom, planId);
  refuseWithoutWorktree(record);
  const config = planConfig(loom, record);
  if (!config.ok)
    throw new PrloomError("config-invalid", config.reason, "Mend prloom/config.json; `prloom doctor` checks it.");
  await worktreeIsFree(loom, planId, call.signal);
  // From now on neither the plan's own agent nor another plugin's starts in this worktree.
  loom.hookAgents.set(planId, 0);
  try {
    await placeForAgent(loom, planId, call.signal);
    return await inKeptTree(loom, record, { call, config: config.config });
  } finally {
    loom.hookAgents.delete(planId);
    loom.runEnded(planId);
  }
}

function refuseWithoutWorktree({ id, worktreeReady }: PlanRecord): void {
  if (worktreeReady) return;
  const hint = `\`prloom show ${id}\` tells the plan's state.`;
  throw new PrloomError("plan-state", `${id} has no worktree, so no agent can run for it.`, hint);
}

/** Two agents in one worktree would undo each other's work; a step of the plan must be over, too. */
async function worktreeIsFree(loom: Loom, planId: string, signal: AbortSignal): Promise<void> {
  const isTaken = (): boolean => loom.live.has(planId) || loom.hookAgents.has(planId) || loom.stepping.has(planId);
  while (isTaken()) await sleep(PLACE_LOOK_MS, undefined, { signal });
}

/** How often a place that is taken is looked at again; hooks have deadlines, and this time does not count. */
const PLACE_LOOK_MS = 250;

/** Counts as an agent at work only when there is a place: those that wait for one must not keep each other waiting. */
async function placeForAgent(loom: Loom, planId: string, signal: AbortSignal): Promise<void> {
  while (agentsAtWork(loom) >= loom.config.limits.maxRunningAgents) await sleep(PLACE_LOOK_MS, undefined, { signal });
  loom.hookAgents.set(planId, 1);
}

interface Planned {
  readonly call: AgentCall;
  readonly config: PlanConfig;
}

/** Only a worker may change files. What another stage changed is put aside, as after every designer and triage. */
async function inKeptTree(loom: Loom, record: PlanRecord, planned: Planned): Promise<string> {
  const stage = planned.call.options.stage ?? "reviewer";
  const name = loom.ids.ulid(loom.clock.now());
  const runDir = join(homeOf(loom.paths, record.id).runs, "hooks", name);
  if (stage === "worker") return runIn(loom, record, { ...planned, stage, name, runDir });
  const worktree = worktreeOf(loom, record);
  const { branch = "" } = record;
  const head = (await branchTip(loom.repo, branch)) ?? "";
  const kept = await keepTree(worktree, { branch, head, leaveOut: loom.config.copyFiles });
  ensureDir(runDir);
  writeRunFile(join(runDir, KEPT), JSON.stringify(kept));
  crashPoint("hook-agent:kept");
  try {
    return await runIn(loom, record, { ...planned, stage, name, runDir });
  } finally {
    await putBack(loom, record, { runDir, kept });
  }
}

/** What the worktree was before an agent of a plugin came; it is there until the worktree is put back. */
const KEPT = "kept.json";
const keptSchema = z.object({
  tree: z.string(),
  branch: z.string(),
  head: z.string(),
  leaveOut: z.array(z.string()),
});

interface Interrupted {
  readonly runDir: string;
  readonly kept: KeptTree;
}

/** What cannot be put back must not be committed with the next TODO: a person has to look first. */
async function putBack(loom: Loom, record: PlanRecord, { runDir, kept }: Interrupted): Promise<void> {
  const patch = join(runDir, "aside.patch");
  const isChanged = await restoreTree(worktreeOf(loom, record), kept, patch).catch((error: unknown) => {
    blockPlan(loom, record.id, {
      reason: `What a plugin's agent changed in ${record.worktree} could not be put back: ${messageOf(error)}`,
      hint: `Look there (\`git -C ${record.worktree} status\`), then run \`prloom unblock ${record.id}\`.`,
      cause: "step",
    });
    throw error;
  });
  crashPoint("hook-agent:restored");
  rmSync(join(runDir, KEPT), { force: true });
  if (isChanged)
    loom.report({ planId: record.id, level: "warn", text: `a plugin's agent changed files; put aside in ${patch}` });
}

/** A dispatcher was killed under an agent of a plugin: what that left in the worktree is put aside now. */
export async function putBackInterrupted(loom: Loom, record: PlanRecord): Promise<void> {
  const dir = join(homeOf(loom.paths, record.id).runs, "hooks");
  for (const name of listDir(dir)) {
    const runDir = join(dir, name);
    if (!existsSync(join(runDir, KEPT))) continue;
    try {
      await putBackOne(loom, record, runDir);
    } catch (error) {
      // It is this plan's alone; the others start.
      loom.report({ planId: record.id, level: "bad", text: `putting its worktree back failed: ${messageOf(error)}` });
    }
  }
}

/** The branch stays where it is: since the kill a person may have committed to it, and nobody can tell whose a commit is. */
async function putBackOne(loom: Loom, record: PlanRecord, runDir: string): Promise<void> {
  const kept = keptSchema.parse(JSON.parse(readTextIfExists(join(runDir, KEPT)) ?? ""));
  const isThere = record.worktreeReady && worktreeHealth(worktreeOf(loom, record)) === "ok";
  if (isThere && (await branchTip(loom.repo, kept.branch)) === kept.head)
    return putBack(loom, record, { runDir, kept });
  rmSync(join(runDir, KEPT), { force: true });
  if (!isThere) return;
  const text = `${kept.branch} moved since a plugin's agent was interrupted; what that left in ${record.worktree} stays there`;
  loom.report({ planId: record.id, level: "warn", text });
}

interface Prepared extends Planned {
  readonly stage: PlanStage;
  readonly name: string;
  readonly runDir: string;
}

async function runIn(loom: Loom, record: PlanRecord, prepared: Prepared): Promise<string> {
  const { call, config, stage, name, runDir } = prepared;
  const agent = config.stages[stage];
  const worktree = worktreeOf(loom, record).path;
  const runId = `${record.uid}/hooks/${name}`;
  ensureDir(join(runDir, "agent"));
  const startedAt = isoTime(loom.clock.now());
  writeRunFile(join(runDir, "run.json"), JSON.stringify({ stage, agent: agent.name, attempt: 1, startedAt }));
  const pidNamespace = await probePidNamespace();
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
  const stream = commandAdapter(agent).start({
    stage,
    prompt: `${call.prompt}${filesBelow(worktree, call.options.files ?? [])}`,
    cwd: worktree,
    runDir,
    runId,
    ...(model === undefined ? {} : { model }),
    env: agentEnvironment(loom.environment, { vars, extra: agent.env, pass: agent.passEnv }),
    limits: limitsFor(config, call.options.timeoutMs),
    pidNamespace,
    signal: AbortSignal.any([call.signal, controller.signal]),
  });
  const answer = collect(stream);
  const ended = answer.then(({ exit }) => exit);
  const live: LiveRun = { runDir, ended, stop: () => stopAgent(controller, ended) };
  loom.commandRuns.set(live, record.id);
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
