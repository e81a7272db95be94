import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePlan } from "../../src/plan/markdown/markdown.ts";
import { dependenciesOf, wishesOf } from "../../src/plan/metadata.ts";
import { sourceKey } from "../../src/plan/record.ts";

test("a plan's wishes are checked, and strange keys are ignored", () => {
  const metadata = {
    agent: " fast ",
    limits: { runTimeout: "1h", attemptsPerTodo: 1, maxDeletions: { files: 3 } },
    x: 1,
  };
  assert.deepEqual(wishesOf(metadata), {
    wishes: { agent: "fast", limits: metadata.limits },
    problems: [],
  });
  assert.deepEqual(wishesOf({}), { wishes: {}, problems: [] });
  const wrong = wishesOf({ agent: 3, model: "", preset: ["x"], limits: [1] });
  assert.deepEqual(wrong.wishes, {});
  assert.deepEqual(
    wrong.problems.map((problem) => /metadata\.(\w+)/.exec(problem)?.[1]),
    ["agent", "model", "preset", "limits"],
  );
  assert.deepEqual(wishesOf({ category: "research" }).wishes, { category: "research" });
  assert.match(wishesOf({ category: "Research" }).problems[0] ?? "", /metadata\.category must be one of feature, fix/);
  assert.match(wishesOf({ limits: { runTimeout: null } }).problems[0] ?? "", /limits\.runTimeout/);
});

test("a dependency that is not understood is a problem: it would not be waited for", () => {
  const source = { system: "github", kind: "issue", id: "1" };
  assert.deepEqual(wishesOf({ dependsOn: ["base", source] }).problems, []);
  assert.deepEqual(wishesOf({ dependsOn: "base" }).problems, []);
  for (const dependsOn of [[12], 12, { id: "base" }, ["base", " "], [["base"]]])
    assert.match(
      wishesOf({ dependsOn }).problems.join(),
      /metadata\.dependsOn must have ids/,
      JSON.stringify(dependsOn),
    );
});

test("dependencies come from metadata and from the text, each once", () => {
  const source = { system: "github", kind: "issue", id: "1" };
  const text = parsePlan("## Depends on\n\n- `base`\n- other\n");
  assert.deepEqual(dependenciesOf({ dependsOn: ["base", source, 3, " ", null] }, text), [
    "base",
    sourceKey(source),
    "other",
  ]);
  assert.deepEqual(dependenciesOf({ dependsOn: "one" }, parsePlan("")), ["one"]);
  assert.deepEqual(dependenciesOf({}, parsePlan("")), []);
});
