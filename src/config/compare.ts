import { isDeepStrictEqual } from "node:util";
import { ownValue } from "../kernel/json-fields.ts";
import { type BridgeEntry, type Config, type Limits, overlayLimits } from "./config.ts";
import { SHELL_RIGHTS, type ShellRights } from "./governance-words.ts";
import { type AuthorPermission, PERMISSIONS } from "./permission-words.ts";
import { boardsIn } from "./schema/trigger-schema.ts";
import { formatDuration, formatSize } from "./schema/units.ts";

/** One thing that another config would change, in words. */
export interface ConfigChange {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  /** It permits something that was not permitted, or takes a check away; what cannot be judged counts as that. */
  readonly loosens: boolean;
}

/** Whether going from one value to another loosens. */
type Loosens = (from: unknown, to: unknown) => boolean;

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const amount = (value: unknown): number => (typeof value === "number" ? value : Number.POSITIVE_INFINITY);
const more: Loosens = (from, to) => amount(to) > amount(from);
const added: Loosens = (from, to) => list(to).some((one) => !list(from).includes(one));
const dropped: Loosens = (from, to) => list(from).some((one) => !list(to).includes(one));
const turnedOn: Loosens = (_from, to) => to !== false;
const never: Loosens = () => false;
const SANDBOXES: readonly unknown[] = ["none", "auto", "bwrap"];
const weaker: Loosens = (from, to) => SANDBOXES.indexOf(to) < SANDBOXES.indexOf(from);
const wasOn: Loosens = (from) => from !== "off";
const wider: Loosens = (from, to) => !list(from).includes("**") && added(from, to);
/** `!` before a pattern says that something is not secret. */
const fewerSecrets: Loosens = (from, to) => {
  const parts = (value: unknown, taken: boolean) => list(value).filter((one) => String(one).startsWith("!") === taken);
  return dropped(parts(from, false), parts(to, false)) || added(parts(from, true), parts(to, true));
};
const moreShell: Loosens = (from, to) =>
  SHELL_RIGHTS.indexOf(to as ShellRights) > SHELL_RIGHTS.indexOf(from as ShellRights);

/** An author who is not named may write. */
const mayMore: Loosens = (from = "write", to = "write") =>
  PERMISSIONS.indexOf(to as AuthorPermission) > PERMISSIONS.indexOf(from as AuthorPermission);

/** Without a list others may answer, so to and from none is not a narrower one. */
const moreApprovers: Loosens = (from, to) => to === undefined || added(lowerCase(from), lowerCase(to));
const lowerCase = (value: unknown): readonly string[] => list(value).map((one) => String(one).toLowerCase());

/** Every key that can change without loosening; any other change loosens. */
const JUDGES: readonly (readonly [RegExp, Loosens])[] = [
  [/^checks$/, dropped],
  [/^(copyFiles|trustedFilters)$/, added],
  [/^review$/, wasOn],
  [/^limits\./, more],
  [/^ports\./, never],
  [/^gates\.(plan|pr)$/, (from) => from === true],
  [/^gates\.advisory$/, turnedOn],
  [/^gates\.approvers$/, moreApprovers],
  // How patient it is with people; it permits nothing.
  [/^gates\.(remindAfterMs|expireAfterMs)$/, never],
  [/^authors\./, mayMore],
  // Words of agents in what people wrote.
  [/^writeback\.body$/, turnedOn],
  // What is told; it permits nothing.
  [/^writeback\./, never],
  [/^github\.trustedBots$/, added],
  [/^github\.trustBoard$/, turnedOn],
  // Jobs that run twice cost time, and permit nothing.
  [/^github\.rerun$/, never],
  // What a branch gets is what its base has.
  [/^github\.update$/, never],
  // Which clone makes a plan; it permits nothing.
  [/^github\.claim$/, never],
  // How patient it is with GitHub's lists; it permits nothing.
  [/^github\.shownAfterMs$/, never],
  // Your name below what agents made.
  [/^commit\.signoff$/, turnedOn],
  // How patient the bus is; it permits nothing.
  [/^bus\./, never],
  [/^agents\.[^.]+\.sandbox$/, weaker],
  [/^agents\.[^.]+\.(readable|passEnv|keeps)$/, added],
  [/^agents\.[^.]+\.projectSettings$/, turnedOn],
  [/^agents\.[^.]+\.maxRunning$/, more],
  [/^agents\.[^.]+\.session$/, never],
  [/^governance\.(mcp\.(reads|writes)|interpreters)$/, added],
  [/^governance\.secrets$/, fewerSecrets],
  [/^governance\.protected$/, dropped],
  [/^governance\.maxRepeatedDenials$/, more],
  // When finished work is put away; it permits nothing.
  [/^governance\.purgeAfterMs$/, never],
  [/^governance\.roles\.[^.]+\.tools$/, added],
  [/^governance\.roles\.[^.]+\.paths$/, wider],
  [/^governance\.roles\.[^.]+\.shell$/, moreShell],
  // Gone as a whole: what asks for it is blocked.
  [/^(agents|presets|governance\.roles)\.[^.]+$/, (_from, to) => to !== undefined],
];

