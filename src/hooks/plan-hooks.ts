import type { Bus } from "../bus/bus.ts";
import { DISPATCHER } from "../bus/names.ts";
import { PrloomError } from "../kernel/errors.ts";
import { sha256 } from "../kernel/ids.ts";
import type { PlanSummary } from "../plan/summary.ts";
import { callHook, type HookAnswer, type HookCall, type HookRun, hookHandler } from "./calls/call.ts";
import { misuse } from "./calls/misuse.ts";
import { activateContext, type CallTools, startupContext, textContext } from "./contexts/context.ts";
import type { TextHookPoint } from "./contexts/context-types.ts";
import type { LoadedPlugin } from "./modules/load-plugins.ts";
import type { HookScope, HookServices } from "./services.ts";

const MAX_TEXT_BYTES = 512 * 1024;
const MAX_STALE = 10;

export interface TextHookOptions {
  readonly point: TextHookPoint;
  /** Names this round; a new one asks all plugins again. */
  readonly record: string;
  /** In the order in which they are called. */
  readonly plugins: readonly LoadedPlugin[];
  /** For beforeTodo and afterTodo: the TODO that they are about. */
  readonly todo?: string;
  readText(): string;
  writeText(text: string, plugin: string): void;
}

/** How a round of hooks ended. `stopped`: the dispatcher stops; the same record goes on where it was. */
export type RoundOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly plugin: string; readonly reason: string }
  | { readonly kind: "stopped" };

/**
 * Runs the hooks that may change a plan's text, each on what the one before left. What a hook made of the text is
 * settled before it is written, so after a kill the same record writes it, or goes on with the next plugin.
 */
export function runTextHooks(
  services: HookServices,
  scope: HookScope,
  options: TextHookOptions,
): Promise<RoundOutcome> {
  return runRound(services, scope, {
    ...options,
    callOf: (plugin) => textCall(scope, plugin, options),
    onSettled: (plugin, result) => writeSettled(options, plugin, result),
  });
}

/** What a hook that failed for good left in its settlement. */
function thrownIn(result: unknown): string | undefined {
  if (typeof result !== "object" || result === null || !("threw" in result)) return undefined;
  return String(result.threw);
}

/** A kill came between the settlement and the text. A change of the text since then wins. */
function writeSettled({ readText, writeText }: TextHookOptions, { name }: LoadedPlugin, result: unknown): void {
  if (typeof result !== "object" || result === null || !("base" in result) || !("text" in result)) return;
  if (typeof result.text === "string" && sha256(readText()) === result.base) writeText(result.text, name);
}

function textCall(scope: HookScope, plugin: LoadedPlugin, options: TextHookOptions): HookCall {
  const { point, record } = options;
  return {
    plugin,
    point,
    record,
    cause: {},
    sync: true,
    maxStale: MAX_STALE,
    run: (tools) => textRun(tools, { scope, plugin, options }),
  };
}

interface TextRun {
  readonly scope: HookScope;
  readonly plugin: LoadedPlugin;
  readonly options: TextHookOptions;
}

function textRun(tools: CallTools, { scope, plugin, options }: TextRun): HookRun {
  const { point, todo, readText, writeText } = options;
  const base = readText();
  let changed: string | undefined;
  return {
    invoke() {
      const context = textContext(tools, scope.planId ?? "", { point, todo });
      const hook = plugin.hooks[point] as ((text: string, ctx: typeof context) => unknown) | undefined;
      return hook?.(base, context);
    },
    judge(returned): HookAnswer {
      const text = checkText(point, returned);
      changed = text === base ? undefined : text;
      const result = { base: sha256(base), ...(changed === undefined ? {} : { text: changed }) };
      return { outcome: "handled", result };
    },
    isStale: () => readText() !== base,
    follow() {
      if (changed !== undefined) writeText(changed, plugin.name);
    },
  };
}

