import assert from "node:assert/strict";
import { test } from "node:test";
import { projectMaker, succeeds, works } from "../../../testing/projects.ts";

const project = projectMaker();

const LINES = [
  "by: wrter",
  "tools: reed",
  "paths: ../x",
  "after: 99",
  "expects: magic",
  "path: docs",
  "expects: files /docs/*.md",
  "paths: src/*.{ts,tsx}",
  "expects: files docs/**, README.md",
  "expects: files docs/a.md docs/b.md",
  "by: investigator\n  expects: files src/**",
  "by: looker\n  expects: tests",
];

test("what cannot be understood below a TODO is told when it is written, edited and shown", async () => {
  const own = project();
  own.config({
    governance: { roles: { writer: { extends: "executor", paths: ["docs/**"] }, looker: { extends: "investigator" } } },
  });
  const todos = LINES.map((line, at) => `- [ ] step ${at}\n  ${line}\n`).join("");
  const expected = [
    /TODO 1: "by: wrter" blocks the plan when its turn comes: there is no such role, did you mean writer\?/,
    /TODO 2: "tools: reed" names no tool, did you mean read\?/,
    /TODO 3: "paths: \.\.\/x" fits no file/,
    /TODO 4 is after TODO 99, and there is no TODO 99/,
    /TODO 5: "expects: magic" is ignored/,
    /TODO 6: "path:" is ignored: did you mean "paths:"\?/,
    /TODO 7: "expects: files \/docs\/\*\.md" fits no file/,
    /TODO 8: "paths: src\/\*\.\{ts" fits no file: .*braces/,
    /TODO 8: "paths: tsx\}" fits no file/,
    /TODO 9: "expects: files docs\/\*\*, README\.md" is read as one pattern/,
    /TODO 10: "expects: files docs\/a\.md docs\/b\.md" is read as one pattern/,
    /TODO 11: "expects: files src\/\*\*" is never met: "by: investigator" is a role that changes nothing/,
    /TODO 12: "expects: tests" is never met: "by: looker"/,
  ];
  own.planFile("shop", `# Shop\n\n## TODO\n${todos}`, { status: "draft" });
  const { stdout: made } = await own.cli(["new", "Other", "--file", `${own.inbox}/shop.md`]);
  const shown = await succeeds(own, "show", "shop");
  const edited = await succeeds(own, "edit", "shop", "--file", `${own.inbox}/shop.md`);
  for (const hint of expected) for (const told of [made, shown, edited]) assert.match(told, hint);
});

test("what is meant as it is written is told of in no hint", async () => {
  const own = project();
  const lines = [
    "expects: files docs/my file.md",
    "paths: {{name}}/**, [id]/**, ./src/",
    "by: investigator",
    "by: investigator\n  expects: none",
    "expects: tests\n  tools: Edit, bash, notes_write",
  ];
  own.planFile("shop", `# Shop\n\n## TODO\n${lines.map((line) => `- [ ] step\n  ${line}\n`).join("")}`, {
    status: "draft",
  });
  assert.doesNotMatch(await succeeds(own, "show", "shop"), /note:/);
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

test("a plan that is research has its TODOs done by those who only look, whatever agent it has, and by no other", async () => {
  const roles = {
    writer: { extends: "executor", shell: "reads" },
    reader: { extends: "executor", shell: "none", tools: ["read"] },
  };
  const own = project({ config: { limits: { attemptsPerTodo: 1 }, governance: { roles } } });
  const metadata = { category: "research" };
  for (const by of ["writer", "reader"])
    own.planFile(by, `# One\n\n## TODO\n\n- [ ] one\n  by: ${by}\n`, { status: "queued", metadata });
  own.planFile("study", "# Study\n\n## TODO\n\n- [ ] one\n", { status: "queued", metadata });
  own.planFile("build", "# Build\n\n## TODO\n\n- [ ] one\n  by: executor\n", { status: "queued", metadata });
  own.planFile("odd", "# Odd\n\n## TODO\n\n- [ ] one\n", { status: "queued", metadata: { category: "reserch" } });
  await works(own);
  assert.match(own.record("study").blocked?.reason ?? "", /do not allow a change of `/, "its agent changed something");
  assert.match(
    own.record("build").blocked?.reason ?? "",
    /by "executor", and the plan is research, which changes nothing/,
  );
  assert.match(own.record("writer").blocked?.reason ?? "", /by "writer", and the plan is research/);
  assert.match(own.record("reader").blocked?.reason ?? "", /do not allow a change of `/);
  assert.match(own.record("odd").blocked?.reason ?? "", /metadata\.category must be one of feature, fix/);
  const { workPlans } = JSON.parse(await succeeds(own, "tasks", "study", "--json"));
  assert.deepEqual([workPlans[0].category, workPlans[0].tasks[0].assignedTo], ["research", "investigator"]);
  assert.match(
    await succeeds(own, "explain", "--plan", "study", "write", "src/a.txt"),
    /^deny {2}role|^deny {2}path scope/m,
  );
});
