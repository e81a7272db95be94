/**
 * Cuts the answers that the fake gives out of GitHub's published description of its REST API:
 *   node test/testing/github/schema/cut.ts <folder of the package @octokit/openapi>/generated/api.github.com.json
 * That package is too large to depend on.
 */
import { readFileSync, writeFileSync } from "node:fs";

const OPERATIONS = readFileSync(new URL("operations.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");
/** What says nothing about the shape. */
const PROSE = new Set(["description", "example", "examples", "title", "externalDocs", "deprecated", "readOnly"]);

type Json = Record<string, unknown>;
interface Published {
  readonly paths: Record<string, Record<string, { responses: Record<string, Json> }>>;
  readonly components: { readonly schemas: Record<string, Json>; readonly responses: Record<string, Json> };
}

function bare(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => bare(one));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => isNames || !(PROSE.has(key) || key.startsWith("x-")));
  const shape = Object.fromEntries(kept.map(([key, one]) => [key, bare(one, key === "properties" && !isNames)]));
  if (isNames || shape.nullable !== true) return shape;
  // A word of OpenAPI that JSON Schema does not have.
  const { nullable: _, ...rest } = shape;
  return { anyOf: [rest, { type: "null" }] };
}

function refsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === "$ref" && typeof one === "string" ? [one.split("/").at(-1) ?? ""] : refsIn(one),
  );
}

const { paths, components } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Published;
const operations: Record<string, Json> = {};
for (const operation of OPERATIONS) {
  const [method = "", path = ""] = operation.split(" ");
  const responses = Object.entries(paths[path]?.[method.toLowerCase()]?.responses ?? {});
  const good = responses.filter(([status]) => status.startsWith("2"));
  if (good.length === 0) throw new Error(`not described: ${operation}`);
  operations[operation] = Object.fromEntries(
    good.map(([status, given]) => {
      const ref = given.$ref as string | undefined;
      const response = ref === undefined ? given : (components.responses[ref.split("/").at(-1) ?? ""] ?? {});
      const content = response.content as Record<string, { schema?: unknown }> | undefined;
      return [status, bare(content?.["application/json"]?.schema ?? null)];
    }),
  );
}
const schemas: Record<string, unknown> = {};
const waiting = refsIn(operations);
for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
  if (name in schemas) continue;
  schemas[name] = bare(components.schemas[name]);
  waiting.push(...refsIn(schemas[name]));
}
const target = new URL("rest.json", import.meta.url);
writeFileSync(target, `${JSON.stringify({ operations, components: { schemas } })}\n`);
console.log(`${target.pathname}: ${OPERATIONS.length} operations, ${Object.keys(schemas).length} schemas`);
