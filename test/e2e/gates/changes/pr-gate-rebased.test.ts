import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gateStates, showPlan, succeeds, untilIdle, waitingAtGate } from "../../../testing/at-gate.ts";
import { thorough } from "../../../testing/thorough.ts";

describe("a change whose approval a rebase carried over", () => {
  it("is named by the commit that it is for since then", thorough, async () => {
    const project = await waitingAtGate(["make one"], { gates: { plan: false, pr: true } });
    await succeeds(project, "approve", "shop");
    await untilIdle(project);
    const commit = (folder: string, name: string): void => {
      writeFileSync(join(folder, name), `${name}\n`);
      project.git("-C", folder, "add", "--", name);
      project.git("-C", folder, "-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", `Add ${name}`);
    };
    commit(project.root, "elsewhere.txt");
    await succeeds(project, "rebase", "shop");
    const head = project.git("rev-parse", "prloom/shop").trim();
    assert.equal((await showPlan(project)).gates[0]?.amendments[0]?.head, head);
    commit(project.worktree("shop"), "by-hand.txt");
    const { code, stderr } = await project.cli(["merge", "shop", "--force"]);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`is for commit ${head.slice(0, 8)}, and the branch is at`));
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["approved", "open"]);
    const post = (await showPlan(project)).thread.at(-1)?.body ?? "";
    const since = post.slice(post.indexOf("What changed since gate"));
    assert.match(since, /\+by-hand\.txt/);
    assert.doesNotMatch(since, /elsewhere/, "what others brought to base is not what changed");
    project.remove();
  });
});
