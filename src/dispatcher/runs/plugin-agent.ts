import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isHost, withPolicy } from "../../agents/enclosure-level.ts";
import type { AgentEvent } from "../../agents/port.ts";
import { readUnstarted } from "../../agents/runner/runner.ts";
import type { Stage } from "../../config/agent-words.ts";
import type { PlanConfig, StageAgent } from "../../config/presets.ts";
import { branchTip } from "../../git/repository.ts";
import { changedNames, type KeptTree } from "../../git/worktree/snapshot.ts";
import type { AgentOptions } from "../../hooks/contexts/context-types.ts";
import { isoTime } from "../../kernel/clock.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import { readTextNoFollow } from "../../kernel/files.ts";
import { parsePlan } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Naming, Reporting, Stopping, Waking } from "../capabilities.ts";
import { clearEnclosure } from "../enclosure/enclose.ts";
import { removeView } from "../enclosure/run-view.ts";
import { requireEnforced } from "../gates/enforced.ts";
import type { Gated } from "../gates/gate-store.ts";
import { doorAt } from "../gates/plan-gate.ts";
import { type Governance, type GovernedRun, governRun, oursFor } from "../governing/governed.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { planText, type Records, refuseUnrecovered, requireRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { requirePlanConfig } from "../settings/plan-config.ts";
import { endVisit, keepNow, noteVisit } from "../worktree/set-aside.ts";
import type { Pooled } from "./agent-pool.ts";
import { isRefusal, NOTHING_SPENT, overBudget } from "./availability.ts";
import { countHookRun } from "./count-run.ts";
import { runLimits } from "./follow.ts";
import type { AtWork } from "./occupancy.ts";
import { writeRunRecord } from "./run-record.ts";
import { encloseAgent, prepareStart } from "./start-agent.ts";

/** All files that a plugin puts below its prompt, together. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_ANSWER = 1024 * 1024;

export interface AgentCall {
  readonly prompt: string;
  readonly options: AgentOptions;
  readonly signal: AbortSignal;
}

/** Runs an agent for a plugin, in the worktree of its plan, like any other run: through the shim, with the same limits. */
export async function runPluginAgent(
  loom: Located & Naming & Configured & Records & Gated & Pooled & AtWork & Reporting & Stopping & Waking,
  planId: string,
  call: AgentCall,
): Promise<string> {
  const record = requireRecord(loom, planId);
  refuseWithoutWorktree(record);
  refuseUnrecovered(loom, planId);
  requirePlanConfig(loom, record);
  // From then on neither the plan's own agent nor another plugin's starts in this worktree.
  const leave = await loom.occupancy.enterWhenFree(planId, "plugin-agent", call.signal);
  try {
    for (;;) {
      // What the plan is by now: it may have waited for long.
      const now = requireRecord(loom, planId);
      const config = requirePlanConfig(loom, now);
      if (call.options.stage === "worker") refuseUnapproved(loom, now, config);
      const answer = await inKeptTree(loom, record, { call, config });
      if (answer !== NEW_RULES) return answer;
    }
  } finally {
    leave();
    loom.runEnded(planId);
  }
}

/** In place of an answer: the rules that the run had are not those of the config any more. The plugin waits for one that has these. */
const NEW_RULES = Symbol("new rules");
type AgentAnswer = string | typeof NEW_RULES;

function refuseWithoutWorktree({ id, worktreeReady }: PlanRecord): void {
  if (worktreeReady) return;
  const hint = `\`prloom show ${id}\` tells the plan's state.`;
  throw new PrloomError("plan-state", `${id} has no worktree, so no agent can run for it.`, hint);
}

/** Only a worker may change files, and only for a plan that was approved. */
function refuseUnapproved(loom: Located & Records & Gated, record: PlanRecord, config: PlanConfig): void {
  if (doorAt(loom, record, planText(loom, record), config).kind === "open") return;
  const hint = `\`prloom approve ${record.id}\` approves the plan; until then an agent of another stage may run.`;
  throw new PrloomError("plan-state", `${record.id} is not approved, so no agent may change files for it.`, hint);
}

interface Planned {
  readonly call: AgentCall;
  readonly config: PlanConfig;
}

