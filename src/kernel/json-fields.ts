import { PrloomError } from "./errors.ts";
import { parseJson } from "./json.ts";

/** An object that came as JSON from outside: nothing about its fields is certain. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** The text parsed as JSON; undefined when it is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * The same for what prloom itself wrote down, which is never nested too deep: it may be long, and lines of it many. What a crash or a
 * person made of it need not be JSON.
 */
export function ownJsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error for what a newer prloom wrote, undefined for anything else; `what` names the file. */
export function newerFormat(what: string, value: unknown, known: number): PrloomError | undefined {
  const { schemaVersion } = asFields(value);
  return typeof schemaVersion === "number" && schemaVersion > known
    ? newerError(what, schemaVersion, known)
    : undefined;
}

export function newerError(what: string, format: number, known: number): PrloomError {
  return new PrloomError(
    "schema-newer",
    `${what} has format ${format}; this prloom knows format ${known}.`,
    "A newer prloom wrote it. Install that version or a later one; `prloom --version` prints this one.",
  );
}

export function isFields(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value under a key, and not what every object has: a tool may be called `constructor`. */
export function ownValue<T>(from: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(from, key) ? from[key] : undefined;
}

/** The value as an object; an empty one when it is not an object. */
export function asFields(value: unknown): JsonFields {
  return isFields(value) ? value : {};
}

/** The objects of a list; none when it is not a list. */
export function asFieldsList(value: unknown): readonly JsonFields[] {
  return Array.isArray(value) ? value.map(asFields) : [];
}

/** The value as a string; undefined when it is not one. */
export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value as a count; 0 for what cannot be one. */
export function asCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The value as a finite number; undefined when it is not one. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
