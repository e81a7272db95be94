import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LookTime } from "../../../src/github/bridge/look-time.ts";
import { reportCheck } from "../../testing/github/people.ts";
import { thorough } from "../../testing/thorough.ts";
import { type PullSetting, pullSetting } from "../pull-setting.ts";

/** Looks at a GitHub that takes a second for each answer, and tells the titles that each look brought. */
async function looksAt({ github, look, pass }: PullSetting, looks: number): Promise<string[][]> {
  let seconds = 0;
  github.server.onSeen = () => {
    pass(1);
    seconds += 1;
  };
  const titles: string[][] = [];
  for (let count = 0; count < looks; count += 1) {
    pass(60);
    seconds = 0;
    titles.push((await look()).map(({ title }) => title));
    // The deadline of a poll is a minute: one that takes longer brings nothing, nor does the next.
    assert(seconds < 50, `a look takes ${seconds} s`);
  }
  return titles;
}

describe("a slow GitHub is looked at in parts, and nothing is lost", { concurrency: 3 }, () => {
  it("where many issues were held back; what is new is heard at once", async (t) => {
    const setting = await pullSetting(t);
    const { github, ada, look, pass } = setting;
    await look();
    const held = Array.from({ length: 20 }, (_, index) => `held ${index}`);
    for (const title of held) ada.opens({ title, body: "" });
    github.server.faults.add({ kind: "error-before", on: /issues\/\d+\/events/, times: 20 });
    pass(60);
    assert.deepEqual(await look(), []);
    ada.opens({ title: "new", body: "" });
    const [first = [], ...others] = await looksAt(setting, 8);
    assert(first.includes("new"));
    assert.deepEqual([first, ...others].flat().toSorted(), [...held, "new"].toSorted());
  });

  it("where more issues cannot be read than are held back", thorough, async (t) => {
    const { github, ada, look, pass } = await pullSetting(t);
    await look();
    for (let count = 0; count < 60; count += 1) ada.opens({ title: "one of many", body: "" });
    github.server.faults.add({ kind: "error-before", on: /issues\/\d+\/events/, times: 200 });
    for (let looks = 0; looks < 3; looks += 1) {
      pass(60);
      assert.deepEqual(await look(), []);
    }
    github.server.faults.clear();
    pass(60);
    const events = [...(await look()), ...(await look())];
    assert.equal(new Set(events.map(({ id }) => id)).size, 60);
    assert.equal(events.length, 60);
  });

  it("where checks of many pull requests failed", async (t) => {
    const setting = await pullSetting(t);
    const { github, repository, look, pass, pull } = setting;
    await look();
    for (let count = 0; count < 8; count += 1) {
      pass(1);
      const sha = pull(`prloom/${count}`).pull?.head.sha ?? "";
      for (const name of ["a", "b", "c"]) reportCheck(github.world, repository, { sha, name, conclusion: "failure" });
    }
    const titles = (await looksAt(setting, 8)).flat().toSorted();
    const wanted = ["a", "b", "c"].flatMap((name) => Array<string>(8).fill(`The check ${name} failed`));
    assert.deepEqual(titles, wanted);
  });
});

it("each of several is first in its turn", () => {
  const firsts = [0, 1, 2, 3].map((minute) => new LookTime({ now: () => minute * 60_000 }).inTurn(["a", "b", "c"])[0]);
  assert.deepEqual(firsts, ["a", "b", "c", "a"]);
  assert.deepEqual(new LookTime({ now: () => 7 }).inTurn([]), []);
});
