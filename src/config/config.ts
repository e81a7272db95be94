import { type BridgeEntry, enabledModules, overlayModules, type PluginEntry } from "./modules.ts";
import type { NotifyChannel, NotifyFile } from "./schema/notify-schema.ts";
import type { ADAPTERS, AgentFile, BusFile, ConfigFile, LimitsFile, PresetFile } from "./schema/schema.ts";
import type { Trigger } from "./schema/trigger-schema.ts";
import { parseDuration, parseSize } from "./schema/units.ts";

export interface AgentConfig {
  readonly adapter: (typeof ADAPTERS)[number];
  /** The program; its own name where the adapter knows it. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Names of variables that are passed on: secrets are named, never written down. */
  readonly passEnv: readonly string[];
  readonly model?: string;
  readonly sandbox: "auto" | "bwrap" | "none";
  /** Below the user's home, and readable in the sandbox all the same. */
  readonly readable: readonly string[];
  /** Below its private home, and kept from one run to the next. */
  readonly keeps: readonly string[];
  readonly projectSettings: boolean;
  readonly session: "todo" | "plan";
  readonly maxRunning?: number;
  /** US dollars for a million tokens. */
  readonly price?: { readonly input: number; readonly output: number };
}

export interface Budget {
  readonly tokens?: number;
  readonly usd?: number;
  readonly minutes?: number;
}

export interface Limits {
  readonly maxRunningAgents: number;
  readonly maxOpenPlans: number;
  readonly attemptsPerTodo: number;
  readonly runTimeoutMs: number;
  readonly silenceTimeoutMs: number;
  readonly checkTimeoutMs: number;
  readonly stopGraceMs: number;
  readonly maxOutputBytes: number;
  readonly maxProcesses: number;
  readonly maxDeletions: { readonly files: number; readonly percent: number };
  /** For one plan, and for all plans of one day. */
  readonly budget: Budget;
  readonly dailyBudget: Budget;
  readonly reviewRounds: number;
}

/** Names of agents in the order in which they are tried; never empty. */
export interface StageNames {
  readonly default: readonly string[];
  readonly designer?: readonly string[];
  readonly worker?: readonly string[];
  readonly triage?: readonly string[];
  readonly reviewer?: readonly string[];
}

export type Review = "off" | "todo" | "end";

export interface BusConfig {
  readonly maxAttempts: number;
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** What cannot be delivered for so long, because the way there is broken, is a dead letter. */
  readonly maxAgeMs: number;
  readonly hookTimeoutMs: number;
  readonly bridgeTimeoutMs: number;
  readonly pollEveryMs: number;
}

export interface NotifyConfig {
  readonly channels: Readonly<Record<string, NotifyChannel>>;
  readonly routes: {
    readonly urgent?: readonly string[];
    readonly action?: readonly string[];
    readonly warning?: readonly string[];
    readonly info?: readonly string[];
  };
  /** For the priorities that have no route. */
  readonly default: readonly string[];
}

export interface Preset {
  readonly agents: Readonly<Record<string, AgentConfig>>;
  readonly stages: Partial<StageNames>;
  readonly checks?: readonly string[];
  readonly review?: Review;
  /** As written; laid over the limits of the file. */
  readonly limits: LimitsFile;
  /** Those that are on for a plan with this preset, in order: the file's with the preset's laid over them. */
  readonly plugins: readonly PluginEntry[];
  readonly bridges: readonly BridgeEntry[];
}

/** What `prloom/config.json` says, with defaults filled in and units resolved. */
export interface Config {
  readonly forge: "local";
  readonly baseBranch?: string;
  readonly worktreesDir: string;
  readonly copyFiles: readonly string[];
  readonly trustedFilters: readonly string[];
  readonly initCommands: readonly string[];
  readonly checks: readonly string[];
  readonly agents: Readonly<Record<string, AgentConfig>>;
  readonly stages: StageNames;
  readonly review: Review;
  readonly limits: Limits;
  readonly bus: BusConfig;
  /** Plugins and bridges that are on, in order. */
  readonly plugins: readonly PluginEntry[];
  readonly globalPlugins: readonly PluginEntry[];
  readonly bridges: readonly BridgeEntry[];
  readonly globalBridges: readonly BridgeEntry[];
  readonly triggers: readonly Trigger[];
  readonly notify: NotifyConfig;
  readonly presets: Readonly<Record<string, Preset>>;
  readonly cleanAfterMs: number;
}

/** Everything that has a default: all but the agents, which only the user can name. */
export const defaultConfig: Omit<Config, "agents" | "stages"> = {
  forge: "local",
  worktreesDir: "prloom/.local/worktrees",
  copyFiles: [],
  trustedFilters: [],
  initCommands: [],
  checks: [],
  review: "off",
  limits: {
    maxRunningAgents: 3,
    maxOpenPlans: 20,
    attemptsPerTodo: 3,
    runTimeoutMs: 7_200_000,
    silenceTimeoutMs: 1_800_000,
    checkTimeoutMs: 900_000,
    stopGraceMs: 5000,
    maxOutputBytes: 16 * 1024 ** 2,
    maxProcesses: 2048,
    maxDeletions: { files: 200, percent: 20 },
    budget: {},
    dailyBudget: {},
    reviewRounds: 2,
  },
  bus: {
    maxAttempts: 10,
    retryMinMs: 1000,
    retryMaxMs: 300_000,
    maxAgeMs: 72 * 3_600_000,
    hookTimeoutMs: 300_000,
    bridgeTimeoutMs: 60_000,
    pollEveryMs: 30_000,
  },
  plugins: [],
  globalPlugins: [],
  bridges: [],
  globalBridges: [],
  triggers: [],
  notify: { channels: {}, routes: {}, default: [] },
  presets: {},
  cleanAfterMs: 7 * 86_400_000,
};

