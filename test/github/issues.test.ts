import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BridgeEvent } from "../../src/bridges/contract.ts";
import { pullSetting } from "./pull-setting.ts";

const types = (events: readonly BridgeEvent[]): string[] => events.map(({ type }) => type);

describe("looks at issues", () => {
  it("hears of what happens to an issue in the second in which it was looked at, once", async (t) => {
    const { ada, look, pass } = await pullSetting(t);
    await look();
    pass(100);
    const { number } = ada.opens({ title: "Dark mode" });
    assert.deepEqual(types(await look()), ["issue.opened"]);
    ada.labels(number, "prloom");
    pass(60);
    assert.deepEqual(types(await look()), ["issue.labeled"]);
    pass(60);
    assert.deepEqual(await look(), []);
  });

  it("looks once more at one that changed just now, and then no more", async (t) => {
    const { github, ada, look, pass } = await pullSetting(t);
    await look();
    pass(100);
    const { number } = ada.opens({ title: "Dark mode" });
    await look();
    const looks = (): number => github.server.seen.filter(({ path }) => path.endsWith(`/${number}/events`)).length;
    assert.equal(looks(), 1);
    for (let minute = 0; minute < 3; minute += 1) {
      pass(60);
      await look();
    }
    assert.equal(looks(), 2);
  });

  it("hears of what comes behind a page that was full to the last place", async (t) => {
    const { ada, look, pass } = await pullSetting(t);
    const { number } = ada.opens({ title: "Dark mode" });
    await look();
    pass(100);
    for (let times = 0; times < 50; times += 1) {
      ada.labels(number, "bug");
      ada.unlabels(number, "bug");
    }
    pass(100);
    assert.deepEqual(await look(), []);
    pass(100);
    ada.labels(number, "prloom");
    assert.deepEqual(types(await look()), ["issue.labeled"]);
  });

  it("hears of an issue that comes after exactly a hundred, and asks no more than otherwise until then", async (t) => {
    const { github, ada, look, pass } = await pullSetting(t);
    await look();
    pass(100);
    for (let count = 0; count < 100; count += 1) ada.opens({ title: `Issue ${count}` });
    assert.equal((await look()).length, 100);
    for (let minute = 0; minute < 3; minute += 1) {
      pass(60);
      assert.deepEqual(await look(), []);
    }
    const { length } = github.server.seen;
    pass(60);
    assert.deepEqual(await look(), []);
    assert.equal(github.server.seen.length - length, 4);
    ada.opens({ title: "One more" });
    assert.deepEqual(types(await look()), ["issue.opened"]);
    pass(60);
    assert.deepEqual(await look(), []);
  });

  it("takes who assigned an issue for the one who did it, not who was assigned", async (t) => {
    const { ada, eve, look, pass } = await pullSetting(t);
    await look();
    const { number } = ada.opens({ title: "Dark mode" });
    pass(100);
    await look();
    pass(100);
    // With the role triage one may do that, and not write.
    eve.assigns(number, ada.user);
    ada.assigns(number, eve.user);
    const events = await look();
    assert.deepEqual(
      events.map(({ context }) => [context?.assignee, context?.author?.login, context?.author?.permission]),
      [
        ["ada", "eve", "read"],
        ["eve", "ada", "write"],
      ],
    );
  });
});
