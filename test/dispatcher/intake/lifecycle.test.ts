import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { localComment } from "../../../src/bridges/local/thread.ts";
import { deletePlan } from "../../../src/dispatcher/commands/ending/finish.ts";
import type { Loom } from "../../../src/dispatcher/loom.ts";
import { homeOf, inboxOf } from "../../../src/dispatcher/paths.ts";
import { updateRecord } from "../../../src/dispatcher/records.ts";
import { sha256 } from "../../../src/kernel/ids.ts";
import { planDigest } from "../../../src/plan/digest.ts";
import { setTodoState } from "../../../src/plan/edit-plan.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { withLoom } from "../buses/owned-loom.ts";
import { upsertPlan } from "../buses/upsert-fixture.ts";
import { assertChains, eventsOf, lookAll, project, recordOf, TEXT, take, told } from "../told.ts";

/** An activated plan, without the git work that activation is. */
function activate(loom: Loom, id: string): void {
  loom.texts.write(homeOf(loom.paths, id).plan, readFileSync(inboxOf(loom.paths, id).text, "utf8"));
  const worktree = join(loom.paths.worktrees, id);
  updateRecord(loom, id, () => ({ status: "active", branch: "b", worktree, worktreeReady: true, designed: true }));
  rmSync(inboxOf(loom.paths, id).text);
  rmSync(inboxOf(loom.paths, id).meta, { force: true });
  updateRecord(loom, id, () => ({ inInbox: false }));
}

test("a full life is told step by step, and a restart without changes tells nothing", async () => {
  const { root, inbox } = project();
  await withLoom(root, (loom) => {
    const look = () => loom.lifecycle().look("a");
    assert.equal(look(), 0);
    writeFileSync(join(inbox, "a.json"), JSON.stringify({ source: { system: "s", kind: "k", id: "1" } }));
    take(loom);
    assert.equal(look(), 0, "no text yet");
    writeFileSync(join(inbox, "a.md"), TEXT);
    take(loom);
    assert.equal(look(), 1);
    writeFileSync(
      join(inbox, "a.json"),
      JSON.stringify({ status: "queued", source: { system: "s", kind: "k", id: "1" } }),
    );
    take(loom);
    assert.equal(look(), 1);
    activate(loom, "a");
    assert.equal(look(), 1, "activation is a status change only");
    const home = homeOf(loom.paths, "a").plan;
    loom.texts.write(home, setTodoState(TEXT, parsePlan(TEXT).todos[0]?.id ?? "", "done"));
    assert.equal(look(), 1);
    loom.texts.write(home, `${TEXT}\n## Notes\n\nMore.\n`);
    assert.equal(look(), 1);
    updateRecord(loom, "a", () => ({ status: "review" }));
    updateRecord(loom, "a", () => ({ status: "done", outcome: "merged" }));
    assert.equal(look(), 1);
    const { updatedAt, revision } = recordOf(loom, "a");
    assert.equal(look(), 0);
    assert.equal(recordOf(loom, "a").revision, revision, "a look that tells nothing writes nothing");
    updateRecord(loom, "a", () => ({ worktreeReady: false }));
    assert.equal(look(), 1);
    assert.ok(recordOf(loom, "a").updatedAt >= updatedAt);
    assert.equal(look(), 0);
    assert.deepEqual(told(loom), [
      "created in inbox as draft",
      "draft → queued",
      "queued → active",
      "edited, ticks only",
      "edited",
      "active → done",
      "cleaned from worktree",
    ]);
    assertChains(loom);
    loom.saveCaches();
  });
  await withLoom(root, (loom) => {
    assert.deepEqual(lookAll(loom), []);
    assert.equal(told(loom).length, 7);
  });
});

test("telling does not count as a change of the plan", async () => {
  const { root, inbox } = project();
  await withLoom(root, (loom) => {
    writeFileSync(join(inbox, "a.md"), TEXT);
    take(loom);
    const { updatedAt } = recordOf(loom, "a");
    loom.lifecycle().look("a");
    assert.equal(recordOf(loom, "a").updatedAt, updatedAt);
    assert.equal(recordOf(loom, "a").observed?.sha256, sha256(TEXT));
    assert.equal(recordOf(loom, "a").observed?.digest, planDigest(TEXT));
  });
});

