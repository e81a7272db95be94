import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "../../../../src/config/load.ts";
import { makePolicy } from "../../../../src/governance/policy/make-policy.ts";
import { type Role, roleNamed } from "../../../../src/governance/policy/roles.ts";
import { ask, graph, node, ROOT, ruleOf } from "../fixtures.ts";

function rulings(governance: object, role: string, tools: readonly string[]): string[] {
  const config = { agents: { a: { command: "a" } }, stages: { default: "a" }, governance };
  const { governance: parsed } = parseConfig(JSON.stringify(config), "config.json");
  const place = { root: ROOT, home: "/home/person", temporary: "/tmp/run-7" };
  const policy = makePolicy(parsed, { role: roleNamed(role, parsed.roles) as Role, node: "two", place });
  const asked = { policy, host: "claude", graph: graph(node("two", { assignedTo: role })) } as const;
  return tools.map((tool) => ruleOf(ask(tool, {}, asked)));
}

const NAMES = ["mcp__github__get_issue", "github_get_issue", "mcp__github__create_issue", "mcp__db__get_issue"];
const EXPECTED = ["allowed", "allowed", "allowed tools", "allowed tools"];

for (const pattern of ["github_get_*", "mcp__github__get_*", "mcp__github__get_issue", "github_get_issue"])
  test(`${pattern} fits a tool as each agent program spells it`, () => {
    assert.deepEqual(rulings({ mcp: { reads: [pattern] } }, "executor", NAMES), EXPECTED);
  });

test("a role that names single tools of MCP servers has those only, in either spelling", () => {
  for (const name of ["github_get_issue", "mcp__github__get_issue"]) {
    const roles = { asker: { extends: "investigator", tools: ["read", name] } };
    const governance = { roles, mcp: { reads: ["db_*"], writes: ["github_create_*"] } };
    assert.deepEqual(rulings(governance, "asker", NAMES), EXPECTED);
    assert.deepEqual(rulings(governance, "executor", ["mcp__db__get_issue"]), ["allowed"]);
  }
});

test("the denial of a tool names the pattern that would allow it", () => {
  const verdict = ask("mcp__github__get_issue", {}, { host: "claude" });
  assert(!verdict.allow);
  assert.match(verdict.denial.useInstead, /with "github_get_issue"/);
});
