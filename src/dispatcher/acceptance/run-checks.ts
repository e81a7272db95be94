import { join } from "node:path";
import type { PlanConfig } from "../../config/presets.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { type CommandRunning, runCommand } from "../enclosure/command-run.ts";
import { homeOf } from "../paths.ts";
import type { RunVerdict } from "./judge-run.ts";

type FailedCheck = Extract<RunVerdict, { kind: "again" }>;

/** Undefined when all passed. */
export async function runChecks(
  loom: CommandRunning,
  record: PlanRecord,
  config: PlanConfig,
): Promise<FailedCheck | undefined> {
  const current = record.current;
  if (!current) return undefined;
  for (const [index, command] of config.checks.entries()) {
    loom.report({ planId: record.id, level: "info", text: `check: ${command}` });
    const runDir = join(homeOf(loom.paths, record.id).run(current.run), "checks", String(index));
    const outcome = await runCommand(loom, record, { command, runDir, env: config.stages.worker.env });
    if (!outcome.ok) return { kind: "again", missing: `A check failed. ${outcome.summary}` };
  }
  return undefined;
}
