import type { PluginEntry } from "../../config/config.ts";
import { didYouMean } from "../../config/problems/nearest.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { copyJson, deepFreeze } from "../../kernel/json.ts";
import { withinDeadline } from "../calls/deadline.ts";
import { describeThrown, sentence } from "../calls/thrown.ts";
import { GLOBAL_HOOK_POINTS, type HookPoint, type Hooks, PLAN_HOOK_POINTS } from "../contexts/hook-types.ts";
import { importModule } from "./import-module.ts";
import { ModuleProblem } from "./module-problem.ts";

export type PluginKind = "global" | "plan";

export interface LoadedPlugin {
  readonly name: string;
  readonly kind: PluginKind;
  /** Only those of its kind. */
  readonly hooks: Hooks;
}

export interface LoadOptions {
  readonly repoRoot: string;
  readonly kind: PluginKind;
  readonly entries: readonly PluginEntry[];
  /** How long a module and its function may take. 30 s */
  readonly timeoutMs?: number;
}

const LOAD_TIMEOUT_MS = 30_000;
const CONFIG_KEYS = { global: "globalPlugins", plan: "plugins" } as const;
const POINTS: Readonly<Record<PluginKind, readonly HookPoint[]>> = {
  global: GLOBAL_HOOK_POINTS,
  plan: PLAN_HOOK_POINTS,
};
const ALL_POINTS: readonly string[] = [...GLOBAL_HOOK_POINTS, ...PLAN_HOOK_POINTS];

const FORM = `export default definePlugin((config) => ({
  async onEvent(event, ctx) {
    if (event.body.startsWith("/merge")) ctx.markEventHandled();
  },
}));`;

/** Loads plugins in order; one that cannot be used is an error, because it may be configured as a policy. */
export async function loadPlugins(options: LoadOptions): Promise<LoadedPlugin[]> {
  const loaded: LoadedPlugin[] = [];
  for (const entry of options.entries) loaded.push(await loadPlugin(options, entry));
  return loaded;
}

async function loadPlugin(options: LoadOptions, entry: PluginEntry): Promise<LoadedPlugin> {
  const { repoRoot, kind, timeoutMs = LOAD_TIMEOUT_MS } = options;
  const refuse = (problem: string, hint: string, cause?: unknown): never => {
    const key = `${CONFIG_KEYS[kind]}.${entry.name}`;
    const message = `The plugin "${entry.name}" (${key}, module ${entry.module}) cannot be used: ${sentence(problem)}`;
    throw new PrloomError("plugin-invalid", message, hint, cause);
  };
  const off = `Fix it, or set "enabled": false under ${CONFIG_KEYS[kind]}.${entry.name} in prloom/config.json.`;
  const step = async <T>(what: string, work: () => T | Promise<T>): Promise<T> => {
    try {
      return await withinDeadline(async () => work(), timeoutMs);
    } catch (error) {
      return refuse(`${what}${describeThrown(error)}`, error instanceof ModuleProblem ? error.hint : off, error);
    }
  };
  const factory = await step("", () => importModule({ repoRoot, specifier: entry.module }));
  if (typeof factory !== "function") {
    const found = factory === undefined ? "it has no default export" : `its default export is ${nameOf(factory)}`;
    return refuse(found, `It must be a function that returns the hooks:\n${FORM}`);
  }
  const config = deepFreeze(copyJson(entry.config, "config"));
  const made: unknown = await step("its function threw: ", () => factory(config));
  if (typeof made !== "object" || made === null || Array.isArray(made)) {
    return refuse(`its function returned ${nameOf(made)}, not an object with hooks`, `Write it like this:\n${FORM}`);
  }
  return { name: entry.name, kind, hooks: chooseHooks(made as Record<string, unknown>, kind, refuse) };
}

type Refuse = (problem: string, hint: string) => never;

function chooseHooks(made: Record<string, unknown>, kind: PluginKind, refuse: Refuse): Hooks {
  if ("beforeTriage" in made) {
    const problem =
      "it has the hook beforeTriage, which is gone: onEvent replaced it, and is called once for each event";
    refuse(problem, `Write it like this:\n${FORM}`);
  }
  checkNames(made, refuse);
  const given = ALL_POINTS.filter((point) => made[point] !== undefined);
  for (const point of given) {
    if (typeof made[point] !== "function")
      refuse(`its ${point} is ${nameOf(made[point])}, not a function`, `Write ${point}: (…) => { … }.`);
  }
  const wanted = POINTS[kind].filter((point) => made[point] !== undefined);
  if (wanted.length === 0) refuse(...noHook(kind, given));
  // Hooks may be methods that use `this`.
  const bound = wanted.map((point) => [point, (made[point] as (...args: unknown[]) => unknown).bind(made)]);
  return Object.fromEntries(bound) as Hooks;
}

/** An object of a class may have members of its own; in a plain one every other name is a hook that would never run. */
function checkNames(made: Record<string, unknown>, refuse: Refuse): void {
  const prototype: unknown = Object.getPrototypeOf(made);
  if (prototype !== Object.prototype && prototype !== null) return;
  for (const name of Object.keys(made)) {
    if (ALL_POINTS.includes(name)) continue;
    const problem = `there is no hook "${name}"${didYouMean(name, ALL_POINTS)}`;
    refuse(problem.replace(/\?$/, ""), `There are: ${ALL_POINTS.join(", ")}.`);
  }
}

function noHook(kind: PluginKind, given: readonly string[]): [problem: string, hint: string] {
  const there = POINTS[kind].join(", ");
  if (given.length === 0) return ["it has no hooks", `Hooks under ${CONFIG_KEYS[kind]} are ${there}.`];
  const other = CONFIG_KEYS[kind === "global" ? "plan" : "global"];
  const problem = `it has only ${given.join(", ")}, and none of these is called for ${CONFIG_KEYS[kind]}`;
  return [problem, `Move it to ${other} in prloom/config.json, or give it one of ${there}.`];
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
