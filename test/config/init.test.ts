import assert from "node:assert/strict";
import { test } from "node:test";
import { initialConfig } from "../../src/config/init.ts";
import { parseConfig } from "../../src/config/load.ts";
import { configJsonSchema } from "../../src/config/schema/json-schema.ts";

test("what init writes is accepted", () => {
  const echo = { agentName: "echo", agent: { command: "echo", args: ["-n"] } };
  const text = initialConfig({ ...echo, baseBranch: "main" });
  assert.equal(text.endsWith("}\n"), true);
  const config = parseConfig(text, "x");
  assert.deepEqual(
    [config.baseBranch, config.stages, config.agents.echo?.args],
    ["main", { default: ["echo"] }, ["-n"]],
  );
  const known = initialConfig({ agentName: "claude", agent: { adapter: "claude" } });
  assert.deepEqual(JSON.parse(known), { agents: { claude: { adapter: "claude" } }, stages: { default: "claude" } });
  assert.equal(parseConfig(known, "x").agents.claude?.command, "claude");
});

test("the JSON Schema names the keys and is plain JSON", () => {
  const schema = configJsonSchema();
  assert.deepEqual(JSON.parse(JSON.stringify(schema)), schema);
  const properties = schema.properties as Record<string, { properties?: object }>;
  assert.ok("runTimeout" in (properties.limits?.properties ?? {}));
  assert.equal(schema.additionalProperties, false);
  assert.deepEqual(schema.required, ["agents", "stages"]);
});
