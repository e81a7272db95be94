/** JSON that a program printed: nothing about it is certain. */
export type Json = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one when it is none. */
export function asJson(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** The objects of a list; none when it is no list. */
export function asList(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(asJson) : [];
}

/** The value as text; undefined when it is none. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value as a count; 0 for whatever cannot be one. */
export function asCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** A number that may be missing. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