const inMs = (text: string | undefined, fallback: number) =>
  text === undefined ? fallback : (parseDuration(text) ?? fallback);
const inBytes = (text: string | undefined, fallback: number) =>
  text === undefined ? fallback : (parseSize(text) ?? fallback);

/** Limits with what was written laid over them. */
export function overlayLimits(under: Limits, over: LimitsFile): Limits {
  return {
    maxRunningAgents: over.maxRunningAgents ?? under.maxRunningAgents,
    maxOpenPlans: over.maxOpenPlans ?? under.maxOpenPlans,
    attemptsPerTodo: over.attemptsPerTodo ?? under.attemptsPerTodo,
    runTimeoutMs: inMs(over.runTimeout, under.runTimeoutMs),
    silenceTimeoutMs: inMs(over.silenceTimeout, under.silenceTimeoutMs),
    checkTimeoutMs: inMs(over.checkTimeout, under.checkTimeoutMs),
    stopGraceMs: inMs(over.stopGrace, under.stopGraceMs),
    maxOutputBytes: inBytes(over.maxOutput, under.maxOutputBytes),
    maxProcesses: over.maxProcesses ?? under.maxProcesses,
    maxDeletions: {
      files: over.maxDeletions?.files ?? under.maxDeletions.files,
      percent: over.maxDeletions?.percent ?? under.maxDeletions.percent,
    },
    budget: { ...under.budget, ...defined(over.budget ?? {}) },
    dailyBudget: { ...under.dailyBudget, ...defined(over.dailyBudget ?? {}) },
    reviewRounds: over.reviewRounds ?? under.reviewRounds,
  };
}

/** The object without its undefined values, so that it can be spread over another. */
function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}

function agentsOf(written: Readonly<Record<string, AgentFile>>): Record<string, AgentConfig> {
  const agents = Object.entries(written).map(
    ([name, { adapter = "command", command = adapter, env = {}, passEnv = [], sandbox = "auto", ...rest }]) => {
      const { readable = [], keeps = [], projectSettings = false, session = "todo", ...more } = rest;
      const filled = { adapter, command, env, passEnv, sandbox, readable, keeps, projectSettings, session };
      const config: AgentConfig = { ...filled, ...defined(more) };
      return [name, config] as const;
    },
  );
  return Object.fromEntries(agents);
}

function stagesOf<T extends NonNullable<PresetFile["stages"]>>(written: T): { [K in keyof T]?: readonly string[] } {
  const lists = Object.entries(defined(written)).map(([stage, names]) => [stage, [names].flat()] as const);
  return Object.fromEntries(lists) as never;
}

function busOf(written: BusFile, under: BusConfig): BusConfig {
  return {
    maxAttempts: written.maxAttempts ?? under.maxAttempts,
    retryMinMs: inMs(written.retryMin, under.retryMinMs),
    retryMaxMs: inMs(written.retryMax, under.retryMaxMs),
    maxAgeMs: inMs(written.maxAge, under.maxAgeMs),
    hookTimeoutMs: inMs(written.hookTimeout, under.hookTimeoutMs),
    bridgeTimeoutMs: inMs(written.bridgeTimeout, under.bridgeTimeoutMs),
    pollEveryMs: inMs(written.pollEvery, under.pollEveryMs),
  };
}

function notifyOf({ channels, routes = {}, default: rest }: NotifyFile): NotifyConfig {
  return { channels, routes: defined(routes), default: rest ?? Object.keys(channels) };
}

function presetOf(preset: PresetFile, file: ConfigFile): Preset {
  const order = preset.pluginOrder ?? file.pluginOrder;
  return {
    agents: agentsOf(preset.agents ?? {}),
    stages: stagesOf(preset.stages ?? {}) as Partial<StageNames>,
    ...(preset.checks === undefined ? {} : { checks: preset.checks }),
    ...(preset.review === undefined ? {} : { review: preset.review }),
    limits: preset.limits ?? {},
    plugins: enabledModules(overlayModules(file.plugins, preset.plugins), order),
    bridges: enabledModules(overlayModules(file.bridges, preset.bridges)),
  };
}

/** Fills in defaults and resolves units of a file that the schema has accepted. */
export function resolveConfig(file: ConfigFile): Config {
  const { baseBranch, bus = {}, presets = {}, notify } = file;
  const { limits, ...rest } = defaultConfig;
  return {
    ...rest,
    ...(baseBranch === undefined ? {} : { baseBranch }),
    worktreesDir: file.worktreesDir ?? rest.worktreesDir,
    copyFiles: file.copyFiles ?? rest.copyFiles,
    trustedFilters: file.trustedFilters ?? rest.trustedFilters,
    initCommands: file.initCommands ?? rest.initCommands,
    checks: file.checks ?? rest.checks,
    agents: agentsOf(file.agents),
    stages: { default: [file.stages.default].flat(), ...stagesOf(file.stages) },
    review: file.review ?? rest.review,
    limits: overlayLimits(limits, file.limits ?? {}),
    bus: busOf(bus, rest.bus),
    plugins: enabledModules(file.plugins, file.pluginOrder),
    globalPlugins: enabledModules(file.globalPlugins, file.globalPluginOrder),
    bridges: enabledModules(file.bridges),
    globalBridges: enabledModules(file.globalBridges),
    triggers: file.triggers ?? rest.triggers,
    notify: notify === undefined ? rest.notify : notifyOf(notify),
    presets: Object.fromEntries(Object.entries(presets).map(([name, preset]) => [name, presetOf(preset, file)])),
    cleanAfterMs: inMs(file.cleanAfter, rest.cleanAfterMs),
  };
}
