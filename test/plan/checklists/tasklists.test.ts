import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planFromIssue } from "../../../src/plan/checklists/as-plan.ts";
import { withoutTasklistFences } from "../../../src/plan/checklists/tasklists.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";

const todosIn = (text: string): string[] =>
  parsePlan(planFromIssue(withoutTasklistFences(text))).todos.map((todo) => todo.text);

describe("GitHub's tasklists", () => {
  const tasks = "- [ ] Route\n- [x] Button\n";
  for (const [name, text] of [
    ["with a heading inside", `Slow.\n\n\`\`\`[tasklist]\n### Tasks\n${tasks}\`\`\`\n\nThanks!\n`],
    ["below a heading", `## Work items\n\`\`\`[tasklist]\n${tasks}\`\`\`\nThanks!\n`],
    ["below TODO", `## TODO\n\n\`\`\`[tasklist]\n${tasks}\`\`\`\n`],
    ["as Windows writes lines", `Slow.\n\n~~~ [TaskList]\n### Tasks\n${tasks}~~~~ \n`.replaceAll("\n", "\r\n")],
    ["that are not closed", `Slow.\n\n\`\`\`[tasklist]\n### Tasks\n${tasks}`],
  ] as const)
    it(`${name} are tasks`, () => assert.deepEqual(todosIn(text), ["Route", "Button"]));

  it("leave nothing of their fences in the plan", () => {
    const plan = planFromIssue(
      withoutTasklistFences(`# Slow\n\nSee:\n\`\`\`[tasklist]\n### Tasks\n${tasks}\`\`\`\nThanks!\n`),
    );
    assert.doesNotMatch(plan, /```|tasklist/);
    assert.match(plan, /Thanks!\n\n## TODO/);
  });

  it("are code where they are shown as an example, and other code stays code", () => {
    for (const text of [
      `\`\`\`\`md\n\`\`\`[tasklist]\n${tasks}\`\`\`\n\`\`\`\`\n`,
      `\`\`\`[tasks]\n${tasks}\`\`\`\n`,
      tasks,
    ])
      assert.equal(withoutTasklistFences(text), text);
  });
});
