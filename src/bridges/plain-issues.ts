import type * as z from "zod";

type Issue = z.core.$ZodIssue;

const MAX_CHARACTERS = 500;
const MAX_VALUE_CHARACTERS = 40;

const KINDS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** What is wrong with a value, field by field, for readers who never heard of schemas. */
export function plainIssues(error: z.ZodError, given: unknown): string {
  return error.issues
    .map((issue) => plainIssue(issue, given))
    .join("; ")
    .slice(0, MAX_CHARACTERS);
}

function plainIssue(issue: Issue, given: unknown): string {
  const field = fieldName(issue.path);
  const value = valueAt(given, issue.path);
  switch (issue.code) {
    case "invalid_type":
      return must(field, value, `must be ${KINDS[issue.expected] ?? issue.expected}`);
    case "invalid_value":
      return must(field, value, `must be ${oneOf(issue.values)}`);
    case "invalid_union":
      return must(field, value, "is not one that prloom knows");
    case "unrecognized_keys":
      return issue.keys.map((key) => `there is no field ${fieldName([...issue.path, key])}`).join("; ");
    case "too_small":
      return issue.origin === "string" ? `${field} must not be empty` : `${field} is too small`;
    case "too_big":
      return `${field} is larger than ${issue.maximum}${issue.origin === "string" ? " characters" : ""}`;
    default:
      return `${field} ${issue.message}`;
  }
}

function must(field: string, value: unknown, rule: string): string {
  return value === undefined ? `${field} is missing` : `${field} ${rule}; it is ${shown(value)}`;
}

function oneOf(values: readonly unknown[]): string {
  const names = values.map((value) => JSON.stringify(value) ?? String(value));
  return names.length === 1 ? `${names[0]}` : `one of ${names.join(", ")}`;
}

function shown(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
}

function fieldName(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "it";
  return path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${String(key)}`))
    .join("");
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
