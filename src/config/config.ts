import type * as z from "zod";
import type { configSchema } from "./schema/schema.ts";

type Unchanging<T> = T extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Unchanging<T[Key]> }
    : T;

/** What `prloom/config.json` says, with defaults filled in and units resolved. */
export type Config = Unchanging<z.output<typeof configSchema>>;

export type AgentConfig = Config["agents"][string];
export type Budget = Config["limits"]["budget"];
export type Limits = Config["limits"];
export type ReviewSettings = Config["review"];

/** Plugins and bridges that are on. */
export type PluginEntry = Config["plugins"][number];
export type BridgeEntry = Config["bridges"][number];

/** What a preset or a plan says about limits. */
export type LimitsOverlay = Config["presets"][string]["limits"];

/** Limits with those of a preset or a plan laid over them. */
export function overlayLimits(under: Limits, over: LimitsOverlay): Limits {
  return {
    ...under,
    ...over,
    maxDeletions: { ...under.maxDeletions, ...over.maxDeletions },
    budget: { ...under.budget, ...over.budget },
    dailyBudget: { ...under.dailyBudget, ...over.dailyBudget },
  };
}
