import assert from "node:assert/strict";
import { test } from "node:test";
import { effectRows, TREE_COLUMNS } from "../../../src/cli/render/effect-tree.ts";
import { renderTable } from "../../../src/cli/render/tables/table.ts";
import type { EffectTree } from "../../../src/governance/shell/effects.ts";

const lines = (tree: EffectTree, width = 100) => renderTable(TREE_COLUMNS, effectRows(tree, "/r"), { width }).slice(1);
const leaf = (command: string, ...effects: EffectTree["effects"]): EffectTree => ({ command, effects, inner: [] });

test("commands are branches of what they stand in, and paths are below the worktree", () => {
  const tree: EffectTree = {
    command: "a | b > out && sh -c 'rm x; y'",
    effects: [{ kind: "writes", what: "writes /r/out" }],
    inner: [
      leaf("a", { kind: "reads", what: "reads /etc/hosts" }, { kind: "reads", what: "reads /r" }),
      leaf("b"),
      {
        command: "sh -c 'rm x; y'",
        effects: [],
        inner: [
          leaf("rm x", { kind: "deletes", what: "deletes /r/x" }),
          leaf("y", { kind: "unknown", what: "runs code that cannot be told: y" }),
        ],
      },
    ],
  };
  assert.deepEqual(lines(tree), [
    "a | b > out && sh -c 'rm x; y'  writes   out",
    "├ a                             reads    /etc/hosts",
    "│                               reads    .",
    "├ b",
    "└ sh -c 'rm x; y'",
    "  ├ rm x                        deletes  x",
    "  └ y                           unknown  runs code that cannot be told: y",
  ]);
});

test("a line of one command is that command, as it was written", () => {
  const tree = { command: "ls 'a b'", effects: [], inner: [leaf("ls a b")] };
  assert.deepEqual(lines(tree), ["ls 'a b'"]);
});

test("what an agent wrote steers no terminal and fills no screen", () => {
  const command = `echo \u001b[2J\n${"x".repeat(5000)}`;
  const [line = ""] = lines(leaf(command, { kind: "sends", what: `sends\u202e${"y".repeat(5000)}` }), 400);
  assert(line.startsWith("echo \\u{1b}[2J\\nxxx"), line);
  assert(line.length < 300, String(line.length));
  assert(!line.includes("\u001b") && !line.includes("\u202e"));
});
