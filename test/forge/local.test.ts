import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { localForge } from "../../src/forge/local.ts";

const DRAFT = { planId: "shop", head: "prloom/shop", base: "main", title: "The shop", body: "What was done" };

function sandbox(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "prloom-forge-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const fileOf = (planId: string) => join(dir, `${planId}.json`);
  let now = 0;
  const clock = { now: () => now };
  return {
    // A new one for each call, as after a restart: nothing is kept but the file.
    forge: () => localForge({ fileOf, clock }),
    file: () => JSON.parse(readFileSync(fileOf("shop"), "utf8")),
    write: (text: string) => writeFileSync(fileOf("shop"), text),
    tick: () => {
      now += 60_000;
    },
  };
}

for (const state of ["merged", "closed"] as const) {
  test(`one that is ${state} stays so, and repeating it changes nothing`, async (t) => {
    const box = sandbox(t);
    await box.forge().open(DRAFT);
    await box.forge().markReady("shop", DRAFT);
    box.tick();
    const expected = { ref: "local/shop", state, ready: true };
    assert.deepEqual(await box.forge().close("shop", state), expected);
    const written = box.file();
    assert.equal(written.closedAt, "1970-01-01T00:01:00.000Z");
    box.tick();
    assert.deepEqual(await box.forge().close("shop", state), expected);
    assert.deepEqual(await box.forge().open(DRAFT), expected);
    assert.deepEqual(await box.forge().markReady("shop", { ...DRAFT, body: "More was done" }), expected);
    assert.deepEqual(await box.forge().find("shop", DRAFT.head), expected);
    assert.deepEqual(box.file(), written);
  });
}

test("one that is not ready can be closed too", async (t) => {
  const box = sandbox(t);
  await box.forge().open(DRAFT);
  assert.deepEqual(await box.forge().close("shop", "closed"), { ref: "local/shop", state: "closed", ready: false });
});

test("a merge wins over a request to close, whichever comes first", async (t) => {
  const box = sandbox(t);
  await box.forge().open(DRAFT);
  assert.equal((await box.forge().close("shop", "closed"))?.state, "closed");
  assert.equal((await box.forge().close("shop", "merged"))?.state, "merged");
  assert.equal((await box.forge().close("shop", "closed"))?.state, "merged");
  assert.equal(box.file().state, "merged");
});

test("a plan without one has none to close, and gets none by it", async (t) => {
  const box = sandbox(t);
  assert.equal(await box.forge().close("shop", "closed"), undefined);
  assert.equal(await box.forge().find("shop", DRAFT.head), undefined);
});

test("a file that is not ours is named and left as it is", async (t) => {
  const box = sandbox(t);
  box.write("{");
  await assert.rejects(box.forge().close("shop", "closed"), { code: "state-unreadable", message: /shop\.json/ });
  assert.throws(() => box.file(), SyntaxError);
});
