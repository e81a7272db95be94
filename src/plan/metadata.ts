import { CATEGORIES, type Category } from "../config/governance-words.ts";
import type { PlanWishes } from "../config/presets.ts";
import { isFields } from "../kernel/json-fields.ts";
import type { PlanDoc } from "./markdown/markdown.ts";
import { planSourceSchema, sourceKey } from "./record.ts";

type Metadata = Readonly<Record<string, unknown>>;

const GATE_KINDS: readonly string[] = ["plan", "pr"];

/**
 * What a plan wishes for itself, out of its metadata; each problem is a sentence that names the key. Limits may only be
 * lowered: `configForPlan` checks that.
 */
export function wishesOf(metadata: Metadata): { wishes: PlanWishes; problems: string[] } {
  const problems: string[] = [];
  const wishes: { -readonly [key in keyof PlanWishes]: PlanWishes[key] } = {};
  for (const key of ["agent", "model", "preset"] as const) {
    const value = valueAt(metadata, key);
    if (value === undefined) continue;
    if (typeof value === "string" && value.trim() !== "") wishes[key] = value.trim();
    else
      problems.push(
        `The plan's metadata.${key} must be a name, such as "${key}": "…", but is ${JSON.stringify(value)}.`,
      );
  }
  const limits = valueAt(metadata, "limits");
  if (isFields(limits)) {
    for (const [name, value] of Object.entries(limits)) {
      if (!isLimit(value))
        problems.push(
          `The plan's metadata.limits.${name} must be a number or a string, but is ${JSON.stringify(value)}.`,
        );
    }
    wishes.limits = limits;
  } else if (limits !== undefined) {
    problems.push(`The plan's metadata.limits must be an object, but is ${JSON.stringify(limits)}.`);
  }
  const gates = valueAt(metadata, "gates");
  if (isFields(gates) && Object.entries(gates).every(([kind, on]) => GATE_KINDS.includes(kind) && on === true)) {
    if (gates.plan) wishes.gate = true;
    if (gates.pr) wishes.prGate = true;
  } else if (gates !== undefined)
    problems.push(
      `The plan's metadata.gates can only be {"plan": true}, {"pr": true} or both, but is ${JSON.stringify(gates)}.`,
    );
  const category = valueAt(metadata, "category");
  const known = CATEGORIES.find((one) => one === category);
  if (known) wishes.category = known;
  else if (category !== undefined)
    problems.push(
      `The plan's metadata.category must be one of ${CATEGORIES.join(", ")}, but is ${JSON.stringify(category)}.`,
    );
  const stack = valueAt(metadata, "stack");
  if (stack !== undefined && typeof stack !== "boolean")
    problems.push(`The plan's metadata.stack must be true or false, but is ${JSON.stringify(stack)}.`);
  // One that is not understood would not be waited for.
  for (const entry of namedDependencies(metadata))
    if (nameOfDependency(entry) === undefined)
      problems.push(
        `The plan's metadata.dependsOn must have ids or sources of plans, such as "dependsOn": ["add-login"], but has ${JSON.stringify(entry)}.`,
      );
  return { wishes: problems.length === 0 ? wishes : {}, problems };
}

/** What the plan is about, where it says so. */
export const categoryOf = (metadata: Metadata): Category | undefined => wishesOf(metadata).wishes.category;

/** Whether the plan is to begin on the branch of the one that it depends on, once that is in review. */
export const wantsStack = (metadata: Metadata): boolean => valueAt(metadata, "stack") === true;

/** Why a plan that wants it cannot be stacked, as a sentence; undefined when it can. */
export function stackProblem(dependencies: readonly string[], forge: string): string | undefined {
  if (forge !== "github")
    return 'It says `stack`, which needs the forge "github" (`"forge": "github"` in prloom/config.json): otherwise no branch is published.';
  if (dependencies.length === 0) return "It says `stack`, and depends on no plan that it could be stacked on.";
  if (dependencies.length === 1) return undefined;
  return `It says \`stack\`, and depends on ${dependencies.length} plans: a branch can stand on one only.`;
}

/** What the plan waits for: ids, and the keys of sources, from its metadata and from `## Depends on`. */
export function dependenciesOf(metadata: Metadata, doc: PlanDoc): string[] {
  return [
    ...new Set([...namedDependencies(metadata).flatMap((entry) => nameOfDependency(entry) ?? []), ...doc.dependsOn]),
  ];
}

function namedDependencies(metadata: Metadata): readonly unknown[] {
  const listed = valueAt(metadata, "dependsOn") ?? [];
  return Array.isArray(listed) ? listed : [listed];
}

function nameOfDependency(entry: unknown): string | undefined {
  if (typeof entry === "string") return entry.trim() || undefined;
  const source = planSourceSchema.safeParse(entry);
  return source.success ? sourceKey(source.data) : undefined;
}

/** Everything in a plan's metadata that prloom reads. */
const KEYS: ReadonlyMap<string, string> = new Map(
  ["agent", "model", "preset", "limits", "gates", "dependsOn", "stack", "branch", "category"].map((key) => [
    normalised(key),
    key,
  ]),
);
const MAX_NOTES = 10;

/** Keys that have no effect because they are written otherwise than those that have; bridges may have any other of their own. */
export function nearMisses(metadata: Metadata): string[] {
  const slips = Object.keys(metadata).flatMap((key) => {
    const meant = KEYS.get(normalised(key));
    return meant === undefined || meant === key
      ? []
      : [`The plan's metadata.${key} has no effect; did you mean metadata.${meant}?`];
  });
  return slips.slice(0, MAX_NOTES);
}

/** Without case, separators and the plural. */
function normalised(key: string): string {
  return key
    .toLowerCase()
    .replace(/[^a-z]/g, "")
    .replace(/s$/, "");
}

function valueAt(metadata: Metadata, key: string): unknown {
  return Object.hasOwn(metadata, key) ? (metadata[key] ?? undefined) : undefined;
}

/** Numbers, durations and sizes as strings, and groups of them (`maxDeletions`). */
function isLimit(value: unknown): boolean {
  if (isFields(value)) return Object.values(value).every((inner) => typeof inner === "number");
  return typeof value === "string" || (typeof value === "number" && Number.isFinite(value) && value >= 0);
}
