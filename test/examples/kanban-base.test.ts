import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { thorough } from "../testing/thorough.ts";
import { install } from "./installed.ts";

test("what came from the plan can be taken back in the card", thorough, async () => {
  const project = install(["kanban"]);
  after(() => project.remove());
  const board = join(project.root, "board");
  mkdirSync(join(board, "todo"), { recursive: true });
  writeFileSync(join(board, "todo", "poem.md"), "# Poem\n\nOf spring.\n\n## TODO\n\n- [ ] a\n\n## Form\n\nFree.\n");
  await project.untilIdle();
  const { planId = "" } = (await project.status()).plans[0] ?? {};
  await project.type("pause", planId);
  const edited = join(project.home, "edited.md");
  const before = project.planText(planId);
  writeFileSync(edited, before.replace("- [x] a\n", "- [x] a\n- [ ] d\n").replace("Free.", "A sonnet."));
  await project.type("edit", planId, "--file", edited);
  await project.untilIdle();
  const card = ["doing", "review"]
    .map((name) => join(board, name, "poem.md"))
    .find((path) => {
      try {
        return readFileSync(path, "utf8").includes("- [ ] d");
      } catch {
        return false;
      }
    });
  assert.ok(card, "the edit of the plan reached the card");
  writeFileSync(card, readFileSync(card, "utf8").replace("- [ ] d\n", "").replace("A sonnet.", "Free."));
  await project.untilIdle();
  assert.equal(project.planText(planId), before);
});
