import assert from "node:assert/strict";
import { it } from "node:test";
import { thorough } from "../../testing/thorough.ts";
import { makeExtended } from "../fixtures/extended.ts";

it("checks that pass before another of their commit fails do not count as passed", thorough, async (t) => {
  const bridges = { feed: { module: "./plugins/feed.ts", config: { name: "feed" } } };
  const project = makeExtended({ config: { bridges, limits: { ciAttempts: 2 } } });
  t.after(() => project.remove());
  project.plan("shop", ["make one"]);
  const tell = async (sha: string, ...types: string[]): Promise<string | undefined> => {
    const context = { sha, check: "test" };
    const events = types.map((type) => ({ id: `${type}-${sha}`, type, context, title: "", body: "" }));
    project.feed("feed", "shop", ...events);
    await project.work();
    return project.record("shop").blocked?.reason;
  };
  await project.work();
  for (const sha of ["one", "two"]) assert.equal(await tell(sha, "checks_passed", "check_failed"), undefined);
  assert.equal(await tell("three", "checks_passed"), undefined);
  assert.equal(await tell("four", "check_failed"), undefined, "the one before passed");
  assert.equal(await tell("five", "checks_passed", "check_failed"), undefined);
  assert.match((await tell("six", "checks_passed", "check_failed")) ?? "", /2 commits since the last green one/);
});
