import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { planDigest } from "../../src/plan/digest.ts";
import { appendToSection, setTodoState } from "../../src/plan/edit-plan.ts";
import { parsePlan } from "../../src/plan/markdown/markdown.ts";

const PLAN = "# Plan\n\n## TODO\n\n- [ ] a\n- [x] b\n\n## Notes\n\nx\n";

test("ticks, line breaks and the Progress Log do not count", () => {
  const digest = planDigest(PLAN);
  const first = parsePlan(PLAN).todos[0]?.id ?? "";
  assert.equal(planDigest(setTodoState(PLAN, first, "done")), digest);
  assert.equal(planDigest(setTodoState(PLAN, first, "blocked")), digest);
  assert.equal(planDigest(`\uFEFF${PLAN.replaceAll("\n", "\r\n")}\r\n`), digest);
  const logged = appendToSection(PLAN, "Progress Log", ["- did a"]);
  assert.equal(planDigest(logged), digest);
  assert.equal(planDigest(appendToSection(logged, "Progress Log", ["- did b"])), digest);
  const between = PLAN.replace("## Notes", "## Progress Log\n\n- x\n\n## Notes");
  assert.equal(planDigest(between), digest);
});

test("everything else counts", () => {
  const changes = [
    PLAN.replace("- [ ] a", "- [ ] a, and more"),
    PLAN.replace("- [ ] a", "- [ ] a\n  expects: none"),
    PLAN.replace("\nx\n", "\ny\n"),
    appendToSection(PLAN, "Decision Log", ["- z"]),
    `${PLAN}\n## Progress Log\n\n## Progress Log\n\nhidden\n`,
    PLAN.replace("## Notes\n\nx\n", "## Notes\n\n- [x] x\n"),
  ];
  const digests = [PLAN, ...changes].map((text) => planDigest(text));
  assert.equal(new Set(digests).size, digests.length);
});

test("the plan's own config counts by value, not by the order of its keys", () => {
  assert.equal(planDigest(PLAN, {}), planDigest(PLAN));
  assert.notEqual(planDigest(PLAN, { agent: "a" }), planDigest(PLAN));
  assert.notEqual(planDigest(PLAN, { agent: "a" }), planDigest(PLAN, { agent: "b" }));
  assert.equal(
    planDigest(PLAN, { agent: "a", limits: { x: 1, y: 2 } }),
    planDigest(PLAN, { limits: { y: 2, x: 1 }, agent: "a" }),
  );
});

test("property: any text has a digest, and different prose another one", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{1,20}$/), fc.stringMatching(/^[a-z]{1,20}$/), (a, b) => {
      assert.equal(planDigest(PLAN + a) === planDigest(PLAN + b), a === b);
    }),
  );
});
