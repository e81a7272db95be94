import * as z from "zod";
import { configFileSchema } from "./schema.ts";

/** JSON Schema of `prloom/config.json`, for editors. */
export function configJsonSchema(): Record<string, unknown> {
  return { title: "prloom/config.json", ...z.toJSONSchema(configFileSchema, { io: "input" }) };
}

type SchemaNode = {
  readonly properties?: Record<string, SchemaNode>;
  readonly additionalProperties?: SchemaNode | boolean;
};

/** The keys that an object at a path of the config may have; none where anything may be. */
export function knownKeys(path: readonly PropertyKey[]): string[] {
  let node: SchemaNode | undefined = configJsonSchema() as SchemaNode;
  for (const step of path) {
    const others: SchemaNode | boolean | undefined = node?.additionalProperties;
    node = node?.properties?.[String(step)] ?? (typeof others === "object" ? others : undefined);
  }
  return Object.keys(node?.properties ?? {});
}
