import assert from "node:assert/strict";
import { test } from "node:test";
import { renderDenial } from "../../../src/governance/policy/denial.ts";
import { judgeWith } from "../../../src/governance/policy/judge.ts";
import type { ToolRequest } from "../../../src/governance/policy/request.ts";
import { ask, fakeFiles, policy, ruleOf, STARTED } from "./fixtures.ts";

test("a fault of ours denies what changes something, lets reading through, and says that it is ours", () => {
  const broken = { ...fakeFiles(), link: () => assert.fail("the disk is gone") };
  const judge = judgeWith(broken);
  const request = (kind: ToolRequest["kind"]): ToolRequest => ({
    kind,
    tool: kind,
    paths: ["a"],
    command: "echo x > a",
  });
  for (const kind of ["write", "edit", "shell"] as const) {
    const verdict = judge(request(kind), STARTED, policy(), 0);
    assert(!verdict.allow, kind);
    assert.equal(verdict.denial.rule, "internal");
    assert.match(verdict.denial.why, /fault of prloom/);
    assert.match(verdict.denial.evidence, /the disk is gone/);
  }
  for (const kind of ["read", "search"] as const) {
    const verdict = judge(request(kind), STARTED, policy(), 0);
    assert(verdict.allow, kind);
    assert.match(verdict.note ?? "", /a fault of prloom: .*the disk is gone/);
  }
});

const deep = (depth: number): unknown => {
  let value: unknown = {};
  for (let at = 0; at < depth; at += 1) value = { value };
  return value;
};

const BAD: readonly [what: string, tool: string, input: unknown][] = [
  ["nothing", "write", undefined],
  ["null", "write", null],
  ["a list", "write", ["src/a.ts"]],
  ["a string", "bash", "ls"],
  ["a path that is a number", "write", { filePath: 7 }],
  ["a path that is missing", "edit", {}],
  ["an empty path", "write", { filePath: "" }],
  ["a path with NUL", "write", { filePath: "a\0b" }],
  ["a path of 5,000 characters", "write", { filePath: "a/".repeat(2500) }],
  ["a path in a home, as shells write it", "write", { filePath: "~/.bashrc" }],
  ["an edit whose path is a number", "multiedit", { filePath: "a", edits: [{ filePath: 7 }] }],
  ["a command that is an object", "bash", { command: { text: "ls" } }],
  ["a command that is missing", "bash", {}],
  ["a command with NUL", "bash", { command: "ls\0rm" }],
  ["a depth of 100,000", "write", deep(100_000)],
  ["a patch that names no file", "apply_patch", { patchText: "*** Begin Patch\n*** End Patch" }],
  ["an action that is a list", "govern_task", { action: ["start"] }],
  ["names of the prototype", "write", JSON.parse('{"__proto__": {"filePath": "src/a.ts"}}')],
];

for (const [what, tool, input] of BAD)
  test(`arguments that do not fit are denied by what is wrong with them: ${what}`, () => {
    const verdict = ask(tool, input);
    assert(!verdict.allow);
    assert.equal(verdict.denial.rule, "arguments");
    assert.match(verdict.denial.what, new RegExp(`^The arguments of "${tool}" cannot be used: .+\\.$`));
  });

test("a governance tool without usable arguments is denied with a call that can be made", () => {
  for (const [tool, action] of [
    ["govern_task", "status"],
    ["govern_delegate", "status"],
    ["anchor", "list"],
  ] as const) {
    const verdict = ask(tool, {});
    assert(!verdict.allow);
    assert.deepEqual(verdict.denial.calls, [{ tool, input: { action } }]);
    assert(ask(tool, { action }).allow);
  }
});

test("names that every object has are not tools", () => {
  for (const tool of ["constructor", "toString", "__proto__", "hasOwnProperty"])
    assert.equal(ruleOf(ask(tool, {})), "allowed tools", tool);
});

test("a command that is too long, or cannot be parsed, has a verdict that says so", () => {
  for (const [command, why] of [
    ["x".repeat(1024 * 1024), /longer than 64 KB/],
    ["if (", /cannot be parsed/],
    ["echo 'x", /cannot be parsed/],
    ["(".repeat(5000), /cannot be parsed/],
  ] as const) {
    const verdict = ask("bash", { command });
    assert(!verdict.allow);
    assert.equal(verdict.denial.rule, "shell safety");
    assert.match(verdict.denial.what, why);
  }
});

test("no denial has half of a character, wherever its call is cut", () => {
  for (let at = 0; at < 2; at += 1) {
    const long = `${"a".repeat(at)}${"🎉".repeat(400)}`;
    for (const [tool, input] of [
      ["bash", { command: `git push ${long}` }],
      ["bash", { command: `rm -rf /${long}` }],
      ["write", { filePath: `.claude/${long}`, content: "x" }],
      ["govern_task", { action: "start", node: long }],
    ] as const) {
      const verdict = ask(tool, input);
      assert(!verdict.allow);
      assert(renderDenial(verdict.denial, { tool }).isWellFormed(), `${tool} ${at}`);
    }
  }
});
