import assert from "node:assert/strict";
import { test } from "node:test";
import type { Denial } from "../../../src/governance/policy/denial.ts";
import { type Asked, ask, graph, node, policy, ruleOf } from "./fixtures.ts";

function denialOf(tool: string, input: unknown, asked: Asked = {}): Denial {
  const verdict = ask(tool, input, asked);
  assert(!verdict.allow, "it was allowed");
  return verdict.denial;
}

const both = (path: string) =>
  [
    ["write", { filePath: path }],
    ["bash", { command: `echo x > ${path}` }],
  ] as const;

test("what the config protects is not said to belong to git", () => {
  const asked = { policy: policy({ protected: ["prloom", ".git", "deploy"] }) };
  for (const [tool, input] of both("deploy/run.sh"))
    assert.match(denialOf(tool, input, asked).why, /^The config .*governance\.protected has deploy/);
  for (const path of ["prloom/config.json", ".git/config"])
    for (const [tool, input] of both(path)) assert.match(denialOf(tool, input, asked).why, /^It decides .* git/);
});

test("the paths of a task are not said to be those of the role", () => {
  const asked = { policy: policy({ paths: ["docs/**"] }) };
  assert.equal(denialOf("write", { filePath: "src/a.ts" }, asked).why, "This task changes only: docs/**.");
  assert.match(denialOf("bash", { command: "touch src/a.ts" }, asked).why, /outside of what this task changes/);
  const role = { ...policy().role, name: "writer", paths: ["docs/**"] };
  const both = { policy: policy({ role, paths: ["docs/a/**"] }), graph: graph(node("two", { assignedTo: "writer" })) };
  assert.equal(denialOf("write", { filePath: "src/a.ts" }, both).why, 'The role "writer" changes only: docs/**.');
  assert.equal(denialOf("write", { filePath: "docs/b.md" }, both).why, "This task changes only: docs/a/**.");
});

test("who cannot commit is not told to", () => {
  const push = ["bash", { command: "git push" }] as const;
  assert.match(denialOf(...push).useInstead, /^Commit only/);
  const investigator = {
    policy: policy({}, "investigator"),
    graph: graph(node("two", { assignedTo: "investigator" })),
  };
  assert.doesNotMatch(denialOf(...push, investigator).useInstead, /commit/i);
});

test("who writes in some folders only is not sent to any path of the worktree", () => {
  const touch = ["bash", { command: "touch src/a.ts" }] as const;
  const investigator = {
    policy: policy({}, "investigator"),
    graph: graph(node("two", { assignedTo: "investigator" })),
  };
  for (const asked of [investigator, { policy: policy({ paths: ["docs/**"] }) }])
    assert.match(
      denialOf(...touch, asked).useInstead,
      /^Say in your answer what should be changed there, or use \S+ for/,
    );
  assert.match(denialOf("bash", { command: "touch ../a" }).useInstead, /^Use a path below/);
});

test("everyone may write to /dev/null, and answer whatever tools the task has", () => {
  assert.equal(ruleOf(ask("write", { filePath: "/dev/null" })), "allowed");
  const reading = { policy: policy({ tools: ["read"] }) };
  assert.equal(ruleOf(ask("edit", { filePath: "prloom/.local/plan.md" }, reading)), "allowed");
  assert.equal(ruleOf(ask("edit", { filePath: "src/a.ts" }, reading)), "allowed tools");
});
