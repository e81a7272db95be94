import assert from "node:assert/strict";
import { test } from "node:test";
import { inBoth, isListed } from "../../../../src/governance/policy/tools/listed.ts";
import { requestOf } from "../../../../src/governance/policy/tools/request-of.ts";

const COMMAND = { command: "ls" };
const CALLS = {
  bash: requestOf("opencode", { tool: "bash", input: COMMAND }),
  Bash: requestOf("claude", { tool: "Bash", input: COMMAND }),
  govern_shell: requestOf("opencode", { tool: "govern_shell", input: COMMAND }),
  mcp__prloom__govern_shell: requestOf("claude", { tool: "mcp__prloom__govern_shell", input: COMMAND }),
};

/** A line `tools:` and which of these calls it has: it means the same in each program. */
const LISTED: readonly [list: readonly string[], has: readonly (keyof typeof CALLS)[]][] = [
  [["shell"], ["bash", "Bash", "govern_shell", "mcp__prloom__govern_shell"]],
  [["bash"], ["bash", "Bash"]],
  [["Bash"], ["bash", "Bash"]],
  [["govern_shell"], ["govern_shell", "mcp__prloom__govern_shell"]],
  [["read", "db_query"], []],
];

for (const [list, has] of LISTED)
  test(`${list.join(", ")} has ${has.join(", ") || "none of them"}`, () => {
    const found = Object.entries(CALLS).flatMap(([name, request]) => (isListed(list, request) ? [name] : []));
    assert.deepEqual(found, has);
  });

const BOTH: readonly [one: readonly string[], other: readonly string[], both: readonly string[]][] = [
  [
    ["read", "shell"],
    ["Read", "Bash"],
    ["Read", "Bash"],
  ],
  [["bash"], ["shell", "edit"], ["bash"]],
  [["APPLY_PATCH"], ["edit"], ["APPLY_PATCH"]],
  [["read"], ["write", "edit"], []],
  [["github_get_issue", "read"], ["github_get_issue"], ["github_get_issue"]],
];

for (const [one, other, both] of BOTH)
  test(`${one.join(", ")} and ${other.join(", ")} have ${both.join(", ") || "nothing"} in common`, () => {
    assert.deepEqual(inBoth(one, other), both);
    assert.deepEqual(inBoth(other, one).toSorted(), both.toSorted());
  });
