import { ISSUE_EVENTS } from "../schema/trigger-schema.ts";
import { parseDuration } from "../schema/units.ts";
import { didYouMean } from "./nearest.ts";

export type Path = readonly PropertyKey[];

/** Something that is wrong with a value, and where that is. */
export interface ValueProblem {
  readonly path: Path;
  readonly message: string;
}

/** The value at a path of one that may have any shape. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => {
    if (typeof inner !== "object" || inner === null || !Object.hasOwn(inner, step)) return undefined;
    return (inner as Record<PropertyKey, unknown>)[step];
  }, value);
}

/** The keys of the object at a path; none when there is none. */
export function keysAt(value: unknown, path: Path): string[] {
  const found = valueAt(value, path);
  return typeof found === "object" && found !== null && !Array.isArray(found) ? Object.keys(found) : [];
}

interface Reference {
  readonly path: Path;
  /** What the name is of: "agent", "channel". */
  readonly kind: string;
  readonly known: readonly string[];
}

/** A problem when the string at a path is not a known name. Empty strings are the schema's to refuse. */
function referenceProblem(value: unknown, { path, kind, known }: Reference): ValueProblem[] {
  const name = valueAt(value, path);
  if (typeof name !== "string" || name.trim() === "" || known.includes(name)) return [];
  return [{ path, message: `there is no ${kind} called "${name}"${didYouMean(name, known)}` }];
}

/** Names of a list that are not known, or are there twice. */
export function listProblems(value: unknown, { path, kind, known }: Reference): ValueProblem[] {
  const list = valueAt(value, path);
  if (!Array.isArray(list)) return [];
  return list.flatMap((name, index): ValueProblem[] => {
    const here = [...path, index];
    if (list.indexOf(name) !== index) return [{ path: here, message: `"${name}" is in the list twice` }];
    return referenceProblem(value, { path: here, kind, known });
  });
}

/** The file itself and its presets. */
export function scopesOf(value: unknown): Path[] {
  return [[], ...keysAt(value, ["presets"]).map((name) => ["presets", name])];
}

function stageProblems(value: unknown): ValueProblem[] {
  return scopesOf(value).flatMap((scope) => {
    const known = [...new Set([...keysAt(value, ["agents"]), ...keysAt(value, [...scope, "agents"])])];
    return keysAt(value, [...scope, "stages"]).flatMap((stage) => {
      const reference = { path: [...scope, "stages", stage], kind: "agent", known };
      return [...referenceProblem(value, reference), ...listProblems(value, reference)];
    });
  });
}

/** Only some adapters know which program they start. */
function programProblems(value: unknown): ValueProblem[] {
  return scopesOf(value).flatMap((scope) =>
    keysAt(value, [...scope, "agents"]).flatMap((name): ValueProblem[] => {
      const path = [...scope, "agents", name];
      const adapter = valueAt(value, [...path, "adapter"]) ?? "command";
      if ((adapter !== "command" && adapter !== "acp") || valueAt(value, [...path, "command"]) !== undefined) return [];
      return [{ path: [...path, "command"], message: "is missing: the program to start" }];
    }),
  );
}

function channelProblems(value: unknown): ValueProblem[] {
  const known = keysAt(value, ["notify", "channels"]);
  const routes = keysAt(value, ["notify", "routes"]).map((priority) => ["notify", "routes", priority]);
  return [...routes, ["notify", "default"]].flatMap((path) => listProblems(value, { path, kind: "channel", known }));
}

function triggerProblems(value: unknown): ValueProblem[] {
  const triggers = valueAt(value, ["triggers"]);
  if (!Array.isArray(triggers)) return [];
  const known = keysAt(value, ["presets"]);
  return triggers.flatMap((_trigger, index): ValueProblem[] => {
    const presets = referenceProblem(value, { path: ["triggers", index, "preset"], kind: "preset", known });
    const path = ["triggers", index, "on"];
    const on = valueAt(value, path);
    if (typeof on !== "string" || !on.startsWith("issue.")) return presets;
    if (ISSUE_EVENTS.some((type) => type === on)) return [...presets, ...columnProblems(value, index, on)];
    const guess = didYouMean(on, ISSUE_EVENTS);
    const message = `"${on}" does not happen to issues; there are ${ISSUE_EVENTS.join(", ")}${guess}`;
    return [{ path, message }, ...presets];
  });
}

/** A column is of a board, and only what comes into one has one. */
function columnProblems(value: unknown, index: number, on: string): ValueProblem[] {
  return (["project", "column"] as const).flatMap((key): ValueProblem[] => {
    const path = ["triggers", index, key];
    const isThere = valueAt(value, path) !== undefined;
    if (isThere === (on === "issue.moved")) return [];
    const what = key === "project" ? 'the board, as "<owner>/<number>"' : "the column of the board that makes plans";
    return [{ path, message: isThere ? "is for issue.moved only" : `is missing: ${what}` }];
  });
}

function retryProblems(value: unknown): ValueProblem[] {
  const [least, most] = ["retryMin", "retryMax"].map((key) => parseDuration(String(valueAt(value, ["bus", key]))));
  if (least === undefined || most === undefined || least <= most) return [];
  return [{ path: ["bus", "retryMin"], message: "must not be more than bus.retryMax" }];
}

function forgeProblems(value: unknown): ValueProblem[] {
  if (valueAt(value, ["forge"]) !== "github" || valueAt(value, ["github"]) !== undefined) return [];
  return [{ path: ["forge"], message: 'needs the key "github", which names the repository there' }];
}

function writebackProblems(value: unknown): ValueProblem[] {
  if (valueAt(value, ["writeback", "body"]) !== true || valueAt(value, ["github"]) !== undefined) return [];
  return [{ path: ["writeback", "body"], message: 'needs the key "github": plans are written to issues there alone' }];
}

/** What no schema can see: names that nothing has, and values that do not go together. */
export function referenceProblems(value: unknown): ValueProblem[] {
  return [
    ...programProblems(value),
    ...stageProblems(value),
    ...channelProblems(value),
    ...triggerProblems(value),
    ...retryProblems(value),
    ...forgeProblems(value),
    ...writebackProblems(value),
  ];
}
