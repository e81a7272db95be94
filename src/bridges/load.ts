import { distance } from "fastest-levenshtein";
import type { BridgeEntry } from "../config/config.ts";
import { nearest } from "../config/problems/nearest.ts";
import { withinDeadline } from "../hooks/calls/deadline.ts";
import { describeThrown } from "../hooks/calls/thrown.ts";
import { importModule } from "../hooks/modules/import-module.ts";
import { PrloomError } from "../kernel/errors.ts";
import { deepFreeze, type JsonValue } from "../kernel/json.ts";
import type { Bridge } from "./contract.ts";

/** A bridge that can be called. */
export interface LoadedBridge {
  /** Its key in the config; handlers, state and reports go by it. */
  readonly name: string;
  readonly kind: "global" | "plan" | "builtin";
  readonly bridge: Bridge;
  readonly config: Readonly<Record<string, JsonValue>>;
  readonly pollEveryMs?: number;
  /** How long a call may take, where that is not `bus.bridgeTimeout`. */
  readonly timeoutMs?: number;
}

export interface LoadBridgesOptions {
  readonly repoRoot: string;
  readonly kind: "global" | "plan";
  readonly entries: readonly BridgeEntry[];
  /** How long a module, and then its factory, may take. */
  readonly factoryTimeoutMs?: number;
}

const FACTORY_TIMEOUT_MS = 30_000;
const FORM =
  "A bridge module looks like this: `export default defineBridge((config) => ({ targets: […], events(ctx, state) { … }, actions(ctx, action) { … } }))`.";

/** Imports the bridges in order and makes them; the first one that cannot be used is an error that says why. */
export async function loadBridges(options: LoadBridgesOptions): Promise<LoadedBridge[]> {
  const loaded: LoadedBridge[] = [];
  for (const entry of options.entries) loaded.push(await loadBridge(options, entry));
  return loaded;
}

async function loadBridge(options: LoadBridgesOptions, entry: BridgeEntry): Promise<LoadedBridge> {
  const { name, module, pollEveryMs } = entry;
  const key = `${options.kind === "global" ? "globalBridges" : "bridges"}.${name}`;
  const invalid = (what: string, hint: string, cause?: unknown): PrloomError =>
    new PrloomError("bridge-invalid", `The bridge "${name}" (${key}, module ${module}) ${what}.`, hint, cause);
  const timeoutMs = options.factoryTimeoutMs ?? FACTORY_TIMEOUT_MS;
  const config = deepFreeze(structuredClone(entry.config));
  let exported: unknown;
  try {
    // A module may wait for something at its top level.
    const { repoRoot } = options;
    exported = await withinDeadline(() => importModule({ repoRoot, specifier: module }), timeoutMs);
  } catch (error) {
    const hint = error instanceof PrloomError ? error.hint : `Fix ${module}, or correct ${key}.module.`;
    throw invalid(`could not be loaded: ${describeThrown(error)}`, hint, error);
  }
  if (exported === undefined) throw invalid("has no default export", FORM);
  let made = exported;
  if (typeof exported === "function") {
    try {
      made = await withinDeadline(async () => exported(config), timeoutMs);
    } catch (error) {
      throw invalid(
        `failed when it was made: ${describeThrown(error)}`,
        `Fix ${module}, or correct ${key}.config.`,
        error,
      );
    }
  }
  const problem = bridgeProblem(made);
  if (problem) throw invalid(problem.what, problem.hint);
  const poll = pollEveryMs === undefined ? {} : { pollEveryMs };
  return { name, kind: options.kind, bridge: made as Bridge, config, ...poll };
}

interface Problem {
  readonly what: string;
  readonly hint: string;
}

