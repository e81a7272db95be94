import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { notesOf } from "../../../src/bus/file/plan-store.ts";
import type { OwnedLoom } from "../../../src/dispatcher/compose.ts";
import { takeWholeInbox } from "../../../src/dispatcher/intake/intake.ts";
import { inboxOf } from "../../../src/dispatcher/paths.ts";
import { withLoom } from "./owned-loom.ts";
import { all, idOf, project, upsert, upsertPlan } from "./upsert-fixture.ts";

/** An upsert of a dispatcher, and what a person does before the machine loses its power with the note still open. */
async function powerLossAfter(root: string, act: (loom: OwnedLoom, id: string) => void): Promise<string> {
  return withLoom(root, (loom) => {
    loom.store.syncLater((error) => assert.fail(String(error)));
    const id = idOf(upsertPlan(loom, upsert({ status: "queued" })));
    act(loom, id);
    loom.store.sync();
    const notes = notesOf(loom.paths.plans);
    for (const name of readdirSync(notes)) {
      const text = readFileSync(join(notes, name), "utf8").replaceAll(/"bootId":"[^"]*"/g, '"bootId":"another boot"');
      writeFileSync(join(notes, name), text);
    }
    return id;
  });
}

for (const removed of [["text", "meta"], ["text"]] as const) {
  test(`a plan whose ${removed.join(" and ")} a person removed does not come back after a power loss`, async () => {
    const { root } = project();
    const id = await powerLossAfter(root, (loom, id) => {
      for (const file of removed) rmSync(inboxOf(loom.paths, id)[file]);
      takeWholeInbox(loom, loom.inbox.scan());
    });
    await withLoom(root, (loom) => {
      assert.equal(existsSync(inboxOf(loom.paths, id).text), false);
      if (removed.length === 1) return;
      takeWholeInbox(loom, loom.inbox.scan());
      assert.deepEqual(
        all(loom).map(({ deleted }) => deleted?.reason),
        ["file_removed"],
      );
    });
  });
}

test("an older file that a person moved into the place of a plan's text stays there after a power loss", async () => {
  const { root, home } = project();
  const theirs = join(home, "theirs.md");
  writeFileSync(theirs, "Written last week.\n");
  utimesSync(theirs, 1, 1);
  const id = await powerLossAfter(root, (loom, id) => {
    // Later than the clock of the file system says of what was just written.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    renameSync(theirs, inboxOf(loom.paths, id).text);
  });
  await withLoom(root, (loom) =>
    assert.equal(readFileSync(inboxOf(loom.paths, id).text, "utf8"), "Written last week.\n"),
  );
});

test("after a power loss nothing is written behind a link that a branch brought", async () => {
  const { root, home, inbox, git } = project();
  const elsewhere = join(home, "commands");
  mkdirSync(elsewhere);
  await powerLossAfter(root, () => {
    rmSync(inbox, { recursive: true });
    symlinkSync(elsewhere, inbox);
    git("add", "-f", "prloom/.local/inbox");
  });
  await withLoom(root, () => assert.deepEqual(readdirSync(elsewhere), []));
});
