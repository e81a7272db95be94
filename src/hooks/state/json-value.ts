import { PrloomError } from "../../kernel/errors.ts";
import type { JsonValue } from "../contexts/event-types.ts";

/** Deeper than anything people write, and far from what would overflow the stack of a reader. */
const MAX_DEPTH = 100;

/** A deep copy of a value that JSON can hold; anything else is refused by an error that names the place in it. */
export function copyJson(value: unknown, name: string): JsonValue {
  return copy(value, name, []);
}

function copy(value: unknown, path: string, within: readonly object[]): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : refuse(path, String(value));
  if (typeof value !== "object") return refuse(path, value === undefined ? "undefined" : `a ${typeof value}`);
  if (within.includes(value)) return refuse(path, "a reference to something that it is itself in");
  if (within.length >= MAX_DEPTH) return refuse(path, `nested more than ${MAX_DEPTH} deep`);
  const inside = [...within, value];
  // Not `map`: it would pass over the holes of a sparse array.
  if (Array.isArray(value)) return Array.from(value, (item, index) => copy(item, `${path}[${index}]`, inside));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return refuse(path, `a ${className(value)}`);
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
    "Use texts, finite numbers, true, false, null, lists and plain objects; a time as a text or a number, a Map as a list.",
  );
}
