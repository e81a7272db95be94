import assert from "node:assert/strict";
import { test } from "node:test";
import { projectMaker, succeeds, works } from "../../testing/projects.ts";

const project = projectMaker();

const LINES = ["by: wrter", "tools: reed", "paths: ../x", "after: 9", "expects: magic", "path: docs"];

test("what cannot be understood below a TODO is told when it is written, edited and shown", async () => {
  const own = project();
  own.config({ governance: { roles: { writer: { extends: "executor", paths: ["docs/**"] } } } });
  const todos = LINES.map((line, at) => `- [ ] step ${at}\n  ${line}\n`).join("");
  const expected = [
    /TODO 1: "by: wrter" blocks the plan when its turn comes: there is no such role, did you mean writer\?/,
    /TODO 2: "tools: reed" names no tool, did you mean read\?/,
    /TODO 3: "paths: \.\.\/x" fits no file/,
    /TODO 4 is after TODO 9, and there is no TODO 9/,
    /TODO 5: "expects: magic" is ignored/,
    /TODO 6: "path:" is ignored: did you mean "paths:"\?/,
  ];
  own.planFile("shop", `# Shop\n\n## TODO\n${todos}`, { status: "draft" });
  const { stdout: made } = await own.cli(["new", "Other", "--file", `${own.inbox}/shop.md`]);
  const shown = await succeeds(own, "show", "shop");
  const edited = await succeeds(own, "edit", "shop", "--file", `${own.inbox}/shop.md`);
  for (const hint of expected) for (const told of [made, shown, edited]) assert.match(told, hint);
});

test("a TODO for a role that is not there blocks the plan, whatever the agent", async () => {
  const own = project();
  own.planFile("shop", "# Shop\n\n## TODO\n\n- [ ] one\n  by: wrter\n");
  await works(own);
  assert.match(own.record("shop").blocked?.reason ?? "", /TODO 1 is to be done by "wrter"/);
});

test("what a TODO expects, and where it may change something, is the dispatcher's own look, and each miss an attempt", async () => {
  const own = project({ config: { limits: { attemptsPerTodo: 2 } } });
  own.planFile("narrow", "# Narrow\n\n## TODO\n\n- [ ] one\n  paths: docs/**\n");
  own.planFile("wanting", "# Wanting\n\n## TODO\n\n- [ ] one\n  expects: files docs/**\n");
  await works(own);
  assert.match(own.record("narrow").blocked?.reason ?? "", /failed after 2 attempts.*do not allow a change of `/s);
  assert.match(own.record("wanting").blocked?.reason ?? "", /failed after 2 attempts.*no changed file matches/s);
  assert.match(own.runFile("narrow", 2, "prompt.md"), /do not allow a change of/);
});
