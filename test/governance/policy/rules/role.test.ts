import assert from "node:assert/strict";
import { test } from "node:test";
import { roleNamed } from "../../../../src/governance/policy/roles.ts";
import { ask, policy, ruleOf } from "../fixtures.ts";

const bash = ["bash", { command: "ls" }] as const;
const own = ["govern_shell", { command: "ls" }] as const;
const read = ["read", { filePath: "src/a.ts" }] as const;

/** A tool that a role names is one of its tools; a role without a shell has none, whatever tools it names. */
const ROWS: readonly [tools: string[], shell: "none" | "work", call: readonly [string, unknown], expected: string][] = [
  [["read", "bash"], "none", bash, "role"],
  [["shell", "bash"], "none", bash, "role"],
  [["shell"], "none", bash, "role"],
  [["govern_shell"], "none", own, "role"],
  [["read"], "none", read, "allowed"],
  [["read"], "work", bash, "role"],
  [["bash"], "work", bash, "allowed"],
  [["shell"], "work", bash, "allowed"],
  [["govern_shell"], "work", own, "allowed"],
];

for (const [tools, shell, [tool, input], expected] of ROWS)
  test(`${tool} with the tools ${tools.join(", ")} and the shell ${shell}: ${expected}`, () => {
    const role = { ...policy().role, tools, shell };
    assert.equal(ruleOf(ask(tool, input, { policy: policy({ role }) })), expected);
  });

/** The names of tools that hosts have are no way around the kinds that the extended role does not have. */
const NAMED: readonly [base: string, tools: string[], kept: string[]][] = [
  ["coordinator", ["read", "apply_patch", "Write", "govern_shell"], ["read"]],
  ["investigator", ["apply_patch", "bash", "task"], ["apply_patch", "bash"]],
  ["coordinator", ["github_get_issue"], ["github_get_issue"]],
];

for (const [base, tools, kept] of NAMED)
  test(`a role that extends ${base} and names ${tools.join(", ")} has ${kept.join(", ")}`, () => {
    assert.deepEqual(roleNamed("own", { own: { extends: base, tools } })?.tools, kept);
  });
