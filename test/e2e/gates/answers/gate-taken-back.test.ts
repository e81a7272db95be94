import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gateStates, untilIdle } from "../../../testing/at-gate.ts";
import { makeProject } from "../../../testing/project.ts";
import { ANNA, addScripted, issue } from "../../../testing/scripted-tracker.ts";
import { thorough } from "../../../testing/thorough.ts";

/** What is said to an approval whose author could not be looked up at first, and that is not as it was when it can be judged. */
async function repliesTo(how: "edited" | "deleted"): Promise<{ states: string[]; replies: string[] }> {
  const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
  const tracker = addScripted(project);
  project.plan("shop", ["make one"], issue("1"));
  await untilIdle(project);
  tracker.script("permissionOf", "500!");
  const ref = tracker.write("1", ANNA, "approved");
  await untilIdle(project);
  if (how === "edited") tracker.change(ref, "Wait, not yet!");
  else tracker.remove(ref);
  tracker.script("permissionOf", "fine");
  await untilIdle(project);
  const states = await gateStates(project);
  const replies = tracker.shown("1").map(({ body }) => body);
  project.remove();
  return { states, replies: replies.filter((body) => /^Nothing was decided|^approved by/.test(body)) };
}

describe("an answer that waits before it is judged", { concurrency: 2 }, () => {
  it("does not count if it was edited meanwhile, and its author is told", async () => {
    const { states, replies } = await repliesTo("edited");
    assert.deepEqual(states, ["open"]);
    assert.match(
      replies.join("\n---\n"),
      /^Nothing was decided: it was edited after it was written\. [^\n]*\n\n<!--[^\n]*$/,
    );
  });

  it("does not count if it was deleted meanwhile", thorough, async () => {
    assert.deepEqual(await repliesTo("deleted"), { states: ["open"], replies: [] });
  });
});
