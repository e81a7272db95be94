import assert from "node:assert/strict";
import { it } from "node:test";
import type { PollResult } from "../../../src/bridges/contract.ts";
import { pullSetting } from "../pull-setting.ts";

it("what is said right after the label is kept for its plan, whatever strangers write there meanwhile", async (t) => {
  const { bridge, ctx, repository, ada, eve } = await pullSetting(t);
  let state: unknown;
  const look = async (): Promise<string[]> => {
    const result = (await bridge.events?.(ctx, state as never)) as PollResult;
    state = result.state;
    return result.events.map(({ type, context }) => `${type} ${context?.author?.login}`);
  };
  await look();
  const { number } = eve.opens({ title: "one" });
  ada.labels(number, "prloom");
  for (let count = 0; count < 50; count += 1) eve.comments(number, '"'.repeat(count < 2 ? 65_536 : 1));
  ada.comments(number, "with tabs, please");
  assert.deepEqual(await look(), ["issue.opened eve", "issue.labeled ada"]);
  // A bridge that keeps too much has failed, the label is not heard either, and the next poll fails in the same way.
  const { length } = JSON.stringify(state);
  assert(length < 10_000, `${length} characters are kept`);
  const source = { system: "github", id: `${repository.id}#${number}` };
  ctx.listPlans = async () => [{ planId: "one", source }] as never;
  assert.deepEqual(await look(), ["comment ada"]);
});
