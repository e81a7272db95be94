import assert from "node:assert/strict";
import { test } from "node:test";
import { configWithoutAgents, parseConfig } from "../../../src/config/load.ts";
import { isProtected } from "../../../src/git/staging/protected-paths.ts";
import { makePolicy, type RunTerms } from "../../../src/governance/policy/make-policy.ts";
import { parsePolicy } from "../../../src/governance/policy/policy-file.ts";
import { ROLES, type Role, roleNamed } from "../../../src/governance/policy/roles.ts";
import { ask, graph, node, ROOT, ruleOf } from "./fixtures.ts";

const executor = roleNamed("executor") as Role;
const terms: RunTerms = {
  role: executor,
  node: "two",
  place: { root: ROOT, home: "/home/person", temporary: "/tmp/run-7" },
};
const usual = configWithoutAgents().governance;

test("what is made can be written and read again", () => {
  for (const role of ROLES) {
    const made = makePolicy(usual, { ...terms, role });
    assert.deepEqual(parsePolicy(JSON.stringify(made)), made);
  }
});

test("what differs from run to run, and what the config says", () => {
  const { governance } = parseConfig(
    JSON.stringify({
      agents: { a: { command: "a" } },
      stages: { default: "a" },
      governance: {
        roles: { writer: { extends: "executor", paths: ["docs/**"] } },
        mcp: { reads: ["github_get_*"], writes: ["github_create_issue"] },
        secrets: ["keys/**"],
        interpreters: ["python3"],
        protected: ["deploy/**"],
        maxRepeatedDenials: 5,
      },
    }),
    "config.json",
  );
  const role = roleNamed("writer", governance.roles) as Role;
  const door = { state: "closed", reason: "The plan waits for approval.", gateId: "g1" } as const;
  const policy = makePolicy(governance, {
    ...terms,
    role,
    door,
    paths: ["docs/a/**"],
    tools: ["read"],
    session: "s",
    variables: { PRLOOM_PLAN_ID: "p" },
  });
  const { schemaVersion: _version, role: own, protected: paths, ...rest } = policy;
  assert.deepEqual([own.name, own.paths, own.shell], ["writer", ["docs/**"], "work"]);
  assert(paths.includes("deploy/**") && paths.includes("prloom"));
  assert.deepEqual(rest, {
    node: "two",
    door,
    ...terms.place,
    paths: ["docs/a/**"],
    tools: ["read"],
    mcp: { reads: ["github_get_*"], writes: ["github_create_issue"] },
    secrets: ["keys/**"],
    interpreters: ["python3"],
    session: "s",
    variables: { PATH: "$PATH", PRLOOM_PLAN_ID: "p" },
    maxRepeatedDenials: 5,
    roles: {
      writer: {
        extends: "executor",
        tools: ["read", "search", "web", "govern", "write", "edit", "shell", "delegate"],
        paths: ["docs/**"],
        shell: "work",
      },
    },
    purgeAfterMs: 48 * 3_600_000,
  });
  const asked = { policy, host: "prloom", graph: graph(node("two", { assignedTo: "writer" })) } as const;
  const open = makePolicy(governance, { ...terms, role });
  assert.equal(ruleOf(ask("write", { path: "docs/x.md" }, { ...asked, policy: open })), "allowed");
  assert.equal(ruleOf(ask("write", { path: "deploy/x.sh" }, { ...asked, policy: open })), "protected paths");
  assert.equal(ruleOf(ask("read", { path: "keys/x" }, asked)), "path scope");
});

/** Files that no commit of prloom has, and git's own. */
const PROTECTED = [
  "prloom/config.json",
  "PRLOOM/plugins/x.ts",
  ".opencode/opencode.json",
  ".claude/settings.json",
  ".codex/config.toml",
  ".cursor/rules",
  ".gemini/settings.json",
  "opencode.json",
  "opencode.jsonc",
  ".mcp.json",
];
const GITS_OWN = [".git/config", ".git", "vendor/lib/.git/hooks/pre-commit"];

for (const path of [...PROTECTED, ...GITS_OWN])
  test(`${path} is changed by no role, by no tool`, () => {
    if (PROTECTED.includes(path)) assert(isProtected(path), "the list is the one that commits use");
    for (const role of ROLES) {
      const asked = { policy: makePolicy(usual, { ...terms, role }), host: "prloom" } as const;
      assert.notEqual(ruleOf(ask("write", { path }, asked)), "allowed", role.name);
      assert.notEqual(ruleOf(ask("shell", { command: `echo x > ${path}` }, asked)), "allowed", role.name);
    }
    const asked = { policy: makePolicy(usual, terms), host: "prloom" } as const;
    assert.equal(ruleOf(ask("edit", { path }, asked)), "protected paths");
  });
