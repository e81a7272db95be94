import assert from "node:assert/strict";
import { test } from "node:test";
import { askedCall, unknownTool } from "../../../src/cli/policy/asked-call.ts";
import { PrloomError } from "../../../src/kernel/errors.ts";

const ROWS: readonly [tool: string, input: unknown, kind: string, found: string | readonly string[]][] = [
  ["shell", ["git push --force"], "shell", "git push --force"],
  ["shell", ["git", "push", "--force"], "shell", "git push --force"],
  ["shell", ["{ ls; }"], "shell", "{ ls; }"],
  ["shell", { command: "ls" }, "shell", "ls"],
  ["bash", ['{"command":"ls"}'], "shell", "ls"],
  ["bash", "ls -la", "shell", "ls -la"],
  ["Bash", { command: "ls" }, "shell", "ls"],
  ["govern_shell", ["npm test"], "shell", "npm test"],
  ["write", ["src/a.ts"], "write", ["src/a.ts"]],
  // OpenCode's write, and our own.
  ["write", { filePath: "a" }, "write", ["a"]],
  ["write", { path: "a" }, "write", ["a"]],
  ["Write", { file_path: "a", content: "x" }, "write", ["a"]],
  ["edit", ["a b"], "edit", ["a b"]],
  ["NotebookEdit", ["a.ipynb"], "edit", ["a.ipynb"]],
  ["apply_patch", ["*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"], "edit", ["a"]],
  ["search", [], "search", []],
  ["grep", ["src"], "search", ["src"]],
  ["webfetch", ["file:///etc/passwd"], "read", ["/etc/passwd"]],
  ["webfetch", ["file:///a%zz"], "read", ["/a%zz"]],
  ["todowrite", [], "read", []],
  ["github_get_issue", ["7"], "other", []],
  ["mcp__github__get_issue", { number: 7 }, "other", []],
];

for (const [tool, input, kind, found] of ROWS)
  test(`${tool} ${JSON.stringify(input)}`, () => {
    const request = askedCall(tool, input);
    assert.equal(request.malformed, undefined);
    assert.equal(request.kind, kind);
    assert.deepEqual(request.command ?? request.paths, found);
  });

test("a governance tool takes its action, then the node", () => {
  assert.deepEqual(askedCall("govern_task", ["start", "n1"]).action, { name: "start", node: "n1" });
  assert.deepEqual(askedCall("govern_task", ["status"]).action, { name: "status", node: undefined });
});

const MALFORMED: readonly [tool: string, input: unknown, problem: string][] = [
  ["bash", { command: 7 }, '"command" must be a string that is not empty'],
  ["bash", undefined, "they are not an object"],
  ["bash", [], '"command" must be a string that is not empty'],
  ["write", {}, '"filePath" is missing'],
  ["write", [["a"]], "they are not an object"],
  ["govern_task", [], '"action" must be a string'],
  ["write", { path: "" }, '"path" must be a string that is not empty'],
  ["write", { path: "a\0b" }, '"path" contains a NUL character'],
];

for (const [tool, input, problem] of MALFORMED)
  test(`malformed: ${tool} ${JSON.stringify(input)}`, () => assert.equal(askedCall(tool, input).malformed, problem));

test("two paths where there is one are a mistake of the person who asks", () => {
  assert.throws(
    () => askedCall("write", ["a", "b"]),
    (error) => error instanceof PrloomError && error.code === "usage" && error.hint.includes('{"filePath": "…"}'),
  );
});

test("what looks like JSON and is not is no command", () => {
  for (const words of [['{"command": "ls"'], ['{ "command": "ls"'], ["{command: ls}"], ["{command:", "ls}"]])
    assert.throws(
      () => askedCall("Bash", words),
      (error) => error instanceof PrloomError && error.code === "usage" && /look like JSON/.test(error.message),
      words.join(" "),
    );
});

test("a search with what it looks for is told what it is judged by", () => {
  assert.throws(
    () => askedCall("search", ["foo", "src"]),
    (error) => error instanceof PrloomError && error.hint.endsWith("prloom explain search src"),
  );
});

test("a name that is close to that of a tool is probably a slip, and one of an MCP server is not", () => {
  const meant: [tool: string, guess: string | undefined][] = [
    ["shel", "shell"],
    ["Shell", "shell"],
    ["govern_tsk", "govern_task"],
    ["github_get_issue", undefined],
    ["mcp__db__query", undefined],
    ["shell", undefined],
    ["govern_shell", undefined],
    ["constructor", undefined],
  ];
  for (const [tool, guess] of meant) {
    const expected = guess === undefined ? [] : [`there is no tool called "${tool}", did you mean ${guess}?`];
    assert.deepEqual(unknownTool(tool), expected);
  }
});