/** Only a worker may change files. What another stage changed is put aside, as after every designer and triage. */
async function inKeptTree(
  loom: Located & Naming & Configured & Records & Gated & Pooled & AtWork & Reporting & Stopping,
  record: PlanRecord,
  planned: Planned,
): Promise<AgentAnswer> {
  const stage = planned.call.options.stage ?? "reviewer";
  const name = loom.ids.ulid(loom.clock.now());
  const runDir = join(homeOf(loom.paths, record.id).runs, "hooks", name);
  const head = (await branchTip(loom.repo, record.branch ?? "")) ?? "";
  const kept = await keepNow(loom, record, head);
  const coming = { ...planned, stage, runDir, runId: `${record.uid}/hooks/${name}` };
  if (stage === "worker") {
    const answer = await runIn(loom, record, coming).catch(async (error: unknown) => {
      // Perhaps half of what it was to do: told all the more. Why it ended counts, whatever becomes of telling.
      await tellLeft(loom, record, kept).catch((failure: unknown) => {
        const text = `what a plugin's agent left could not be looked at: ${messageOf(failure)}`;
        loom.report({ planId: record.id, level: "warn", text });
      });
      throw error;
    });
    await tellLeft(loom, record, kept);
    return answer;
  }
  noteVisit({ runDir, kept });
  try {
    return await runIn(loom, record, stage === "reviewer" ? { ...coming, tree: kept.tree } : coming);
  } finally {
    // The worktree first: a view that cannot be removed must not keep what the agent changed.
    await endVisit(loom, record, { runDir, kept });
    await removeView(runDir);
  }
}

/** Names that one line tells. */
const MAX_NAMES = 5;

/** A worker's changes stay, and the next commit of the plan takes them: people should not wonder where they came from. */
async function tellLeft(loom: Located & Configured & Reporting, record: PlanRecord, before: KeptTree): Promise<void> {
  const after = await keepNow(loom, record, before.head);
  const names = await changedNames(worktreeOf(loom, record), before.tree, after.tree);
  if (names.length === 0) return;
  const shown = names.slice(0, MAX_NAMES).join(", ");
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  const text = `a plugin's agent left changes uncommitted: ${shown}${more}; the plan's next commit takes them`;
  loom.report({ planId: record.id, level: "warn", text });
}

interface Coming extends Planned {
  readonly stage: Stage;
  readonly runDir: string;
  readonly runId: string;
  /** What it is to see instead of the worktree. */
  readonly tree?: string;
}

/** Runs the agent in the worktree that is kept free for it, and gives back what it said. */
async function runIn(
  loom: Located & Configured & Records & Gated & Pooled & AtWork & Reporting & Stopping,
  record: PlanRecord,
  coming: Coming,
): Promise<AgentAnswer> {
  const { agent, over } = await agentFor(loom, record, coming);
  try {
    return await runAs(loom, record, { ...coming, agent });
  } finally {
    over();
  }
}

