import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { threadId } from "node:worker_threads";
import { countCalls } from "../../../bench/harness/counts.ts";
import type { RawUpsert } from "../../../src/bridges/core/upsert.ts";
import { notesOf } from "../../../src/bus/file/plan-store.ts";
import { upsertsAtOnce } from "../../../src/dispatcher/buses/routing.ts";
import { UpsertBatches } from "../../../src/dispatcher/buses/upsert-batches.ts";
import type { OwnedLoom } from "../../../src/dispatcher/compose.ts";
import { homeOf, inboxOf } from "../../../src/dispatcher/paths.ts";
import { someOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";
import { lookAll } from "../told.ts";
import { killedAt, withLoom } from "./owned-loom.ts";
import { all, BODY, idOf, project, SOURCE, upsert } from "./upsert-fixture.ts";

function cards(count: number, change: Partial<RawUpsert> = {}): RawUpsert[] {
  return Array.from({ length: count }, (_, at) =>
    upsert({ source: { ...SOURCE, id: String(at) }, title: `Card ${at}`, ...change }),
  );
}

/** How often it was told that a plan was created, once each start of a dispatcher has told what it finds. */
function created(loom: OwnedLoom): number {
  lookAll(loom);
  return loom.globalBus().readEvents({ types: ["plan_created"], limit: 1000 }).events.length;
}

function assertWhole(loom: OwnedLoom, count: number): void {
  assert.deepEqual(
    all(loom)
      .map(({ source }) => Number(source?.id))
      .sort((a, b) => a - b),
    Array.from({ length: count }, (_, at) => at),
  );
  for (const { id, source } of all(loom)) {
    const text = readFileSync(inboxOf(loom.paths, id).text, "utf8");
    assert.ok(text.startsWith(`## Title\n\nCard ${source?.id}\n`) && text.endsWith(BODY), text);
    assert.equal(readFileSync(join(homeOf(loom.paths, id).home, "upserted.md"), "utf8"), text);
    assert.deepEqual(JSON.parse(readFileSync(inboxOf(loom.paths, id).meta, "utf8")).source, source);
  }
}

test("one whose files cannot be written keeps no other from being changed", async () => {
  const { root } = project();
  await withLoom(root, async (loom) => {
    const batches = new UpsertBatches(loom);
    const [, made] = await Promise.all(cards(3).map((card) => batches.upsert(card)));
    assert.ok(made);
    // Folders under the names of the files that this process writes first: the record can be read, and not be changed.
    for (let at = 1; at < 500; at += 1)
      mkdirSync(join(homeOf(loom.paths, idOf(made)).home, `.state.json.${process.pid}-${threadId}.${at}.tmp`));
    const queued = cards(3, { status: "queued" }).map((card) => batches.upsert(card));
    const outcomes = await Promise.allSettled(queued);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert.deepEqual(
      new Map(all(loom).map(({ source, status }) => [source?.id, status])),
      new Map([
        ["0", "queued"],
        ["1", "draft"],
        ["2", "queued"],
      ]),
    );
  });
});

test("upserts that come up at the same time are written and told together, with a few syncs for all", async () => {
  const { root } = project();
  await withLoom(root, async (loom) => {
    const batches = new UpsertBatches(loom);
    const asked = cards(60).map((card) => batches.upsert(card));
    const { synced } = await countCalls(() => Promise.all(asked));
    assert.ok(synced <= 20, `${synced} syncs`);
    assert.deepEqual(new Set((await Promise.all(asked)).map(({ kind }) => kind)), new Set(["created"]));
    assertWhole(loom, 60);
    assert.equal(created(loom), 60);
    assert.deepEqual(readdirSync(notesOf(loom.paths.plans)), [], "each is on the disk before it is said to be made");
  });
  await withLoom(root, (loom) => assertWhole(loom, 60));
});

test("more than one batch takes: all are made", thorough, async () => {
  const { root } = project();
  await withLoom(root, async (loom) => {
    const batches = new UpsertBatches(loom);
    await Promise.all(cards(230).map((card) => batches.upsert(card)));
    assertWhole(loom, 230);
  });
});

test("many long texts are not one batch: others have their turn in between", async () => {
  const { root } = project();
  await withLoom(root, async (loom) => {
    const seen = new Set<number>();
    const looking = setInterval(() => seen.add(all(loom).length), 0);
    const batches = new UpsertBatches(loom);
    const planMarkdown = `${BODY}\n${"- a line\n".repeat(6000)}`;
    await Promise.all(cards(9, { planMarkdown }).map((card) => batches.upsert(card)));
    clearInterval(looking);
    assert.ok(seen.size > 2, [...seen].join(" "));
    assert.equal(all(loom).length, 9);
  });
});

test("nor are small changes of many long texts", async () => {
  const { root } = project();
  await withLoom(root, async (loom) => {
    const batches = new UpsertBatches(loom);
    const planMarkdown = `${BODY}\n${"- a line\n".repeat(6000)}`;
    await Promise.all(cards(9, { planMarkdown }).map((card) => batches.upsert(card)));
    const seen = new Set<number>();
    const queued = () => all(loom).filter(({ status }) => status === "queued").length;
    const looking = setInterval(() => seen.add(queued()), 0);
    const changes = cards(9, { status: "queued" }).map(({ planMarkdown: _, ...change }) => change);
    await Promise.all(changes.map((change) => batches.upsert(change)));
    clearInterval(looking);
    assert.ok(seen.size > 2, [...seen].join(" "));
    assert.equal(queued(), 9);
  });
});

test("of two upserts of one source the second sees what the first one wrote", async () => {
  const { root } = project();
  await withLoom(root, async (loom) => {
    const batches = new UpsertBatches(loom);
    const [first, other, second] = await Promise.all([
      batches.upsert(upsert()),
      batches.upsert(upsert({ source: { ...SOURCE, id: "8" } })),
      batches.upsert(upsert({ planMarkdown: `${BODY}- [ ] three\n`, status: "queued" })),
    ]);
    assert.ok(first && second && other);
    assert.deepEqual([first.kind, other.kind, second.kind], ["created", "created", "changed"]);
    assert.equal(idOf(second), idOf(first));
    assert.equal(loom.store.byId(idOf(first))?.status, "queued");
    assert.match(readFileSync(inboxOf(loom.paths, idOf(first)).text, "utf8"), /- \[ \] three\n$/);
    assert.equal(all(loom).length, 2);
  });
});

test("one that fails keeps no other from being made", async () => {
  const { root } = project();
  await withLoom(root, async (loom) => {
    const batches = new UpsertBatches(loom);
    const broken = { ...upsert(), source: { ...SOURCE, id: "x" }, planMarkdown: 5 as unknown as string };
    const [bad, ...good] = await Promise.allSettled([broken, ...cards(5)].map((card) => batches.upsert(card)));
    assert.equal(bad?.status, "rejected");
    assert.ok(good.every(({ status }) => status === "fulfilled"));
    assertWhole(loom, 5);
  });
});

test("while a checked-out branch has the inbox as a link, nothing is written where it leads", async () => {
  const { root, git, inbox, home } = project();
  const elsewhere = join(home, "elsewhere");
  mkdirSync(elsewhere);
  git("checkout", "-q", "-b", "gift");
  rmSync(inbox, { recursive: true, force: true });
  mkdirSync(dirname(inbox), { recursive: true });
  symlinkSync(elsewhere, inbox);
  git("add", "-f", inbox);
  await withLoom(root, async (loom) => {
    const batches = new UpsertBatches(loom);
    const outcomes = await Promise.all(cards(60).map((card) => batches.upsert(card)));
    assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(["brought"]));
    assert.deepEqual([all(loom), readdirSync(elsewhere)], [[], []]);
    git("rm", "-q", "--cached", "-f", inbox);
    rmSync(inbox);
    await Promise.all(cards(3).map((card) => batches.upsert(card)));
    assertWhole(loom, 3);
    assert.deepEqual(readdirSync(elsewhere), []);
  });
});

