import { configForPlan, type PlanConfig } from "../../config/presets.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { wishesOf } from "../../plan/metadata.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Configured } from "./pinned.ts";

export type WishedConfig = { ok: true; config: PlanConfig } | { ok: false; reason: string };

/** The config with the plan's preset and its own wishes laid over it, or why that cannot be. */
export function planConfig(loom: Configured, record: PlanRecord): WishedConfig {
  const { wishes, problems } = wishesOf(record.metadata);
  return problems[0] === undefined ? configForPlan(loom.config, wishes) : { ok: false, reason: problems[0] };
}

/** The same for those who cannot do without. */
export function requirePlanConfig(loom: Configured, record: PlanRecord): PlanConfig {
  const wished = planConfig(loom, record);
  if (wished.ok) return wished.config;
  const hint = "Fix prloom/config.json and run `prloom reload`; `prloom doctor` checks it.";
  throw new PrloomError("config-invalid", wished.reason, hint);
}
