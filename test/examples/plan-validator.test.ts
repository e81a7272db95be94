import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { story } from "../testing/story.ts";
import { install } from "./installed.ts";

const project = install(["plan-validator", "kanban"], { configs: { kanban: { status: "draft" } } });
after(() => project.remove());
const todo = join(project.root, "board", "todo");
mkdirSync(todo, { recursive: true });

async function textOf(title: string): Promise<string> {
  const plan =
    (await project.status()).plans.find((found) => found.title === title) ?? assert.fail(`no plan "${title}"`);
  return JSON.parse((await project.type("show", plan.planId, "--json")).stdout).text;
}

const step = story("a plan that lacks a section");

step("a plan without a title is rejected, and the reason is told", async () => {
  writeFileSync(join(todo, "idea.md"), "Something should be better.\n");
  const printed = await project.untilIdle();
  assert.match(printed, /planValidator.*card idea has no title/);
  const { plans, dead } = await project.status();
  assert.deepEqual(plans, []);
  assert.equal(dead?.count, 0, "it is settled, and not a failure");
  assert.doesNotMatch(await project.untilIdle(), /has no title/, "the same card is not tried again");
});

step("with a title it is taken, and gets the sections that every plan has", async () => {
  writeFileSync(join(todo, "idea.md"), "# Better names\n\n## TODO\n\n- [ ] Rename it\n");
  await project.untilIdle();
  assert.match(
    await textOf("Better names"),
    /- \[ \] Rename it\n\n## Definition of done\n\nTests pass, and the changelog has a line\.\n$/,
  );
});

step("a section that is there already stays as it is", async () => {
  const text = "# Own words\n\n## Definition of done\n\nWhen it sings.\n\n## TODO\n\n- [ ] Sing\n";
  writeFileSync(join(todo, "song.md"), text);
  await project.untilIdle();
  const taken = await textOf("Own words");
  assert.match(taken, /When it sings\./);
  assert.doesNotMatch(taken, /changelog/);
});