test("where nothing can be written none of a batch counts, and all of them can be made later", async () => {
  const { root } = project();
  await withLoom(root, async (loom) => {
    const batches = new UpsertBatches(loom);
    writeFileSync(notesOf(loom.paths.plans), "in the way");
    const failed = await Promise.allSettled(cards(3).map((card) => batches.upsert(card)));
    assert.ok(failed.every(({ status }) => status === "rejected"));
    assert.deepEqual(all(loom), []);
    assert.ok(!existsSync(inboxOf(loom.paths, "card-0").text));
    rmSync(notesOf(loom.paths.plans));
    await Promise.all(cards(3).map((card) => batches.upsert(card)));
    assertWhole(loom, 3);
  });
});

for (const point of someOf(
  [
    "together:noted",
    "upsert:meta",
    "upsert:text",
    "bus.record-written",
    "upsert:kept",
    "upsert:meta:3",
    "bus.record-written:3",
    "together:written",
  ],
  2,
)) {
  test(`a kill at ${point} of three upserts, and the same again, gives three whole plans`, async () => {
    const { root } = project();
    const payloads = cards(3);
    killedAt(point, root, "upsert", JSON.stringify(payloads));
    await withLoom(root, async (loom) => {
      const batches = new UpsertBatches(loom);
      await Promise.all(payloads.map((card) => batches.upsert(card)));
      assertWhole(loom, 3);
      assert.equal(created(loom), 3);
    });
  });
}

test("many upserts are under way only where no hook is asked about them", () => {
  const plugins = (...hooks: object[]) => ({ extensions: { globalPlugins: hooks.map((one) => ({ hooks: one })) } });
  assert.equal(upsertsAtOnce(plugins({ onGlobalEvent: () => undefined }) as never), 100);
  assert.equal(
    upsertsAtOnce(plugins({ onGlobalEvent: () => undefined }, { beforeUpsert: () => undefined }) as never),
    undefined,
  );
});