function checkText(point: TextHookPoint, returned: unknown): string | undefined {
  if (returned === undefined) return undefined;
  if (typeof returned !== "string") {
    throw misuse(
      `${point} returned ${returned === null ? "null" : `a ${typeof returned}`}.`,
      "Return the plan's text, or nothing.",
    );
  }
  if (Buffer.byteLength(returned) <= MAX_TEXT_BYTES) return returned;
  throw misuse(
    `${point} returned more than ${MAX_TEXT_BYTES / 1024} KB.`,
    "Keep the plan short; put large things in files.",
  );
}

/** The answers of this round are not needed any more. */
export function closeRecord(bus: Bus, record: string): void {
  bus.settle({ record, handler: DISPATCHER, outcome: "passed", marks: { closed: true, about: "event" } });
}

export interface StartupOptions {
  /** In the order in which they are called. */
  readonly plugins: readonly LoadedPlugin[];
  /** Names this start. */
  readonly record: string;
}

/** Runs `onStartup` of each plugin; the first that throws stops the start. */
export async function runStartupHooks(
  services: HookServices,
  scope: HookScope,
  options: StartupOptions,
): Promise<void> {
  const point = "onStartup";
  const callOf = (plugin: LoadedPlugin): HookCall =>
    plainCall({ plugin, point, record: options.record }, (tools) => plugin.hooks.onStartup?.(startupContext(tools)));
  const outcome = await runRound(services, scope, { ...options, point, callOf });
  if (outcome.kind !== "failed") return;
  throw new PrloomError(
    "plugin-failed",
    `onStartup of the plugin "${outcome.plugin}" failed: ${outcome.reason}`,
    `Fix it, or set "enabled": false under globalPlugins.${outcome.plugin} in prloom/config.json.`,
  );
}

export interface ActivateOptions extends StartupOptions {
  readonly plan: PlanSummary & { readonly worktree: string };
}

/** Runs `afterActivate` of each plugin that was not asked for this record before. */
export function runActivateHooks(
  services: HookServices,
  scope: HookScope,
  options: ActivateOptions,
): Promise<RoundOutcome> {
  const point = "afterActivate";
  const callOf = (plugin: LoadedPlugin): HookCall =>
    plainCall({ plugin, point, record: options.record }, (tools) =>
      plugin.hooks.afterActivate?.(structuredClone(options.plan), activateContext(tools)),
    );
  return runRound(services, scope, { ...options, point, callOf });
}

interface Round extends StartupOptions {
  readonly point: HookCall["point"];
  callOf(plugin: LoadedPlugin): HookCall;
  /** A kill may have come before what follows from the answer. */
  onSettled?(plugin: LoadedPlugin, result: unknown): void;
}

/** Asks each plugin that has the hook and has not answered for this record yet. */
async function runRound(services: HookServices, scope: HookScope, round: Round): Promise<RoundOutcome> {
  const { point, record } = round;
  for (const plugin of round.plugins.filter(({ hooks }) => hooks[point] !== undefined)) {
    const handler = hookHandler(point, plugin.name);
    if (scope.bus.handlerStatus(record, handler) === "settled") {
      const result = scope.bus.results(record).get(handler);
      const threw = thrownIn(result);
      if (threw !== undefined) return { kind: "failed", plugin: plugin.name, reason: threw };
      round.onSettled?.(plugin, result);
      continue;
    }
    const outcome = await callHook(services, scope, round.callOf(plugin));
    if (outcome.kind === "stopped") return outcome;
    if (outcome.kind === "failed" || outcome.kind === "dead") {
      return { kind: "failed", plugin: plugin.name, reason: outcome.reason };
    }
  }
  return { kind: "done" };
}

/** The call of a hook that only acts: what it returns says nothing. */
function plainCall(
  call: Pick<HookCall, "plugin" | "point" | "record">,
  invoke: (tools: CallTools) => unknown,
): HookCall {
  const run = (tools: CallTools): HookRun => ({ invoke: () => invoke(tools), judge: () => ({ outcome: "passed" }) });
  return { ...call, cause: {}, sync: true, run };
}