test("hashes are of the bytes, even when these are not UTF-8", async () => {
  const { root, inbox } = project();
  await withLoom(root, (loom) => {
    const bytes = Buffer.from([0x23, 0xff, 0xfe, 0x0a]);
    writeFileSync(join(inbox, "a.md"), bytes);
    take(loom);
    loom.lifecycle().look("a");
    assert.equal(recordOf(loom, "a").observed?.sha256, sha256(bytes));
  });
});

test("edits are found by a start too, and an edit back is one more", async () => {
  const { root, inbox } = project();
  const file = join(inbox, "a.md");
  const edits = [TEXT, `${TEXT}x\n`, TEXT, `${TEXT}x\n`];
  for (const text of edits) {
    writeFileSync(file, text);
    await withLoom(root, (loom) => {
      take(loom);
      assert.deepEqual(lookAll(loom), ["a"]);
      loom.saveCaches();
    });
  }
  await withLoom(root, (loom) => {
    assert.deepEqual(told(loom), ["created in inbox as draft", "edited", "edited", "edited"]);
    assertChains(loom);
  });
});

test("a file removed by hand, a deleted plan, and an id that is used again", async () => {
  const { root, inbox } = project();
  await withLoom(root, async (loom) => {
    const file = join(inbox, "a.md");
    writeFileSync(file, TEXT);
    take(loom);
    lookAll(loom);
    rmSync(file);
    take(loom);
    // The deleted plan was not looked at before its id is used again.
    writeFileSync(file, `${TEXT}again\n`);
    take(loom);
    lookAll(loom);
    await deletePlan(loom, "a", { branch: false });
    assert.equal(loom.lifecycle().look("a"), 1);
    assert.equal(loom.lifecycle().look("a"), 0);
    assert.deepEqual(told(loom), [
      "created in inbox as draft",
      "file_removed from inbox",
      "created in inbox as draft",
      "deleted from inbox",
    ]);
    const uids = new Set(eventsOf(loom).map(({ id }) => id.split("-").at(-2)));
    assert.equal(uids.size, 2);
  });
});

test("events that wait for triage are told as a status, there and back", async () => {
  const { root, inbox } = project();
  await withLoom(root, (loom) => {
    writeFileSync(join(inbox, "a.md"), TEXT);
    take(loom);
    loom.lifecycle().look("a");
    activate(loom, "a");
    const bus = loom.bus("a");
    bus.appendEvents([localComment({ id: "c-1", planId: "a", author: "ann", body: "please" })]);
    bus.settle({
      record: "c-1",
      handler: "dispatcher",
      outcome: "passed",
      marks: { moveCursor: true, pendingTriage: true },
    });
    loom.lifecycle().look("a");
    bus.settle({ record: "c-1", handler: "triage", outcome: "handled", marks: { moveCursor: true, triaged: true } });
    loom.lifecycle().look("a");
    assert.deepEqual(told(loom), ["created in inbox as draft", "draft → triaging", "triaging → active"]);
    assertChains(loom);
  });
});

test("an upsert's edit is told once", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    const payload = { type: "upsert_plan" as const, source: { system: "s", kind: "k", id: "1" }, title: "T" };
    upsertPlan(loom, payload);
    lookAll(loom);
    upsertPlan(loom, { ...payload, planMarkdown: "words\n", status: "queued" });
    upsertPlan(loom, { ...payload, planMarkdown: "words\n", status: "queued" });
    lookAll(loom);
    assert.deepEqual(told(loom), ["created in inbox as draft", "draft → queued", "edited"]);
  });
});

test("a record that cannot be written keeps no other plan from being told once", async () => {
  const { root, inbox } = project();
  await withLoom(root, (loom) => {
    for (const id of ["a", "b", "c"]) writeFileSync(join(inbox, `${id}.md`), TEXT);
    take(loom);
    const record = join(homeOf(loom.paths, "b").home, "state.json");
    rmSync(record);
    mkdirSync(record);
    // Plans that are made within one millisecond have no order.
    assert.deepEqual(lookAll(loom).toSorted(), ["a", "b", "c"]);
    assert.deepEqual([recordOf(loom, "a").observed?.seq, recordOf(loom, "c").observed?.seq], [1, 1]);
    assert.deepEqual(lookAll(loom), []);
  });
});
