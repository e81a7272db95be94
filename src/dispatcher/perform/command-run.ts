import { existsSync, rmSync } from "node:fs";
import { agentEnvironment } from "../../agents/environment.ts";
import { endSurvivors, outputTail, probePidNamespace, startRun } from "../../agents/runner.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Loom } from "../loom.ts";
import { worktreeOf } from "../observe.ts";
import { refuseStart, StepInterrupted } from "./interrupted.ts";

export interface CommandOutcome {
  readonly ok: boolean;
  /** What failed and the end of the output, for people and for the next prompt. */
  readonly summary: string;
}

const TAIL_BYTES = 8 * 1024;

/**
 * Runs one of the user's commands (a check, an initCommand) in the worktree with the agent's environment: what an agent
 * wrote there must never run with more than the agent has.
 */
export async function runCommand(
  loom: Loom,
  record: PlanRecord,
  options: { command: string; runDir: string; env: Readonly<Record<string, string>> },
): Promise<CommandOutcome> {
  const { command, runDir } = options;
  const graceMs = loom.config.limits.stopGraceMs;
  if (existsSync(runDir)) {
    await endSurvivors(runDir, { graceMs });
    rmSync(runDir, { recursive: true, force: true });
  }
  const runId = `${record.uid}/${runDir.split("/runs/").at(-1)}/${loom.ids.random(4)}`;
  const pidNamespace = await probePidNamespace();
  refuseStart(loom, record);
  const run = startRun({
    pidNamespace,
    runDir,
    runId,
    cwd: worktreeOf(loom, record).path,
    invocation: { shell: command },
    stdin: "",
    env: { ...agentEnvironment(loom.environment, { vars: {}, extra: options.env }), PRLOOM_RUN_ID: runId },
    limits: {
      deadlineMs: loom.config.limits.checkTimeoutMs,
      silenceMs: loom.config.limits.checkTimeoutMs,
      maxOutputBytes: loom.config.limits.maxOutputBytes,
      graceMs,
    },
  });
  loom.commandRuns.set(run, record.id);
  const exit = await run.ended.finally(() => loom.commandRuns.delete(run));
  if (exit === "interrupted") throw new StepInterrupted(`${command} was interrupted`);
  if (exit.reason === "exited" && exit.code === 0) return { ok: true, summary: "" };
  const how = exit.reason === "exited" ? `ended with ${exit.code ?? exit.signal}` : `was ended (${exit.reason})`;
  const tail = outputTail(runDir, TAIL_BYTES).trimEnd();
  return { ok: false, summary: `\`${command}\` ${how}.${tail === "" ? "" : `\nThe end of its output:\n${tail}`}` };
}
