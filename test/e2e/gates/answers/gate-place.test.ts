import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gateStates, showPlan, succeeds, untilIdle } from "../../../testing/at-gate.ts";
import { makeProject, type Project } from "../../../testing/project.ts";
import { ANNA, addScripted, issue } from "../../../testing/scripted-tracker.ts";
import { thorough } from "../../../testing/thorough.ts";
import type { ScriptedTracker } from "../../../testing/tracker/scripted.ts";

interface World {
  readonly project: Project;
  readonly tracker: ScriptedTracker;
  /** Anna says something about the plan at another place; returns what she was told there since. */
  says(body: string, place?: object): Promise<string>;
}

/** A plan from an issue of the tracker, and another bridge that brings comments on the plan from wherever a test says. */
async function atGate(): Promise<World> {
  const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
  const tracker = addScripted(project);
  const [inbox, outbox] = [join(project.home, "chat.json"), join(project.home, "replies")];
  writeFileSync(
    join(project.root, "prloom", "chat.mjs"),
    `import { appendFileSync, existsSync, readFileSync } from "node:fs";
     const read = () => (existsSync(${JSON.stringify(inbox)}) ? JSON.parse(readFileSync(${JSON.stringify(inbox)}, "utf8")) : []);
     export default () => ({
       targets: ["chat"],
       events: (ctx, at = 0) => ({ events: read().slice(at), state: read().length }),
       actions(ctx, { payload }) { appendFileSync(${JSON.stringify(outbox)}, payload.message + "\\n"); return { success: true }; },
     });`,
  );
  const { globalBridges } = project.config() as { globalBridges: object };
  project.config({ globalBridges: { ...globalBridges, chat: { module: "./prloom/chat.mjs", pollEvery: "100ms" } } });
  project.plan("shop", ["make one"], issue("1"));
  await untilIdle(project);
  const said: object[] = [];
  const replies = (): string => (existsSync(outbox) ? readFileSync(outbox, "utf8") : "");
  return {
    project,
    tracker,
    async says(body, place = {}) {
      const before = replies();
      const base = { type: "comment", severity: "info", title: "", body, plan: "shop" };
      const context = { author: { login: "anna", permission: "write" } };
      said.push({ id: `chat-${said.length}`, ...base, replyTo: { target: "chat", token: "lobby" }, context, ...place });
      writeFileSync(inbox, JSON.stringify(said));
      await untilIdle(project);
      return replies().slice(before.length);
    },
  };
}

describe("an answer counts where the plan was shown", { concurrency: 2 }, () => {
  it("or in its local thread, and nowhere else: not in another thread, nor at a line of a file", async () => {
    const { project, tracker, says } = await atGate();
    const [gate] = (await showPlan(project)).gates;
    assert.match(
      await says("approved"),
      /^Nothing was decided: the plan was not shown here\. Answer where it was shown/,
    );
    assert.match(await says(`/approve ${gate?.gateId}`), /the plan was not shown here/);
    assert.match(await says("/reject no"), /the plan was not shown here/);
    const author = { login: "anna", permission: "write" };
    const here = { target: "scripted", token: "1" };
    for (const place of [
      { replyTo: { target: "scripted", token: "2" } },
      { replyTo: here, context: { author, path: "README.md", line: 1 } },
      { replyTo: undefined },
    ])
      await says("approved", place);
    assert.deepEqual(await gateStates(project), ["open"]);
    assert.equal(project.record("shop").runs, 0);
    tracker.write("1", ANNA, "approved");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["approved"]);
    project.remove();
  });

  it("while taking back and a pause count wherever the plan is talked about", thorough, async () => {
    const { project, says } = await atGate();
    await succeeds(project, "comment", "shop", "approved");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["approved"]);
    assert.match(await says("/hold"), /^Paused by anna/);
    await says("/withdraw The wrong plan.");
    assert.deepEqual(await gateStates(project), ["withdrawn"]);
    project.remove();
  });

  it("and a plan that a plugin's place refuses is blocked with that place's name", thorough, async () => {
    const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
    const tracker = addScripted(project);
    writeFileSync(
      join(project.root, "prloom", "sends.mjs"),
      `export default () => ({ beforeRoute: ({ id }) =>
         /^gate-\\w+-1$/.test(id) ? { target: { target: "scripted", token: "9" } } : undefined });`,
    );
    project.config({ globalPlugins: { sends: { module: "./prloom/sends.mjs" } } });
    tracker.script("post", "422");
    project.plan("shop", ["make one"]);
    await untilIdle(project);
    assert.match(project.record("shop").blocked?.reason ?? "", /^It could not be shown \(scripted\): 422/);
    project.remove();
  });
});
