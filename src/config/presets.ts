import { isDeepStrictEqual } from "node:util";
import { ownValue } from "../kernel/json-fields.ts";
import { STAGES, type Stage } from "./agent-words.ts";
import { raisedLimit } from "./compare.ts";
import {
  type AgentConfig,
  type BridgeEntry,
  type Config,
  type Limits,
  overlayLimits,
  type PluginEntry,
  type ReviewSettings,
} from "./config.ts";
import type { Category } from "./governance-words.ts";
import { didYouMean } from "./problems/nearest.ts";
import { knownKeys } from "./schema/json-schema.ts";
import { limitsOverlaySchema } from "./schema/limits-schema.ts";

/** What a plan may say about how it is worked on. */
export interface PlanWishes {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly preset?: string | undefined;
  /** Written as in the config file: `{"runTimeout": "30m"}`. */
  readonly limits?: unknown;
  /** Switched on; a plan cannot switch them off. */
  readonly gate?: true | undefined;
  readonly prGate?: true | undefined;
  readonly category?: Category | undefined;
}

export type StageAgent = AgentConfig & { readonly name: string };

export interface PlanConfig {
  /** The agent that each stage would rather have. */
  readonly stages: Readonly<Record<Stage, StageAgent>>;
  /** All agents of each stage, in the order in which they are tried. */
  readonly agents: Readonly<Record<Stage, readonly StageAgent[]>>;
  readonly review: ReviewSettings;
  /** A person approves the plan before it is implemented. */
  readonly gated: boolean;
  /** A person approves the change before it is marked ready and merged. */
  readonly prGated: boolean;
  readonly checks: readonly string[];
  readonly limits: Limits;
  /** Those that are on for this plan, in order. */
  readonly plugins: readonly PluginEntry[];
  readonly bridges: readonly BridgeEntry[];
}

export type PlanConfigOutcome =
  | { readonly ok: true; readonly config: PlanConfig }
  | { readonly ok: false; readonly reason: string };

type RefusedPreset = { readonly ok: false; readonly reason: string };

const refuse = (reason: string): RefusedPreset => ({ ok: false, reason });
function lowered(allowed: Limits, wished: unknown): { ok: true; limits: Limits } | RefusedPreset {
  if (wished === undefined) return { ok: true, limits: allowed };
  const parsed = limitsOverlaySchema.safeParse(wished);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    if (issue?.code === "unrecognized_keys") {
      const key = issue.keys[0] ?? "";
      const guess = didYouMean(key, knownKeys(["limits", ...issue.path]));
      return refuse(`limits.${[...issue.path, key].join(".")}: unknown key${guess}`);
    }
    return refuse(`${["limits", ...(issue?.path ?? [])].join(".")}: ${issue?.message}`);
  }
  const limits = overlayLimits(allowed, parsed.data);
  const raised = raisedLimit(allowed, limits);
  if (raised === undefined) return { ok: true, limits };
  const numbers = `${raised.to} is more than the ${raised.from} that the config allows`;
  return refuse(`${raised.key}: ${numbers}; a plan may only lower it`);
}

/** The config for one plan: defaults, file, preset, then the plan's own wishes. A refusal is why the plan is blocked. */
export function configForPlan(config: Config, wishes: PlanWishes): PlanConfigOutcome {
  const preset = wishes.preset === undefined ? undefined : ownValue(config.presets, wishes.preset);
  if (wishes.preset !== undefined && preset === undefined) {
    const guess = didYouMean(wishes.preset, Object.keys(config.presets));
    return refuse(`there is no preset called "${wishes.preset}"${guess}`);
  }
  const agents = { ...config.agents, ...preset?.agents };
  const limits = lowered(overlayLimits(config.limits, preset?.limits ?? {}), wishes.limits);
  if (!limits.ok) return limits;
  const stages: Partial<Record<Stage, StageAgent>> = {};
  const all: Partial<Record<Stage, StageAgent[]>> = {};
  for (const stage of STAGES) {
    // A preset's default is newer than the file's choice for one stage, and wins over it.
    const chosen = preset?.stages[stage] ?? preset?.stages.default ?? config.stages[stage] ?? config.stages.default;
    const names = wishes.agent === undefined ? chosen : [wishes.agent];
    const found: StageAgent[] = [];
    for (const name of names) {
      const agent = ownValue(agents, name);
      if (agent === undefined) {
        return refuse(`there is no agent called "${name}"${didYouMean(name, Object.keys(agents))}`);
      }
      found.push({ name, ...agent, ...(wishes.model === undefined ? {} : { model: wishes.model }) });
    }
    all[stage] = found;
    stages[stage] = found[0]!;
  }
  const { checks = config.checks, plugins = config.plugins, bridges = config.bridges } = preset ?? {};
  return {
    ok: true,
    config: {
      stages: stages as Record<Stage, StageAgent>,
      agents: all as Record<Stage, StageAgent[]>,
      review: preset?.review ?? config.review,
      gated: config.gates.plan || preset?.gates?.plan === true || wishes.gate === true,
      prGated: config.gates.pr || preset?.gates?.pr === true || wishes.prGate === true,
      checks,
      limits: limits.limits,
      plugins,
      bridges,
    },
  };
}

function distinct<Entry>(entries: readonly Entry[]): Entry[] {
  return entries.filter((entry, index) => entries.findIndex((other) => isDeepStrictEqual(other, entry)) === index);
}

/** Every plugin and bridge that some plan may get, from the file and all presets; the same entry is there once. */
export function allPlanModules(config: Config): { plugins: PluginEntry[]; bridges: BridgeEntry[] } {
  const scopes = [config, ...Object.values(config.presets)];
  return {
    plugins: distinct(scopes.flatMap(({ plugins }) => plugins)),
    bridges: distinct(scopes.flatMap(({ bridges }) => bridges)),
  };
}
