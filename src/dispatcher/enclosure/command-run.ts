import { existsSync } from "node:fs";
import { agentEnvironment } from "../../agents/environment.ts";
import type { Invocation, RunExit } from "../../agents/port.ts";
import { endSurvivors, outputTail, readUnstarted, startRun } from "../../agents/runner/runner.ts";
import { repairGitFile } from "../../git/worktree/repair.ts";
import { removeTree } from "../../kernel/removal/remove-tree.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Naming, Reporting, Stopping } from "../capabilities.ts";
import { type Located, worktreeOf } from "../paths.ts";
import type { Records } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { refuseStart, StepInterrupted } from "../runs/refuse-start.ts";
import { addStranded, giveUpOnStranded } from "../runs/stranded.ts";
import type { Configured } from "../settings/pinned.ts";
import { requirePlanConfig } from "../settings/plan-config.ts";
import { requireLinePinned } from "../settings/require-pinned.ts";
import { portVariables } from "../worktree/ports.ts";
import { clearEnclosure, type Enclosure, enclose } from "./enclose.ts";

/** What running a command of the user takes. */
export type CommandRunning = Located & Naming & Configured & Records & AtWork & Reporting & Stopping;

export interface CommandOutcome {
  readonly ok: boolean;
  /** What failed and the end of the output, for people and for the next prompt. */
  readonly summary: string;
}

const TAIL_BYTES = 8 * 1024;

/**
 * Runs one of the user's commands (a check, an initCommand) in the worktree, in the agent's sandbox and environment: what an
 * agent wrote there must never run with more than the agent has. But in a home of its own, which no agent prepared.
 */
export async function runCommand(
  loom: CommandRunning,
  record: PlanRecord,
  options: { command: string; runDir: string; env: Readonly<Record<string, string>> },
): Promise<CommandOutcome> {
  const { command, runDir, env } = options;
  requireLinePinned(loom, command);
  const ended = await runEnclosed(loom, record, { invocation: { shell: command }, runDir, env: () => env });
  if (ended === "interrupted") throw new StepInterrupted(`${command} was interrupted`);
  if (ended.reason === "exited" && ended.code === 0) return { ok: true, summary: "" };
  return { ok: false, summary: `\`${command}\` ${howItEnded(ended)}.${endOfOutput(runDir)}` };
}

/** In words: with what a command ended, or why it was ended. */
export function howItEnded(exit: RunExit): string {
  if (exit.reason === "exited") return `ended with ${exit.code ?? exit.signal}`;
  return `was ended (${exit.reason}${exit.error === undefined ? "" : `: ${exit.error}`})`;
}

/** The end of what a run printed, as a paragraph; "" when it printed nothing. */
export function endOfOutput(runDir: string): string {
  const tail = outputTail(runDir, TAIL_BYTES).trimEnd();
  return tail === "" ? "" : `\nThe end of its output:\n${tail}`;
}

export interface EnclosedCommand {
  readonly invocation: Invocation;
  readonly runDir: string;
  /** Its own variables; they may depend on how it is enclosed. */
  env(enclosure: Enclosure): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}

/**
 * Runs a program in the worktree as the worker's agent would run it, and leaves its output in `runDir`. Throws when the system
 * had nothing left to start it with: then it waits.
 */
export async function runEnclosed(
  loom: CommandRunning,
  record: PlanRecord,
  command: EnclosedCommand,
): Promise<RunExit | "interrupted"> {
  const { runDir } = command;
  const { stopGraceMs: graceMs, checkTimeoutMs, maxOutputBytes, maxProcesses } = loom.config.limits;
  if (existsSync(runDir)) {
    await endSurvivors(runDir, { graceMs });
    await removeTree(runDir);
  }
  const worktree = worktreeOf(loom, record);
  const runId = `${record.uid}/${runDir.split("/runs/").at(-1)}/${loom.ids.random(4)}`;
  await repairGitFile(worktree);
  const enclosure = await enclose(loom, record, {
    agent: requirePlanConfig(loom, record).stages.worker,
    runDir,
    use: "checks",
  });
  try {
    const own = agentEnvironment(loom.environment, { vars: {}, extra: await command.env(enclosure) });
    refuseStart(loom, record);
    const run = startRun({
      shims: loom.shims,
      wrapper: enclosure.wrapper,
      runDir,
      runId,
      cwd: worktree.path,
      invocation: command.invocation,
      stdin: "",
      env: { ...overlaid(own, enclosure.env), ...portVariables(record), PRLOOM_RUN_ID: runId },
      limits: { deadlineMs: checkTimeoutMs, silenceMs: checkTimeoutMs, maxOutputBytes, maxProcesses, graceMs },
    });
    let isStopped = false;
    const stop = (): void => {
      isStopped = true;
    };
    const leave = loom.occupancy.enter(record.id, "command", { run, stop });
    const ended = await run.ended.finally(leave);
    const unstarted = ended === "interrupted" ? readUnstarted(runDir) : undefined;
    if (unstarted) throw unstarted;
    if (ended === "interrupted" && !isStopped) {
      addStranded(loom, record.id);
      giveUpOnStranded(loom, record.id, runDir);
      const text = "a command of its config was interrupted, though nothing stopped it; it is run again";
      loom.report({ planId: record.id, level: "warn", text });
    }
    return ended;
  } finally {
    await clearEnclosure(runDir);
  }
}

/** An environment with what an enclosure says laid over it. */
export function overlaid(env: Readonly<Record<string, string>>, over: Environment): Record<string, string> {
  const entries = Object.entries({ ...env, ...over });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
