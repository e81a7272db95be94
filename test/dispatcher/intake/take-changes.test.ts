import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { countCalls } from "../../../bench/harness/counts.ts";
import { sampleEvent } from "../../../bench/harness/journal.ts";
import { inFolder, makeProject, planId } from "../../../bench/harness/project.ts";
import { handleGlobalEvents } from "../../../src/dispatcher/buses/handle-events.ts";
import { cleanPlans } from "../../../src/dispatcher/commands/ending/finish.ts";
import { planOfFile } from "../../../src/dispatcher/intake/inbox.ts";
import { takeWholeInbox } from "../../../src/dispatcher/intake/intake.ts";
import { lookAtPlans } from "../../../src/dispatcher/intake/take-changes.ts";
import { watchDirs } from "../../../src/dispatcher/intake/watching.ts";
import { homeOf, inboxOf } from "../../../src/dispatcher/paths.ts";
import { updateRecord } from "../../../src/dispatcher/records.ts";
import { Scheduler } from "../../../src/dispatcher/steps/scheduler.ts";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { withLoom } from "../buses/owned-loom.ts";

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

test("soon after something was settled the global bus leaves a snapshot, one for many settlements", () =>
  inFolder(async (dir) => {
    const { root, paths } = makeProject(dir);
    const snapshot = join(paths.bus, "state", "dispatcher.json");
    await withLoom(root, async (loom) => {
      const bus = loom.globalBus();
      bus.appendEvents(Array.from({ length: 100 }, (_, at) => sampleEvent(at)));
      for (const { event } of bus.newEvents(100)) {
        const marks = { moveCursor: true };
        bus.settle({ record: event.id, handler: "test", outcome: "handled", marks }, { sync: false });
      }
      await handleGlobalEvents(loom);
      assert.equal(existsSync(snapshot), false, "not after each");
      mkdirSync(dirname(snapshot), { recursive: true });
      await appears(snapshot);
      const { processedEventIds } = JSON.parse(readFileSync(snapshot, "utf8"));
      assert.equal(processedEventIds.length, 100);
    });
  }));

test("the text of a plan that has just left the inbox is watched from the first look on", () =>
  inFolder(async (dir) => {
    const { root } = makeProject(dir);
    await withLoom(root, async (loom) => {
      const changed = Promise.withResolvers<string>();
      const hooks = { changed: () => undefined, treeChanged: () => undefined, planChanged: changed.resolve };
      const watching = watchDirs(loom, hooks);
      try {
        writeFileSync(join(loom.paths.inbox, "a.md"), "## TODO\n\n- [ ] one\n");
        takeWholeInbox(loom, loom.inbox.scan());
        const record = updateRecord(loom, "a", () => ({ status: "active", worktreeReady: true, inInbox: false }));
        watching.follow(record);
        loom.texts.write(homeOf(loom.paths, "a").plan, "## TODO\n\n- [ ] two\n");
        assert.equal(await changed.promise, "a");
      } finally {
        watching.close();
      }
    });
  }));

test("a plan whose worktree `clean` removed is looked at, and told of, at once, named or not", () =>
  inFolder(async (dir) => {
    const { root } = makeProject(dir);
    await withLoom(root, async (loom) => {
      for (const id of ["a", "b"]) writeFileSync(join(loom.paths.inbox, `${id}.md`), "## TODO\n\n- [x] one\n");
      takeWholeInbox(loom, loom.inbox.scan());
      updateRecord(loom, "a", () => ({ status: "done", worktreeReady: true, inInbox: false }));
      const woken: (string | undefined)[] = [];
      const wake = (id?: string): void => void woken.push(id);
      const unheard = { wakeBus: () => undefined, runEnded: () => undefined, settled: async () => undefined };
      loom.listen({ ...unheard, wake, poll: async () => [] });
      assert.deepEqual(await cleanPlans(loom, undefined, false), {
        removed: ["a"],
        left: {},
        kept: {},
        aside: {},
        branches: { deleted: [], merged: [] },
      });
      assert.deepEqual(woken, ["a"]);
    });
  }));
