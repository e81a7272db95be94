import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestKind } from "../../../../src/governance/policy/request.ts";
import { CLAUDE_TOOLS } from "../../../../src/governance/policy/tools/claude.ts";
import { OPENCODE_TOOLS } from "../../../../src/governance/policy/tools/opencode.ts";
import { requestOf, type ToolHost } from "../../../../src/governance/policy/tools/request-of.ts";
import { filesInPatch } from "../../../../src/governance/shell/patch-files.ts";

type Row = readonly [host: ToolHost, tool: string, input: Record<string, unknown>, kind: RequestKind, paths?: string[]];

const PATCH =
  "*** Begin Patch\n*** Update File: src/a.ts\n*** Move to: src/b.ts\n@@\n-x\n+y\n*** Add File: c.md\n+--- a/no.md\n*** Delete File: d\n*** End Patch";

const ROWS: readonly Row[] = [
  ["opencode", "read", { filePath: "a" }, "read", ["a"]],
  ["opencode", "write", { filePath: "a", content: "" }, "write", ["a"]],
  ["opencode", "edit", { filePath: "a", oldString: "x", newString: "y" }, "edit", ["a"]],
  ["opencode", "multiedit", { filePath: "a", edits: [] }, "edit", ["a"]],
  ["opencode", "multiedit", { filePath: "a", edits: [{ filePath: "b" }, {}] }, "edit", ["a", "b"]],
  ["opencode", "apply_patch", { patchText: PATCH }, "edit", ["src/a.ts", "src/b.ts", "c.md", "d"]],
  ["opencode", "glob", { pattern: "**/*.ts", path: "src" }, "search", ["src", "**/*.ts"]],
  ["opencode", "grep", { pattern: "x" }, "search", []],
  ["opencode", "list", {}, "search", []],
  ["opencode", "bash", { command: "ls" }, "shell"],
  ["opencode", "task", { subagent_type: "x", prompt: "y" }, "delegate"],
  ["opencode", "webfetch", { url: "https://x.example" }, "web"],
  ["opencode", "webfetch", { url: "file:///etc/hosts" }, "read", ["/etc/hosts"]],
  ["opencode", "todowrite", { todos: [] }, "read"],
  ["claude", "Read", { file_path: "a" }, "read", ["a"]],
  ["claude", "Write", { file_path: "a" }, "write", ["a"]],
  ["claude", "Edit", { file_path: "a" }, "edit", ["a"]],
  ["claude", "MultiEdit", { file_path: "a" }, "edit", ["a"]],
  ["claude", "NotebookEdit", { notebook_path: "a.ipynb" }, "edit", ["a.ipynb"]],
  ["claude", "Bash", { command: "ls", run_in_background: true }, "shell"],
  ["claude", "Task", { subagent_type: "x", prompt: "y" }, "delegate"],
  ["claude", "WebSearch", { query: "x" }, "web"],
  ["claude", "SendMessage", { to: "a1", message: "y" }, "delegate"],
  ["claude", "ListAgents", {}, "read"],
  ["claude", "ReportFindings", { findings: [] }, "read"],
  ["claude", "Workflow", { script: "x" }, "other"],
  ["claude", "Monitor", { command: "x" }, "other"],
  ["claude", "mcp__db__query", { sql: "x" }, "other"],
  ["claude", "mcp__prloom__govern_task", { action: "status" }, "govern"],
  ["opencode", "govern_task", { action: "status" }, "govern"],
  // Of servers of the user that are called like us.
  ["opencode", "prloom_govern_task", { action: "status" }, "other"],
  ["opencode", "mcp__prloom__govern_task", { action: "status" }, "other"],
  ["opencode", "prloom_govern_shell", { command: "ls" }, "other"],
  ["claude", "prloom_govern_task", { action: "status" }, "other"],
  ["claude", "mcp__prloom_x__govern_task", { action: "status" }, "other"],
  ["opencode", "govern_shell", { command: "ls" }, "shell"],
  ["opencode", "Write", { filePath: "a" }, "other"],
  ["claude", "write", { file_path: "a" }, "other"],
  ["mcp", "write", { path: "a" }, "other"],
  ["prloom", "shell", { command: "ls" }, "shell"],
];

for (const [host, tool, input, kind, paths] of ROWS)
  test(`${host}: ${tool} is ${kind}${paths ? ` of ${paths.join(", ") || "nothing"}` : ""}`, () => {
    const request = requestOf(host, { tool, input });
    assert.equal(request.malformed, undefined);
    assert.equal(request.kind, kind);
    if (paths) assert.deepEqual(request.paths, paths);
  });

test("a session to go on with is found under each name that a host has for it", () => {
  const resumed = (host: ToolHost, tool: string, field: string) =>
    requestOf(host, { tool, input: { [field]: "ses_1" } }).delegate?.resumes;
  assert.equal(resumed("opencode", "task", "task_id"), "ses_1");
  for (const field of ["resume", "task_id", "agent_id"])
    assert.equal(resumed("claude", "Agent", field), "ses_1", field);
});

test("a sub-agent is started where its parent is, and nowhere else", () => {
  const input = { subagent_type: "general-purpose", prompt: "Do it." };
  for (const tool of ["Agent", "Task"]) {
    assert.equal(requestOf("claude", { tool, input }).malformed, undefined);
    assert.match(
      requestOf("claude", { tool, input: { ...input, isolation: "worktree" } }).malformed ?? "",
      /isolation/,
    );
  }
});

test("every tool that changes something names what it changes", () => {
  for (const [name, shape] of [...Object.entries(OPENCODE_TOOLS), ...Object.entries(CLAUDE_TOOLS)]) {
    if (shape.kind === "write" || shape.kind === "edit") assert(shape.paths ?? shape.patch, name);
    if (shape.kind === "shell") assert(shape.command, name);
  }
});

test("the files of a patch, in each of its forms", () => {
  assert.deepEqual(filesInPatch("--- a/x.ts\n+++ b/y.ts\n@@ -1 +1 @@\n-a\n+b\n"), ["x.ts", "y.ts"]);
  assert.deepEqual(filesInPatch("--- /dev/null\n+++ b/new.ts\n"), ["new.ts"]);
  assert.deepEqual(filesInPatch("rename from a\nrename to b\n"), ["a", "b"]);
  assert.deepEqual(filesInPatch("*** Add File: a b.txt\r\n+x\r\n"), ["a b.txt"]);
  assert.equal(filesInPatch("nothing"), undefined);
  // As git quotes names, and where only the header has them.
  assert.deepEqual(filesInPatch('--- "a/\\056git/config"\n+++ "b/caf\\303\\251 \\"x\\".ts"\n'), [
    ".git/config",
    'café "x".ts',
  ]);
  assert.deepEqual(filesInPatch("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"), ["x"]);
  assert.deepEqual(filesInPatch("diff --git a/a b.ts b/a b.ts\ndeleted file mode 100644\n"), ["a b.ts"]);
  assert.deepEqual(filesInPatch('diff --git "a/\\056git" b/y\n'), [".git", "y"]);
  assert.deepEqual(filesInPatch("***  add file: .git/x\n+x\n*** Update File: y\n"), [".git/x", "y"]);
  // OpenCode ends a line at \n only; what stands before `..` is gone when the path is resolved.
  for (const odd of ["\u2028", "\u2029", "\r"])
    assert.deepEqual(filesInPatch(`*** Add File: a\n+x\n*** Add File: x${odd}/../.git/config\n+x\n`), [
      "a",
      `x${odd}/../.git/config`,
    ]);
});
