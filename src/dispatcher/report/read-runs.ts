import type { RunExit } from "../../agents/port.ts";
import { readSummary } from "../../agents/run-log/run-log.ts";
import { type RunError, spendingOf } from "../../agents/run-log/run-summary.ts";
import { readExit } from "../../agents/runner/run-exit.ts";
import { listDir } from "../../kernel/files.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { keptNothingToChange } from "../enclosure/run-copy.ts";
import { homeOf, type Located } from "../paths.ts";
import { type RunRecord, readRunRecord } from "../runs/run-record.ts";
import type { Configured } from "../settings/pinned.ts";

/** A run of a plan, as it was started and as far as it has come. */
export interface RunSummary extends Omit<RunRecord, "messages"> {
  readonly run: number;
  readonly dir: string;
  readonly state: "ended" | "working" | "interrupted";
  readonly exit?: RunExit;
}

/** What a run did and cost, from its events. */
export interface RunTotals {
  readonly turns: number;
  /** Calls by the tool's name. */
  readonly tools: Readonly<Record<string, number>>;
  readonly failedTools: number;
  readonly models: readonly string[];
  readonly tokens: number;
  /** Absent when neither the program nor the config says what it cost. */
  readonly usd?: number;
  readonly errors: readonly RunError[];
  /** Why its TODO needed no change, where it said so. */
  readonly nothingToChange?: string;
}

/** The runs of a plan, oldest first. */
export function readRuns(loom: Located, { id, runs }: PlanRecord, working: boolean): RunSummary[] {
  const home = homeOf(loom.paths, id);
  const numbers = listDir(home.runs)
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => a - b);
  return numbers.flatMap((run): RunSummary[] => {
    const dir = home.run(run);
    const record = readRunRecord(dir);
    if (!record) return [];
    const { messages: _, ...started } = record;
    const exit = readExit(dir);
    const state = exit ? "ended" : working && run >= runs ? "working" : "interrupted";
    return [{ run, ...started, dir, state, ...(exit ? { exit } : {}) }];
  });
}

/** What one run did and cost. */
export function readTotals(loom: Configured, run: RunSummary): RunTotals {
  const summary = readSummary(run.dir);
  const { turns, tools, failedTools, models, errors } = summary;
  const price = loom.config.agents[run.agent]?.price;
  const { tokens, usd } = spendingOf(summary, price);
  const isPriced = price !== undefined || Object.values(models).some(({ costUsd }) => costUsd !== undefined);
  const cost = tokens > 0 && isPriced ? { usd } : {};
  const nothingToChange = keptNothingToChange(run.dir);
  const nothing = nothingToChange === undefined ? {} : { nothingToChange };
  return { turns, tools, failedTools, models: Object.keys(models), tokens, ...cost, errors, ...nothing };
}
