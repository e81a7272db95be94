import type { PlanDoc } from "./markdown/markdown.ts";
import { planSourceSchema, sourceKey } from "./record.ts";

/** What a plan may set for itself. Limits may only be lowered; who merges the config checks that. */
export interface OwnConfig {
  readonly agent?: string;
  readonly model?: string;
  readonly preset?: string;
  readonly limits?: Readonly<Record<string, unknown>>;
}

type Metadata = Readonly<Record<string, unknown>>;

/** The plan's own config out of its metadata; each problem is a sentence that names the key. */
export function ownConfigOf(metadata: Metadata): { own: OwnConfig; problems: string[] } {
  const problems: string[] = [];
  const own: { -readonly [key in keyof OwnConfig]: OwnConfig[key] } = {};
  for (const key of ["agent", "model", "preset"] as const) {
    const value = valueAt(metadata, key);
    if (value === undefined) continue;
    if (typeof value === "string" && value.trim() !== "") own[key] = value.trim();
    else
      problems.push(
        `The plan's metadata.${key} must be a name, such as "${key}": "…", but is ${JSON.stringify(value)}.`,
      );
  }
  const limits = valueAt(metadata, "limits");
  if (isObject(limits)) {
    for (const [name, value] of Object.entries(limits)) {
      if (!isLimit(value))
        problems.push(`The plan's metadata.limits.${name} must be a number or text, but is ${JSON.stringify(value)}.`);
    }
    own.limits = limits;
  } else if (limits !== undefined) {
    problems.push(`The plan's metadata.limits must be an object, but is ${JSON.stringify(limits)}.`);
  }
  return { own: problems.length === 0 ? own : {}, problems };
}

/** What the plan waits for: ids, and the keys of sources, from its metadata and from `## Depends on`. */
export function dependenciesOf(metadata: Metadata, doc: PlanDoc): string[] {
  const names = new Set<string>();
  const listed = valueAt(metadata, "dependsOn");
  for (const entry of Array.isArray(listed) ? listed : [listed]) {
    if (typeof entry === "string" && entry.trim() !== "") names.add(entry.trim());
    const source = planSourceSchema.safeParse(entry);
    if (source.success) names.add(sourceKey(source.data));
  }
  for (const name of doc.dependsOn) names.add(name);
  return [...names];
}

function valueAt(metadata: Metadata, key: string): unknown {
  return Object.hasOwn(metadata, key) ? (metadata[key] ?? undefined) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Numbers, durations and sizes as text, and groups of them (`maxDeletions`). */
function isLimit(value: unknown): boolean {
  if (isObject(value)) return Object.values(value).every((inner) => typeof inner === "number");
  return typeof value === "string" || (typeof value === "number" && Number.isFinite(value) && value >= 0);
}