async function runAs(
  loom: Located & Configured & Records & Gated & Pooled & AtWork & Reporting & Stopping,
  record: PlanRecord,
  { call, config, stage, runDir, runId, agent, tree }: Coming & { readonly agent: StageAgent },
): Promise<AgentAnswer> {
  const worktree = worktreeOf(loom, record).path;
  const { options } = call;
  const rules = loom.config.governance;
  if (config.gated) await requireEnforced(loom.config, { [agent.name]: agent });
  const enclosing = { agent, runDir, use: stage, ...(tree === undefined ? {} : { tree }), ...oursFor(agent, runDir) };
  const enclosure = await encloseAgent(loom, record, enclosing);
  const vars = {
    PRLOOM_STAGE: stage,
    PRLOOM_PLAN_ID: record.id,
    PRLOOM_WORKTREE: worktree,
    PRLOOM_RUN_DIR: join(runDir, "agent"),
  };
  const governance = await governPluginRun(loom, record, { adapter: agent.adapter, stage, runDir, enclosure, vars });
  const level = governance ? withPolicy(enclosure.level) : enclosure.level;
  const startedAt = isoTime(loom.clock.now());
  writeRunRecord(runDir, { stage, agent: agent.name, attempt: 1, startedAt, level });
  const limits = runLimits(loom, record.id, config.limits);
  const answer = collectText();
  const launch = await prepareStart(loom, record, {
    ...{ kind: "plugin-agent", stage, agent, runDir, runId, enclosure, ...governance, vars },
    prompt: `${call.prompt}${filesBelow(worktree, options.files ?? [])}`,
    model: options.model ?? agent.model,
    limits: { ...limits, deadlineMs: Math.min(options.timeoutMs ?? limits.deadlineMs, limits.deadlineMs) },
    budgets: config.limits,
    signal: call.signal,
    hear: answer.hear,
    onEnd() {
      const { trouble } = readUnstarted(runDir) ? {} : countHookRun(loom, record.id, { runDir, key: runId });
      if (trouble && isRefusal(trouble)) loom.pool.refused(agent.name, { ...trouble, planId: record.id });
    },
  });
  const hasNewRules = (): boolean => governance !== undefined && !isDeepStrictEqual(rules, loom.config.governance);
  if (hasNewRules()) {
    await clearEnclosure(runDir);
    return NEW_RULES;
  }
  const exit = await launch();
  if (exit === "interrupted" && !call.signal.aborted && hasNewRules()) return NEW_RULES;
  const unstarted = exit === "interrupted" ? readUnstarted(runDir) : undefined;
  if (unstarted) throw unstarted;
  if (exit === "interrupted") throw new Error("the agent was interrupted");
  if (exit.reason !== "exited")
    throw new Error(`the agent was ended (${exit.reason})${exit.error ? `: ${exit.error}` : ""}`);
  if (exit.code !== 0) throw new Error(`the agent ended with ${exit.code ?? exit.signal}; see ${runDir}`);
  return answer.text();
}

/** Judged like every other run, by the plan as it is now; undefined for a program that takes no part of ours. */
async function governPluginRun(
  loom: Located & Configured & Records & Gated,
  { id }: PlanRecord,
  run: Omit<GovernedRun, "text" | "isOfPlugin">,
): Promise<Governance | undefined> {
  if (!isHost(run.adapter)) return undefined;
  const record = requireRecord(loom, id);
  const text = planText(loom, record) ?? { text: "", doc: parsePlan("") };
  return governRun(loom, record, { ...run, text, isOfPlugin: true });
}

/** So long a plugin waits for an agent: providers that say no may do so for hours. */
const MAX_WAIT_MS = 5 * 60_000;

interface TakenAgent {
  readonly agent: StageAgent;
  over(): void;
}

/**
 * Waits for a place and for an agent of the stage, and takes both at once: what waits for one must not keep the other.
 * Waiting does not help where a budget is spent.
 */
async function agentFor(
  loom: Configured & Records & Pooled,
  record: PlanRecord,
  { call, config, stage }: Coming,
): Promise<TakenAgent> {
  const until = loom.clock.now() + MAX_WAIT_MS;
  for (;;) {
    refuseSpent(loom, record.id, config);
    const choice = loom.pool.choose(config.agents[stage], record.id);
    const isFull = loom.pool.atWork() >= loom.config.limits.maxRunningAgents;
    if (choice.kind === "free" && !isFull) return { agent: choice.agent, over: loom.pool.started(choice.agent.name) };
    if (choice.kind === "away" && Math.max(choice.until, loom.clock.now()) > until)
      throw new Error(`no agent can be started: ${choice.why}`);
    await loom.pool.changed(choice.kind === "free" ? undefined : choice.until, call.signal);
  }
}

function refuseSpent(loom: Records & Pooled, planId: string, { limits }: PlanConfig): void {
  const spent = overBudget(requireRecord(loom, planId).spent ?? NOTHING_SPENT, limits.budget);
  const today = overBudget(loom.pool.today(), limits.dailyBudget);
  if (spent !== undefined) throw new Error(`the budget of ${planId} is spent: ${spent}`);
  if (today !== undefined) throw new Error(`the budget of today is spent: ${today}`);
}

/** What the agent says, up to a length. */
function collectText(): { hear(event: AgentEvent): void; text(): string } {
  const parts: string[] = [];
  let length = 0;
  return {
    hear(event) {
      if (event.type !== "text" || length >= MAX_ANSWER) return;
      parts.push(event.text);
      length += event.text.length;
    },
    text: () => parts.join("\n"),
  };
}

/** Read without following links: a plugin passes on names that may come from an agent. */
function filesBelow(worktree: string, files: readonly string[]): string {
  let left = MAX_FILE_BYTES;
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
