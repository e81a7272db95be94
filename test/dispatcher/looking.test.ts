import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { countCalls } from "../../bench/harness/counts.ts";
import { sampleEvent } from "../../bench/harness/journal.ts";
import { inFolder, makeProject, planId } from "../../bench/harness/project.ts";
import { handleGlobalEvents } from "../../src/dispatcher/event-lane.ts";
import { planOfFile } from "../../src/dispatcher/inbox.ts";
import { lookAtPlans } from "../../src/dispatcher/looking.ts";
import { inboxOf } from "../../src/dispatcher/paths.ts";
import { Scheduler } from "../../src/dispatcher/scheduler.ts";
import { withLoom } from "./owned-loom.ts";

const QUIET = { onLook: () => true, onStep: () => undefined, onQuiet: () => undefined, stillOwner: () => true };
const TEXT = "## TODO\n\n- [ ] Do it\n";

test("a plan is taken by its name, and the others are not looked at", () =>
  inFolder(async (dir) => {
    const { root, paths } = makeProject(dir);
    for (let number = 0; number < 50; number += 1) writeFileSync(inboxOf(paths, planId(number)).text, TEXT);
    await withLoom(root, async (loom) => {
      const scheduler = new Scheduler(loom, QUIET);
      let isNews = false;
      const counts = await countCalls(() => {
        isNews = lookAtPlans(loom, scheduler, [planId(7)]);
      });
      assert.equal(isNews, true);
      assert.ok(counts.looked < 10, `${counts.looked} files were looked at`);
      assert.equal(counts.listed, 0);
      assert.deepEqual(
        loom.store.list({}, { limit: 100 }).records.map(({ id }) => id),
        [planId(7)],
      );
      assert.equal(lookAtPlans(loom, scheduler, [planId(7)]), false, "it is known now");
      rmSync(inboxOf(paths, planId(7)).text);
      assert.equal(lookAtPlans(loom, scheduler, [planId(7)]), true);
      assert.equal(loom.store.byId(planId(7))?.deleted?.reason, "file_removed");
      scheduler.stop();
    });
  }));

test("a file in the inbox says whose it is, if it is a plan's", () => {
  assert.equal(planOfFile("add-login.md"), "add-login");
  assert.equal(planOfFile("add-login.json"), "add-login");
  for (const name of ["Not an id.md", "add-login.txt", "inbox", ".md"]) assert.equal(planOfFile(name), undefined);
});

test("after a thousand settlements the global bus leaves a snapshot, and not after each", () =>
  inFolder(async (dir) => {
    const { root, paths } = makeProject(dir);
    const snapshot = join(paths.bus, "state", "dispatcher.json");
    await withLoom(root, async (loom) => {
      const settle = async (from: number, count: number): Promise<void> => {
        const bus = loom.globalBus();
        bus.appendEvents(Array.from({ length: count }, (_, at) => sampleEvent(from + at)));
        for (const { event } of bus.newEvents(count)) {
          const marks = { moveCursor: true };
          bus.settle({ record: event.id, handler: "test", outcome: "handled", marks }, { sync: false });
        }
        await handleGlobalEvents(loom);
        loom.rest();
      };
      await settle(0, 999);
      assert.equal(existsSync(snapshot), false);
      await settle(999, 1);
      const saved = readFileSync(snapshot, "utf8");
      await settle(1000, 1);
      assert.equal(readFileSync(snapshot, "utf8"), saved);
    });
  }));
