import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { parseConfig } from "../../src/config/load.ts";
import { knownKeys } from "../../src/config/schema/json-schema.ts";

const docs = new URL("../../docs/", import.meta.url);
const page = (name: string): string => readFileSync(new URL(name, docs), "utf8");

/** Parts of a config, in the pages: examples that leave out who does what. */
const parts = readdirSync(docs)
  .filter((name) => name.endsWith(".md"))
  .flatMap((name) => [...page(name).matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = ""]) => ({ name, json })))
  .map(({ name, json }) => ({ name, value: JSON.parse(json) as Record<string, unknown> }))
  .filter(({ value }) => "agents" in value && !("stages" in value));

test("every part of a config that the pages show is one that prloom takes", () => {
  assert.ok(parts.filter(({ name }) => name === "agents.md").length >= 4, "docs/agents.md shows its settings");
  for (const { name, value } of parts) {
    const [first] = Object.keys(value.agents as object);
    parseConfig(JSON.stringify({ ...value, stages: { default: first } }), name);
  }
});

const agentKeys = knownKeys(["agents", "any"]);

test("the pages name every key of an agent and every limit", () => {
  const [settings = ""] = /^## Settings\n[\s\S]*?(?=^## )/m.exec(page("agents.md")) ?? [];
  const [limits = ""] = /^## limits\n[\s\S]*?(?=^## )/m.exec(page("config.md")) ?? [];
  const unnamed = (keys: readonly string[], text: string) => keys.filter((key) => !text.includes(`\`${key}\``));
  assert.ok(agentKeys.length > 10 && limits !== "");
  assert.deepEqual(unnamed(agentKeys, settings), []);
  assert.deepEqual(unnamed(knownKeys(["limits"]), limits), []);
  const top = knownKeys([]).filter((key) => key !== "$schema");
  assert.deepEqual(unnamed(top, page("config.md")), []);
});