/** What one config would change in another, key by key as people write them. */
export function compareConfigs(from: Config, to: Config): ConfigChange[] {
  const whole = changesBetween(viewOf(from), viewOf(to));
  const names = new Set([...Object.keys(from.presets), ...Object.keys(to.presets)]);
  const inPresets = [...names].flatMap((name): ConfigChange[] => {
    const [before, after] = [presetView(from, name), presetView(to, name)];
    if (!before || !after)
      return [changeOf(keyOf("presets", name), { from: before && "a preset", to: after && "a preset" })];
    return [...changesBetween(before, after)]
      .filter(([key, values]) => !isDeepStrictEqual(whole.get(key), values))
      .map(([key, values]) => {
        const change = changeOf(key, values);
        return { ...change, key: `presets.${name}.${change.key}` };
      });
  });
  return [...[...whole].map(([key, values]) => changeOf(key, values)), ...inPresets];
}

/** The first limit that is higher in the second; what has no limit is higher than any. */
export function raisedLimit(from: Limits, to: Limits): ConfigChange | undefined {
  const changes = [...changesBetween({ limits: from }, { limits: to })];
  return changes.map(([key, values]) => changeOf(key, values)).find(({ loosens }) => loosens);
}

/** Whether a dispatcher that runs with one config cannot take the other over: these are read once, at its start. */
export function needsStart(from: Config, to: Config): boolean {
  return !isDeepStrictEqual(readAtStart(from), readAtStart(to));
}

function readAtStart({
  forge,
  commit,
  worktreesDir,
  github,
  notify,
  globalPlugins,
  globalBridges,
  plugins,
  bridges,
  presets,
  triggers,
}: Config) {
  // A preset that adds nothing to the file's modules is as good as none.
  const own = Object.entries(presets)
    .map(([name, preset]) => [name, preset.plugins, preset.bridges])
    .filter(([, ...modules]) => !isDeepStrictEqual(modules, [plugins, bridges]));
  // A board is looked at by a bridge of its own.
  const boards = github ? boardsIn(triggers) : [];
  return { forge, commit, worktreesDir, github, boards, notify, globalPlugins, globalBridges, plugins, bridges, own };
}

type View = Readonly<Record<string, unknown>>;

function viewOf({ presets: _elsewhere, ...config }: Config): View {
  return config;
}

/** A preset as it is for its plans: what it leaves open is the file's. */
function presetView(config: Config, name: string): View | undefined {
  const preset = ownValue(config.presets, name);
  if (!preset) return undefined;
  const { checks = config.checks, review = config.review } = preset;
  return { ...preset, checks, review, limits: overlayLimits(config.limits, preset.limits) };
}

/** Before and after; as values, since what people are shown is cut. */
interface Values {
  readonly from: unknown;
  readonly to: unknown;
}

