import { readTextIfExists } from "./files.ts";
import { jsonIn } from "./json-fields.ts";

/** What a file of ours says, as JSON; undefined when there is none, or when it is not JSON. */
export function readJson(path: string): unknown {
  return jsonIn(readTextIfExists(path) ?? "");
}

interface Schema<T> {
  safeParse(value: unknown): { readonly data?: T | undefined };
}

/** The same as what a schema makes of it; undefined also when it is something else. A schema that has nothing to check is not loaded. */
export function readChecked<T>(path: string, schema: Schema<T>): T | undefined {
  const value = readJson(path);
  return value === undefined ? undefined : schema.safeParse(value).data;
}
