import type { AgentFile, ConfigFile, LimitsFile } from "./schema.ts";
import { parseDuration, parseSize } from "./units.ts";

export interface AgentConfig {
  readonly adapter: "command";
  readonly command: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Names of variables that are passed on: secrets are named, never written down. */
  readonly passEnv: readonly string[];
  readonly model?: string;
  readonly sandbox: "none" | "auto";
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
  readonly maxDeletions: { readonly files: number; readonly percent: number };
}

export interface StageNames {
  readonly default: string;
  readonly designer?: string;
  readonly worker?: string;
  readonly triage?: string;
}

export interface Preset {
  readonly agents: Readonly<Record<string, AgentConfig>>;
  readonly stages: Partial<StageNames>;
  readonly checks?: readonly string[];
  /** As written; laid over the limits of the file. */
  readonly limits: LimitsFile;
}

/** What `prloom/config.json` says, with defaults filled in and units resolved. */
export interface Config {
  readonly forge: "local";
  readonly baseBranch?: string;
  readonly worktreesDir: string;
  readonly copyFiles: readonly string[];
  readonly initCommands: readonly string[];
  readonly checks: readonly string[];
  readonly agents: Readonly<Record<string, AgentConfig>>;
  readonly stages: StageNames;
  readonly limits: Limits;
  readonly bus: { readonly maxAttempts: number; readonly retryMinMs: number; readonly retryMaxMs: number };
  readonly presets: Readonly<Record<string, Preset>>;
  readonly cleanAfterMs: number;
}

/** Everything that has a default: all but the agents, which only the user can name. */
export const defaultConfig: Omit<Config, "agents" | "stages"> = {
  forge: "local",
  worktreesDir: "prloom/.local/worktrees",
  copyFiles: [],
  initCommands: [],
  checks: [],
  limits: {
    maxRunningAgents: 3,
    maxOpenPlans: 20,
    attemptsPerTodo: 3,
    runTimeoutMs: 7_200_000,
    silenceTimeoutMs: 1_800_000,
    checkTimeoutMs: 900_000,
    stopGraceMs: 5000,
    maxOutputBytes: 16 * 1024 ** 2,
    maxDeletions: { files: 200, percent: 20 },
  },
  bus: { maxAttempts: 10, retryMinMs: 1000, retryMaxMs: 300_000 },
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
    maxDeletions: {
      files: over.maxDeletions?.files ?? under.maxDeletions.files,
      percent: over.maxDeletions?.percent ?? under.maxDeletions.percent,
    },
  };
}

/** The object without its undefined values, so that it can be spread over another. */
function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}

function agentsOf(written: Readonly<Record<string, AgentFile>>): Record<string, AgentConfig> {
  const agents = Object.entries(written).map(
    ([name, { adapter = "command", command, env = {}, passEnv = [], sandbox = "none", ...rest }]) => {
      const config: AgentConfig = { adapter, command, env, passEnv, sandbox, ...defined(rest) };
      return [name, config] as const;
    },
  );
  return Object.fromEntries(agents);
}

/** Fills in defaults and resolves units of a file that the schema has accepted. */
export function resolveConfig(file: ConfigFile): Config {
  const { baseBranch, bus = {}, presets = {} } = file;
  const { limits, ...rest } = defaultConfig;
  return {
    ...rest,
    ...(baseBranch === undefined ? {} : { baseBranch }),
    worktreesDir: file.worktreesDir ?? rest.worktreesDir,
    copyFiles: file.copyFiles ?? rest.copyFiles,
    initCommands: file.initCommands ?? rest.initCommands,
    checks: file.checks ?? rest.checks,
    agents: agentsOf(file.agents),
    stages: { default: file.stages.default, ...defined(file.stages) },
    limits: overlayLimits(limits, file.limits ?? {}),
    bus: {
      maxAttempts: bus.maxAttempts ?? rest.bus.maxAttempts,
      retryMinMs: inMs(bus.retryMin, rest.bus.retryMinMs),
      retryMaxMs: inMs(bus.retryMax, rest.bus.retryMaxMs),
    },
    presets: Object.fromEntries(
      Object.entries(presets).map(([name, preset]) => [
        name,
        {
          agents: agentsOf(preset.agents ?? {}),
          stages: defined(preset.stages ?? {}),
          ...(preset.checks === undefined ? {} : { checks: preset.checks }),
          limits: preset.limits ?? {},
        },
      ]),
    ),
    cleanAfterMs: inMs(file.cleanAfter, rest.cleanAfterMs),
  };
}
