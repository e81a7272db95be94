import { statSync } from "node:fs";
import { join } from "node:path";
import { adapterOf } from "../../agents/adapters.ts";
import { readSummary } from "../../agents/run-log/run-log.ts";
import { type RunLogSummary, spendingOf } from "../../agents/run-log/run-summary.ts";
import { readExit } from "../../agents/runner/run-exit.ts";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import type { Stage } from "../../config/agent-words.ts";
import type { PlanConfig } from "../../config/presets.ts";
import type { PlanRecord, Spent, StageSession } from "../../plan/record.ts";
import { homeOf, type Located } from "../paths.ts";
import { type Records, updateRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Pooled } from "./agent-pool.ts";
import { type RunRecord, readRunRecord, stageOf } from "./run-record.ts";

/**
 * A run is over, whole or cut off: what it spent and the conversation that can go on are put into the record, once. The
 * day's ledger comes first and knows the run by its key, so a kill in between counts nothing twice.
 */
export function countRun(loom: Located & Configured & Records & Pooled, id: string, run: number): RunLogSummary {
  const runDir = homeOf(loom.paths, id).run(run);
  const summary = readSummary(runDir);
  const started = readRunRecord(runDir);
  const record = loom.store.byId(id);
  if (!started || !record || record.deleted || (record.spent?.upTo ?? 0) >= run) return summary;
  const more = spentIn(loom, runDir, started);
  loom.pool.spend(`${record.uid}/${run}`, more);
  updateRecord(loom, id, (now) => ({
    spent: { ...plus(now.spent, more), upTo: run },
    sessions: sessionsAfter(now, started, summary),
  }));
  return summary;
}

/** The same for an agent that a plugin ran; if a kill comes first, the sums of plan and day lack this one. */
export function countHookRun(
  loom: Configured & Records & Pooled,
  id: string,
  { runDir, key }: { runDir: string; key: string },
): RunLogSummary {
  const summary = readSummary(runDir);
  const started = readRunRecord(runDir);
  const record = loom.store.byId(id);
  if (!started || !record || record.deleted) return summary;
  const more = spentIn(loom, runDir, started);
  loom.pool.spend(key, more);
  updateRecord(loom, id, (now) => ({ spent: plus(now.spent, more) }));
  return summary;
}

function spentIn(loom: Configured, runDir: string, started: RunRecord): { tokens: number; usd: number; ms: number } {
  const ms = Math.max(0, endOf(runDir, started) - Date.parse(started.startedAt));
  return { ...spendingOf(readSummary(runDir), loom.config.agents[started.agent]?.price), ms };
}

function plus(spent: PlanRecord["spent"], more: { tokens: number; usd: number; ms: number }): Spent {
  const { tokens = 0, usd = 0, ms = 0, runs = 0, upTo = 0 } = spent ?? {};
  return { tokens: tokens + more.tokens, usd: usd + more.usd, ms: ms + more.ms, runs: runs + 1, upTo };
}

/** Of a run that was cut off, the last sign of life is the best that is known. */
function endOf(runDir: string, started: RunRecord): number {
  const exit = readExit(runDir);
  if (exit) return Date.parse(exit.endedAt);
  const output = statSync(join(runDir, RUN_FILES.output), { throwIfNoEntry: false });
  return output?.mtimeMs ?? Date.parse(started.startedAt);
}

/** What the program does not know any more is forgotten; else the newest conversation of the stage is kept. */
function sessionsAfter(record: PlanRecord, started: RunRecord, summary: RunLogSummary): PlanRecord["sessions"] {
  const sessions = { ...record.sessions };
  const isLost = summary.errors.some(({ kind }) => kind === "session-lost");
  if (isLost) delete sessions[started.stage];
  if (summary.sessionId !== undefined && !isLost) {
    const about = started.about === undefined ? {} : { todoId: started.about };
    sessions[started.stage] = { agent: started.agent, id: summary.sessionId, ...about };
  }
  return Object.keys(sessions).length === 0 ? undefined : sessions;
}

/** The record's conversations without those that are over: no run must go on where nothing is left to go on with. */
export function withoutSessions(record: PlanRecord, stages: readonly Stage[]): Partial<PlanRecord> {
  const kept = Object.entries(record.sessions ?? {}).filter(([stage]) => !stages.some((one) => one === stage));
  return { sessions: kept.length === 0 ? undefined : Object.fromEntries(kept) };
}

/** A TODO is over: its conversations are, too, unless the worker's is meant to last as long as the plan. */
export function sessionsAfterTodo(loom: Configured, record: PlanRecord): Partial<PlanRecord> {
  const agent = record.sessions?.worker?.agent ?? "";
  const lasts = loom.config.agents[agent]?.session === "plan";
  return withoutSessions(record, lasts ? ["reviewer"] : ["worker", "reviewer"]);
}

/**
 * What a stage's conversation is about, whichever stage is at work: a TODO, the design, the events that triage was given.
 * So a conversation waits for its stage while another one works.
 */
export function conversationOf({ side, current }: PlanRecord, stage: Stage): string {
  if (stage === "designer") return "design";
  // Another tree is another thing to look at: the prompt brings its difference.
  if (stage === "reviewer") return `review/${current?.tree ?? side?.baseSha ?? ""}`;
  if (stage === "triage") return (side?.stage === "triage" ? side.events?.[0] : undefined) ?? "triage";
  return current?.todoId ?? "end";
}

/** Pure: the conversation that a run goes on with, if there is one that helps. */
export function sessionFor(
  record: PlanRecord,
  stage: Stage,
  agent: { readonly name: string; readonly session: "todo" | "plan" },
): StageSession | undefined {
  const session = record.sessions?.[stage];
  if (session?.agent !== agent.name) return undefined;
  if (stage === "worker" && agent.session === "plan") return session;
  return session.todoId === conversationOf(record, stage) ? session : undefined;
}

/** Whether the conversation of an interrupted run can go on, so that its tree must stay as it is. */
export function canGoOn(loom: Pooled, record: PlanRecord, config: PlanConfig): boolean {
  const stage = stageOf(record);
  const choice = loom.pool.choose(config.agents[stage], record.id);
  const agent = choice.kind === "free" ? choice.agent : config.stages[stage];
  return adapterOf(agent).resumes && sessionFor(record, stage, agent) !== undefined;
}
