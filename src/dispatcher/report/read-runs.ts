import type { EnclosureLevel } from "../../agents/enclosure-level.ts";
import type { RunExit, Stage } from "../../agents/port.ts";
import { readSummary } from "../../agents/run-log/run-log.ts";
import { type RunError, spendingOf } from "../../agents/run-log/run-summary.ts";
import { readExit } from "../../agents/runner/run-exit.ts";
import { listDir } from "../../kernel/files.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { keptNothingToChange } from "../enclosure/run-copy.ts";
import { homeOf, type Located } from "../paths.ts";
import { readRunRecord } from "../runs/run-record.ts";
import type { Configured } from "../settings/pinned.ts";

/** A run of a plan, as it was started and as far as it has come. */
export interface RunSummary {
  readonly run: number;
  readonly stage: Stage;
  readonly agent: string;
  readonly attempt: number;
  readonly startedAt: string;
  /** How it was enclosed; absent for runs of versions that did not tell. */
  readonly level?: EnclosureLevel;
  readonly model?: string;
  /** It went on with this conversation. */
  readonly sessionId?: string;
  /** The TODO that it worked on, or what else its conversation is about. */
  readonly about?: string;
  /** It was to resolve the conflict of a rebase. */
  readonly resolves?: true;
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
export function readRuns(loom: Located, record: PlanRecord, working: boolean): RunSummary[] {
  const home = homeOf(loom.paths, record.id);
  const numbers = listDir(home.runs)
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => a - b);
  return numbers.flatMap((run) => {
    const dir = home.run(run);
    const started = readRunRecord(dir);
    if (!started) return [];
    const { stage, agent, attempt, startedAt, level, model, sessionId, about, resolves } = started;
    const exit = readExit(dir);
    const state = exit
      ? ("ended" as const)
      : working && run >= record.runs
        ? ("working" as const)
        : ("interrupted" as const);
    return [
      {
        run,
        stage,
        agent,
        attempt,
        startedAt,
        ...(level === undefined ? {} : { level }),
        ...(model === undefined ? {} : { model }),
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(about === undefined ? {} : { about }),
        ...(resolves ? { resolves } : {}),
        dir,
        state,
        ...(exit ? { exit } : {}),
      },
    ];
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