/** Why something is not a bridge; undefined when it is one. */
function bridgeProblem(made: unknown): Problem | undefined {
  if (typeof made !== "object" || made === null) {
    const given = made === undefined ? "nothing" : made === null ? "null" : `a ${typeof made}`;
    return { what: `gave ${given} instead of a bridge`, hint: FORM };
  }
  // Not spread: a bridge may be an instance of a class.
  const { name, targets, events, actions, delivered, repair, shownAfterMs, tracker } = made as Record<
    keyof Bridge,
    unknown
  >;
  if (name !== undefined && typeof name !== "string") {
    return { what: `has \`name\` as a ${typeof name}`, hint: "Leave `name` out: its key in the config is its name." };
  }
  const misspelt = misspeltMember(made);
  if (misspelt) return misspelt;
  for (const [method, value] of Object.entries({ events, actions, delivered, repair })) {
    if (value === undefined || typeof value === "function") continue;
    return { what: `has \`${method}\` as a ${typeof value}`, hint: `\`${method}\` must be a function. ${FORM}` };
  }
  if (shownAfterMs !== undefined && !(Number(shownAfterMs) >= 0)) {
    return { what: "has `shownAfterMs` that is not a time", hint: "Write it in milliseconds: `shownAfterMs: 30_000`." };
  }
  if (tracker !== undefined && (typeof tracker !== "object" || tracker === null)) {
    return {
      what: `has \`tracker\` as a ${typeof tracker}`,
      hint: "Make the bridge with `trackerBridge({ tracker, … })`.",
    };
  }
  const isList = Array.isArray(targets) && targets.every((target) => typeof target === "string" && target !== "");
  if (targets !== undefined && !isList) {
    return {
      what: "has `targets` that are not a list of names",
      hint: 'Write them like this: `targets: ["my-tracker"]`.',
    };
  }
  return balanceProblem({ targets: isList ? targets : [], events, actions });
}

const MEMBERS: readonly (keyof Bridge)[] = [
  "name",
  "targets",
  "events",
  "actions",
  "delivered",
  "repair",
  "shownAfterMs",
  "tracker",
];

/**
 * Bridges may have members of their own, `options` or `deliver` for example; one that is nearly a name of ours, where
 * that is not there, is a mistake. One that could do nothing at all is looked at less strictly.
 */
function misspeltMember(made: object): Problem | undefined {
  const missing = MEMBERS.filter((member) => member !== "name" && !(member in made));
  const isIdle = missing.includes("events") && missing.includes("actions");
  for (const member of memberNames(made)) {
    const meant = MEMBERS.some((known) => known === member) ? undefined : nearest(member, missing);
    if (meant === undefined || !(isIdle || distance(member.toLowerCase(), meant) <= 1)) continue;
    return {
      what: `has \`${member}\` and no \`${meant}\` (did you mean ${meant}?)`,
      hint: `Rename \`${member}\` to \`${meant}\`. ${FORM}`,
    };
  }
  return undefined;
}

/** Also those that a class gives its instances. */
function memberNames(made: object): string[] {
  const type: unknown = Object.getPrototypeOf(made);
  const inherited = typeof type === "object" && type !== null && type !== Object.prototype ? type : {};
  return [...Object.keys(made), ...Object.getOwnPropertyNames(inherited)].filter((name) => name !== "constructor");
}

function balanceProblem(given: { targets: readonly string[]; events: unknown; actions: unknown }): Problem | undefined {
  const { targets, events, actions } = given;
  if (events === undefined && actions === undefined) {
    return { what: "has neither `events` nor `actions`", hint: `It could do nothing. ${FORM}` };
  }
  if (actions !== undefined && targets.length === 0) {
    return { what: "has `actions` but no `targets`", hint: 'Add the names it delivers to: `targets: ["my-tracker"]`.' };
  }
  if (actions === undefined && targets.length > 0) {
    return {
      what: "has `targets` but no `actions`",
      hint: "Add `actions(ctx, action) { … }`, or leave `targets` out.",
    };
  }
  const twice = targets.find((target, index) => targets.indexOf(target) !== index);
  if (twice === undefined) return undefined;
  return { what: `names the target "${twice}" twice`, hint: "Name each target once." };
}
