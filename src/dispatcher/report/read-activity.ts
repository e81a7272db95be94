import { statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import {
  type Activity,
  type ActivityEvidence,
  eventEvidence,
  judgeActivity,
  lastAction,
  type ObservedRun,
  type Rest,
} from "../../agents/activity.ts";
import { readEvents } from "../../agents/run-log/run-log.ts";
import { readExit } from "../../agents/runner/run-exit.ts";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import type { Limits } from "../../config/config.ts";
import { isoTime } from "../../kernel/clock.ts";
import { readChecked } from "../../kernel/json-files.ts";
import { isAlive } from "../../kernel/system/process-tree.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Timing } from "../capabilities.ts";
import { homeOf, type Located } from "../paths.ts";
import { readRunRecord, stageOf } from "../runs/run-record.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";

/** What the agent of a plan is doing, and in which of its runs. */
export interface PlanActivity extends Activity {
  readonly run: number;
  readonly agent: string;
  /** What it did last, or does now; the agent's own words. */
  readonly last?: string;
  /** It resolves the conflict of a rebase. */
  readonly resolves?: true;
}

/** Judges the run that a plan is at; undefined for a plan that is at none. */
export function readActivity(
  loom: Located & Timing & Configured,
  record: PlanRecord,
  dispatcher: boolean,
): PlanActivity | undefined {
  const judged = judgedRun(loom, record);
  if (!judged || record.deleted || record.status === "done") return undefined;
  const config = planConfig(loom, record);
  const limits = config.ok ? config.config.limits : loom.config.limits;
  const run = runEvidence(homeOf(loom.paths, record.id).run(judged.run), limits, judged.accepted);
  if (!run) return undefined;
  const rest = restOf(record);
  const evidence: ActivityEvidence = {
    run,
    dispatcher,
    silenceMs: limits.silenceTimeoutMs,
    ...(rest === undefined ? {} : { rest }),
  };
  const last = lastAction(run.events);
  return {
    ...judgeActivity(evidence, loom.clock.now()),
    run: judged.run,
    agent: run.agent,
    ...(last === undefined ? {} : { last }),
    ...(run.resolves ? { resolves: true } : {}),
  };
}

/** The run that the record is at or, as long as that has not begun, the attempt before it that came to nothing. */
function judgedRun(loom: Located, record: PlanRecord): { run: number; accepted: false | undefined } | undefined {
  const at = record.side ?? record.current;
  if (!at) return undefined;
  const home = homeOf(loom.paths, record.id);
  if (readRunRecord(home.run(at.run))) {
    return { run: at.run, accepted: record.blocked?.cause === "step" ? false : undefined };
  }
  // A run that was interrupted, refused by its provider or sent back by the reviewer was not an attempt that failed.
  const before = readRunRecord(home.run(at.run - 1));
  if (before?.stage !== stageOf(record) || at.missing === undefined) return undefined;
  // An agent that was given up starts counting from zero.
  const isGivenUp = record.blocked?.cause === "step" && at.attempt === 1;
  return before.attempt < at.attempt || isGivenUp ? { run: at.run - 1, accepted: false } : undefined;
}

function restOf(record: PlanRecord): Rest | undefined {
  if (record.opened) return "opened";
  if (record.blocked) return "blocked";
  if (record.paused) return "paused";
  return record.hidden ? "hidden" : undefined;
}

/** Enough for what an agent did last; the whole file may have megabytes, and `status` has to be quick. */
const TAIL_BYTES = 64 * 1024;

function runEvidence(
  runDir: string,
  limits: Limits,
  accepted: false | undefined,
): (ObservedRun & { readonly resolves: boolean }) | undefined {
  const started = readRunRecord(runDir);
  if (!started) return undefined;
  const { stage, agent, startedAt, resolves = false } = started;
  const exit = readExit(runDir);
  const output = statSync(join(runDir, RUN_FILES.output), { throwIfNoEntry: false });
  return {
    stage,
    agent,
    startedAt,
    resolves,
    process: processState(runDir),
    ...(output && output.size > 0 ? { lastOutputAt: isoTime(output.mtimeMs) } : {}),
    isCut: (output?.size ?? 0) > limits.maxOutputBytes,
    events: eventEvidence(readEvents(runDir, TAIL_BYTES)),
    ...(exit ? { exit } : {}),
    ...(accepted === undefined ? {} : { accepted }),
  };
}

const processSchema = z.object({ pid: z.int(), startTicks: z.number(), bootId: z.string() });

function processState(runDir: string): ObservedRun["process"] {
  const identity = readChecked(join(runDir, RUN_FILES.process), processSchema);
  if (!identity) return "unknown";
  return isAlive(identity) ? "alive" : "gone";
}