function changesBetween(from: View, to: View): Map<string, Values> {
  const [before, after] = [leavesOf(from), leavesOf(to)];
  const changes = new Map<string, Values>();
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const values = { from: before.get(key), to: after.get(key) };
    if (!isDeepStrictEqual(values.from, values.to) && !isToldElsewhere(key, before, after)) changes.set(key, values);
  }
  return changes;
}

/** An agent or a role that only one of them has is told as a whole, one that both have setting by setting; likewise modules and their order. */
function isToldElsewhere(key: string, before: Leaves, after: Leaves): boolean {
  const [, named, setting] = /^((?:agents|governance\.roles)\.[^.]+)(\..*)?$/.exec(key) ?? [];
  if (named !== undefined)
    return before.has(named) === after.has(named) ? setting === undefined : setting !== undefined;
  const [one, other] = [before.get(key), after.get(key)];
  return key.endsWith(ORDER) && (added(one, other) || dropped(one, other));
}

type Leaves = ReadonlyMap<string, unknown>;
const ORDER = " (order)";
const MODULES = ["plugins", "globalPlugins", "bridges", "globalBridges"];

/** All settings by their keys. Modules go by their names, and their order is a setting of its own. */
function leavesOf(view: View): Leaves {
  const leaves = new Map<string, unknown>();
  const put = (key: string, value: unknown): void => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      leaves.set(key, value);
      return;
    }
    for (const [name, inner] of Object.entries(value)) put(keyOf(key, name), inner);
  };
  for (const [key, value] of Object.entries(view)) {
    if (!MODULES.includes(key)) {
      put(key, value);
      continue;
    }
    const entries = value as readonly BridgeEntry[];
    for (const entry of entries) leaves.set(keyOf(key, entry.name), entry);
    leaves.set(
      `${key}${ORDER}`,
      entries.map(({ name }) => name),
    );
  }
  for (const [name, agent] of Object.entries((view.agents ?? {}) as Config["agents"]))
    leaves.set(keyOf("agents", name), agentInWords(agent));
  for (const [name, role] of Object.entries((view as Partial<Config>).governance?.roles ?? {}))
    leaves.set(keyOf("governance.roles", name), `a role (${role.extends})`);
  return leaves;
}

/** What of a new agent a person has to know before it runs. */
function agentInWords({ command, args = [], sandbox }: Config["agents"][string]): string {
  return `an agent (${[command, ...args].join(" ")}${sandbox === "none" ? ", without a sandbox" : ""})`;
}

/** Stands for a dot in a name, as in `agent.sh`, so that no name reads like the setting of another one. */
const DOT = "\0";

function keyOf(key: string, name: string): string {
  return `${key}.${name.replaceAll(".", DOT)}`;
}

function changeOf(key: string, { from, to }: Values): ConfigChange {
  const judge = JUDGES.find(([pattern]) => pattern.test(key))?.[1];
  const [before, after] = [shown(key, from), shown(key, to)];
  return {
    key: key.replace(/(Ms|Bytes)$/, "").replaceAll(DOT, "."),
    from: before,
    // Settings of a module may be secrets, and so may variables: that they changed is all that is told.
    to: before === after ? "other settings" : after,
    loosens: judge ? judge(from, to) : true,
  };
}

/** A command has to be told to its end, since that may be what matters in it. What is longer says so. */
const MAX_SHOWN = 4000;

function shown(key: string, value: unknown): string {
  if (value === undefined) return "absent";
  if (/(^|\.)env\./.test(key)) return "a value";
  if (typeof value === "number" && key.endsWith("Ms")) return formatDuration(value);
  if (typeof value === "number" && key.endsWith("Bytes")) return formatSize(value);
  if (typeof value === "object" && value !== null && "module" in value) return String(value.module);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const rest = text.length - MAX_SHOWN;
  return rest <= 0 ? text : `${text.slice(0, MAX_SHOWN)}… (${rest} more characters)`;
}
