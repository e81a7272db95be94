import * as z from "zod";
import { configSchema } from "./schema.ts";

/** JSON Schema of `prloom/config.json`, for editors. */
export function configJsonSchema(): Record<string, unknown> {
  return { title: "prloom/config.json", ...z.toJSONSchema(configSchema, { io: "input" }) };
}

type SchemaNode = {
  readonly properties?: Record<string, SchemaNode>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly oneOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
};

function below(node: SchemaNode | undefined, step: PropertyKey): SchemaNode | undefined {
  if (typeof step === "number") return node?.items;
  const others = node?.additionalProperties;
  return node?.properties?.[String(step)] ?? (typeof others === "object" ? others : undefined);
}

/** Making it takes milliseconds, and a config may have hundreds of keys that are looked for in it. */
let made: SchemaNode | undefined;

/** The keys that an object at a path of the config may have; none where anything may be. */
export function knownKeys(path: readonly PropertyKey[]): string[] {
  made ??= configJsonSchema() as SchemaNode;
  const node = path.reduce<SchemaNode | undefined>(below, made);
  const kinds = node?.oneOf ?? node?.anyOf ?? (node === undefined ? [] : [node]);
  return [...new Set(kinds.flatMap(({ properties = {} }) => Object.keys(properties)))];
}
