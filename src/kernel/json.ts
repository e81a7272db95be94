import { PrloomError } from "./errors.ts";

/** What survives JSON. Keys with `undefined` are left out of it. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/**
 * Code that walks or writes a value goes down with it, and the stack ends somewhere. A value that a plugin or bridge gives
 * becomes part of one that is kept, and that one part of a line that is parsed: so each may be deeper than the one before.
 */
const MAX_GIVEN_DEPTH = 100;
const MAX_KEPT_DEPTH = 200;
const MAX_PARSED_DEPTH = 500;

/** As `JSON.parse`, for text from outside: text that is nested too deep is refused as if it were not JSON. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`it is nested deeper than ${MAX_PARSED_DEPTH}`);
  return JSON.parse(text);
}

/** The same JSON for a reader of lines: to Node's own two more characters end a line, and JSON may have them in its strings. */
export function inOneLine(json: string): string {
  return json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

const [QUOTE, BACKSLASH] = ['"', "\\"].map((mark) => mark.charCodeAt(0));
const [OPENING, CLOSING] = ["[{", "]}"].map((marks) => new Set([...marks].map((mark) => mark.charCodeAt(0))));

/** Counts brackets outside of strings, character by character: whatever the text is, that takes no longer than its length. */
function isTooDeep(text: string): boolean {
  // Text this short cannot be nested too deep.
  if (text.length <= MAX_PARSED_DEPTH) return false;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isString && code === BACKSLASH) at += 1;
    else if (code === QUOTE) isString = !isString;
    else if (isString) continue;
    else if (OPENING?.has(code)) depth += 1;
    else if (CLOSING?.has(code)) depth -= 1;
    if (depth > MAX_PARSED_DEPTH) return true;
  }
  return false;
}

/** Whether a value comes back from JSON as it was. */
export function isJson(value: unknown, depth = 0): value is JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth >= MAX_KEPT_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1));
  if (!isPlain(value)) return false;
  return Object.values(value).every((item) => item === undefined || isJson(item, depth + 1));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A deep copy of what a plugin or bridge gave; what JSON cannot hold is refused by an error that names the place in it. */
export function copyJson(value: unknown, name: string): JsonValue {
  return copy(value, name, []);
}

function copy(value: unknown, path: string, within: readonly object[]): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : refuse(path, String(value));
  if (typeof value !== "object") return refuse(path, value === undefined ? "undefined" : `a ${typeof value}`);
  if (within.includes(value)) return refuse(path, "a reference to something that it is itself in");
  if (within.length >= MAX_GIVEN_DEPTH) return refuse(path, `nested more than ${MAX_GIVEN_DEPTH} deep`);
  const inside = [...within, value];
  // Not `map`: it would pass over the holes of a sparse array.
  if (Array.isArray(value)) return Array.from(value, (item, index) => copy(item, `${path}[${index}]`, inside));
  if (!isPlain(value)) return refuse(path, `a ${className(value)}`);
  return copyMembers(value, path, inside);
}

function copyMembers(value: object, path: string, inside: readonly object[]): JsonValue {
  const members: Record<string, JsonValue> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    if (key === "__proto__") return refuse(path, "an object with the key __proto__, which is reserved");
    members[key] = copy(member, `${path}.${key}`, inside);
  }
  return members;
}

function className(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? name : "object of a class";
}

function refuse(path: string, what: string): never {
  throw new PrloomError(
    "hook-misuse",
    `${path} is ${what}, which JSON cannot hold.`,
    "Use strings, finite numbers, true, false, null, lists and plain objects; a time as a string or a number, a Map as a list.",
  );
}

/** Freezes a value and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const key in value) deepFreeze(value[key]);
  return Object.freeze(value);
}

/** Generating code for a schema, as the library does by itself, costs more than it saves for a file that a process reads once. */
export const PARSED_ONCE = { jitless: true };
