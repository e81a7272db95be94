import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { appears, until } from "../testing/agents/agent-scripts.ts";
import { startDaemon } from "../testing/daemon.ts";
import { thorough } from "../testing/thorough.ts";
import { install } from "./installed.ts";

test(
  "during a run the card and then the plan are edited: both edits survive, are worked on, and come to rest",
  thorough,
  async () => {
    const gate = mkdtempSync(join(tmpdir(), "prloom-gate-"));
    const project = install(["kanban"], { env: { GATE: gate }, configs: { kanban: { status: "draft" } } });
    after(() => {
      project.remove();
      rmSync(gate, { recursive: true });
    });
    const columns = ["todo", "doing", "review"].map((name) => join(project.root, "board", name));
    for (const folder of columns) mkdirSync(folder, { recursive: true });
    const [todo = "", doing = "", review = ""] = columns.map((folder) => join(folder, "poem.md"));
    writeFileSync(todo, "# Poem\n\nOf spring.\n\n## TODO\n\n- [ ] [waits] a\n\n## Form\n\nFree.\n");
    await project.untilIdle();
    const { planId = "" } = (await project.status()).plans[0] ?? {};

    const daemon = await startDaemon(project);
    await project.type("queue", planId);
    await daemon.said(planId, /worker started/);
    await appears(join(project.worktree(planId), "half.txt"));
    await until(join(doing, ".."), () => existsSync(doing));
    const card = readFileSync(doing, "utf8");
    writeFileSync(doing, card.replace("[waits] a\n", "[waits] a\n- [ ] c from card\n").replace("spring", "autumn"));
    await project.type("poll", "kanban");
    const edited = join(project.home, "edited.md");
    const text = project.planText(planId).replace("[waits] a\n", "[waits] a\n- [ ] d from plan\n");
    assert.doesNotMatch(text, /c from card/, "the run has not ended, so the plan does not have it yet");
    writeFileSync(edited, text.replace("Free.", "A sonnet."));
    await project.type("edit", planId, "--file", edited);
    await until(join(doing, ".."), () => readFileSync(doing, "utf8").includes("d from plan"));
    writeFileSync(join(gate, planId), "go on\n");
    await until(join(review, ".."), () => existsSync(review));
    await daemon.end();

    await project.untilIdle();
    const count = (await project.events()).length;
    await project.untilIdle();
    assert.equal((await project.events()).length, count, "it does not come to rest");
    assert.equal(
      project.planText(planId),
      "# Poem\n\nOf autumn.\n\n## TODO\n\n- [x] [waits] a\n- [x] c from card\n- [x] d from plan\n\n## Form\n\nA sonnet.\n",
    );
    assert.equal(readFileSync(review, "utf8").replace(/\n<!-- prloom \w+ -->\n$/, ""), project.planText(planId));
    assert.deepEqual(project.commits(planId), ["[waits] a", "c from card", "d from plan"]);
  },
);
