import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startServer } from "../../bridges/notify/fixture.ts";
import { makeProject } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

const webhook = (urlEnv: string) => ({ kind: "webhook", urlEnv });
const CHANNELS = { team: webhook("TEAM_URL"), pager: webhook("PAGER_URL") };

describe("people hear that a plan waits at its gate", { concurrency: 2 }, () => {
  for (const [name, routes, expected] of [
    [
      "by the channels of what asks for an action",
      { action: ["team"] },
      ["/team action Plan shop waits for your answer"],
    ],
    [
      "in the words and with the priority of a plugin, in place of these",
      { action: [], urgent: ["pager"] },
      ["/pager urgent Read shop now"],
    ],
  ] as const)
    it(name, thorough, async (t) => {
      const server = await startServer(t);
      const project = makeProject({
        config: {
          gates: { plan: true, advisory: true },
          notify: { channels: CHANNELS, routes, default: [] },
          globalPlugins: { mine: { module: "./prloom/mine.mjs" } },
        },
      });
      t.after(() => project.remove());
      writeFileSync(
        join(project.root, "prloom", "mine.mjs"),
        `export default () => ({ onGlobalEvent({ type, context }, ctx) {
           if (type === "gate_opened") ctx.emitAction({ target: { target: "human" },
             payload: { type: "notification", priority: "urgent", title: "Read " + context.planId + " now", message: "" } });
         } });`,
      );
      project.plan("shop", ["make one"]);
      const result = await project.work({ TEAM_URL: server.url("/team"), PAGER_URL: server.url("/pager") });
      assert.equal(result.code, 0, result.stderr);
      const heard = server.received.map(({ path, body }) => {
        const { priority, title } = body as { priority: string; title: string };
        return `${path} ${priority} ${title}`;
      });
      assert.deepEqual(heard, expected);
      assert.equal(project.record("shop").runs, 0);
    });
});
