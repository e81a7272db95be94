import { isDeepStrictEqual } from "node:util";
import type { BuiltinBridge } from "../../bridges/contract.ts";
import { type LoadedBridge, loadBridges } from "../../bridges/load.ts";
import { buildRegistry, type Registry } from "../../bridges/registry.ts";
import type { BridgeServices } from "../../bridges/services.ts";
import type { Config } from "../../config/config.ts";
import { allPlanModules, configForPlan, type PlanConfig } from "../../config/presets.ts";
import type { HookPoint } from "../../hooks/contexts/hook-types.ts";
import { type LoadedPlugin, loadPlugins } from "../../hooks/modules/load-plugins.ts";
import type { HookServices } from "../../hooks/services.ts";
import type { StateStores } from "../../hooks/state/state-stores.ts";
import type { PlanRecord } from "../../plan/record.ts";

/** The plugins and bridges of a repository, each loaded once, at the start. */
export interface Extensions {
  readonly globalPlugins: readonly LoadedPlugin[];
  readonly globalBridges: readonly LoadedBridge[];
  readonly registry: Registry;
  /** Those that a plan's preset leaves on, in order. */
  pluginsOf(record: PlanRecord): readonly LoadedPlugin[];
  bridgesOf(record: PlanRecord): readonly LoadedBridge[];
}

/** The same, for a process that may load them later; until then there are none. */
export interface HeldExtensions extends Extensions {
  take(loaded: Extensions): void;
}

/** Plugins and bridges, and what they are called with. A command that works without a dispatcher calls none. */
export interface Extended {
  readonly extensions: HeldExtensions;
  readonly stores: StateStores;
  readonly hookServices: HookServices;
  readonly bridgeServices: BridgeServices;
}

/** Nothing is configured, or nothing is to be called: commands that work without a dispatcher. */
const NO_EXTENSIONS: Extensions = {
  globalPlugins: [],
  globalBridges: [],
  registry: buildRegistry([]),
  pluginsOf: () => [],
  bridgesOf: () => [],
};

export function holdExtensions(): HeldExtensions {
  let held = NO_EXTENSIONS;
  return {
    get globalPlugins() {
      return held.globalPlugins;
    },
    get globalBridges() {
      return held.globalBridges;
    },
    get registry() {
      return held.registry;
    },
    pluginsOf: (record) => held.pluginsOf(record),
    bridgesOf: (record) => held.bridgesOf(record),
    take(loaded) {
      held = loaded;
    },
  };
}

/** A merge in a large repository takes its time, and nothing else waits for it. */
const BUILTIN_TIMEOUT_MS = 10 * 60_000;

interface Loaded<Entry, Thing> {
  readonly entry: Entry;
  readonly thing: Thing;
}

/** Imports every configured module; throws an error that names the first one that cannot be used. */
export async function loadExtensions(
  repoRoot: string,
  config: Config,
  builtin: readonly BuiltinBridge[],
): Promise<Extensions> {
  const modules = allPlanModules(config);
  const globalPlugins = await loadPlugins({ repoRoot, kind: "global", entries: config.globalPlugins });
  const planPlugins = await loadPlugins({ repoRoot, kind: "plan", entries: modules.plugins });
  const globalBridges = await loadBridges({ repoRoot, kind: "global", entries: config.globalBridges });
  const planBridges = await loadBridges({ repoRoot, kind: "plan", entries: modules.bridges });
  const own = builtin.map(
    (bridge): LoadedBridge => ({
      name: bridge.name,
      // One that looks for news does so for the repository.
      kind: bridge.events ? "global" : "builtin",
      bridge,
      config: {},
      timeoutMs: BUILTIN_TIMEOUT_MS,
      ...(bridge.pollEveryMs === undefined ? {} : { pollEveryMs: bridge.pollEveryMs }),
    }),
  );
  const plugins = pair(modules.plugins, planPlugins);
  const bridges = pair(modules.bridges, planBridges);
  return {
    globalPlugins,
    globalBridges: [...own.filter(({ kind }) => kind === "global"), ...globalBridges],
    registry: buildRegistry([...own, ...globalBridges, ...onePerName(planBridges)]),
    pluginsOf: byPreset(config, (planConfig) => chosen(plugins, planConfig.plugins)),
    bridgesOf: byPreset(config, (planConfig) => chosen(bridges, planConfig.bridges)),
  };
}

/** Asked at every look at a plan, and the same for all plans with one preset. */
function byPreset<T>(config: Config, choose: (planConfig: PlanConfig) => readonly T[]) {
  const known = new Map<string, readonly T[]>();
  return (record: PlanRecord): readonly T[] => {
    const preset = typeof record.metadata.preset === "string" ? record.metadata.preset : "";
    const found = known.get(preset);
    if (found) return found;
    const wished = configForPlan(config, preset === "" ? {} : { preset });
    // A preset that does not exist blocks its plan; until then it gets the plugins of plans without a preset, not none.
    const planConfig = wished.ok ? wished : configForPlan(config, {});
    const things = planConfig.ok ? choose(planConfig.config) : [];
    known.set(preset, things);
    return things;
  };
}

function pair<Entry, Thing>(entries: readonly Entry[], things: readonly Thing[]): Loaded<Entry, Thing>[] {
  return entries.flatMap((entry, index) => {
    const thing = things[index];
    return thing === undefined ? [] : [{ entry, thing }];
  });
}

function chosen<Entry, Thing>(loaded: readonly Loaded<Entry, Thing>[], wanted: readonly Entry[]): Thing[] {
  return wanted.flatMap((one) => loaded.find(({ entry }) => isDeepStrictEqual(entry, one))?.thing ?? []);
}

/** A preset may give a bridge other settings; its targets stay the ones of its name. */
function onePerName(bridges: readonly LoadedBridge[]): LoadedBridge[] {
  return [...new Map(bridges.map((bridge) => [bridge.name, bridge])).values()];
}

/** The plugins among these that have a hook. */
export function withHook(plugins: readonly LoadedPlugin[], point: HookPoint): LoadedPlugin[] {
  return plugins.filter((plugin) => plugin.hooks[point] !== undefined);
}
