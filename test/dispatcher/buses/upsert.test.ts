import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RawUpsert } from "../../../src/bridges/core/upsert.ts";
import { keepProposal } from "../../../src/dispatcher/buses/upsert.ts";
import { takeWholeInbox } from "../../../src/dispatcher/intake/intake.ts";
import { homeOf, inboxOf } from "../../../src/dispatcher/paths.ts";
import { planText, updateRecord } from "../../../src/dispatcher/records.ts";
import { isValidPlanId } from "../../../src/plan/identity.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { oneOf } from "../../testing/sample.ts";
import { killedAt, withLoom } from "./owned-loom.ts";
import { activate, all, BODY, idOf, project, SOURCE, upsert, upsertPlan } from "./upsert-fixture.ts";

test("an unknown source makes a plan in the inbox: both files and the record", async () => {
  const { root, inbox } = project();
  await withLoom(root, (loom) => {
    const made = upsertPlan(loom, upsert({ status: "queued", hidden: true, metadata: { agent: "x" } }));
    const id = idOf(made);
    assert.equal(made.kind, "created");
    assert.match(id, /^add-login-[0-9a-f]{8}$/);
    assert.deepEqual(readdirSync(inbox).sort(), [`${id}.json`, `${id}.md`]);
    assert.equal(readFileSync(join(inbox, `${id}.md`), "utf8"), `## Title\n\nAdd login\n\n${BODY}`);
    const record = loom.store.bySource(SOURCE);
    assert.equal(record?.id, id);
    assert.deepEqual([record.status, record.hidden, record.metadata], ["queued", true, { agent: "x" }]);
    assert.deepEqual(upsertPlan(loom, upsert({ status: "queued" })), { kind: "unchanged", planId: id });
  });
});

test("the same source again changes the plan in the inbox, and a change of nothing writes nothing", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    const id = idOf(upsertPlan(loom, upsert()));
    const files = inboxOf(loom.paths, id);
    assert.deepEqual(upsertPlan(loom, { type: "upsert_plan", source: SOURCE, hidden: true }), {
      kind: "changed",
      planId: id,
    });
    assert.equal(loom.store.byId(id)?.hidden, true);
    assert.equal(readFileSync(files.text, "utf8"), `## Title\n\nAdd login\n\n${BODY}`);
    assert.equal(upsertPlan(loom, upsert({ planMarkdown: "Other.\n", title: "Log in" })).kind, "changed");
    assert.equal(readFileSync(files.text, "utf8"), "## Title\n\nLog in\n\nOther.\n");
    const inodes = () => [files.text, files.meta, homeOf(loom.paths, id).record].map((file) => statSync(file).ino);
    const before = inodes();
    assert.equal(upsertPlan(loom, upsert({ planMarkdown: "Other.\n", title: "Log in" })).kind, "unchanged");
    assert.deepEqual(inodes(), before);
    assert.equal(all(loom).length, 1);
  });
});

test("what a person did to the files a moment ago counts", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    const id = idOf(upsertPlan(loom, upsert()));
    const { meta, text } = inboxOf(loom.paths, id);
    writeFileSync(meta, JSON.stringify({ status: "queued", source: SOURCE, metadata: { by: "hand" } }));
    assert.equal(upsertPlan(loom, upsert({ metadata: { from: "issue" } })).kind, "changed");
    assert.deepEqual(loom.store.byId(id)?.metadata, { by: "hand", from: "issue" });
    assert.equal(loom.store.byId(id)?.status, "queued");
    writeFileSync(meta, "{ broken");
    const refused = upsertPlan(loom, upsert({ hidden: true }));
    assert.equal(refused.kind, "refused");
    assert.match(refused.kind === "refused" ? refused.reason : "", /\.json/);
    assert.equal(readFileSync(meta, "utf8"), "{ broken");
    rmSync(meta);
    rmSync(text);
    const again = upsertPlan(loom, upsert());
    assert.equal(again.kind, "created");
    assert.equal(idOf(again), `${id}-2`);
    assert.equal(loom.store.byId(id)?.deleted?.reason, "file_removed");
  });
});

for (const point of oneOf(["upsert:meta", "upsert:text"])) {
  test(`a kill at ${point} and the same upsert again give one plan with its text`, async () => {
    const { root } = project();
    const payload = upsert({ status: "queued" });
    killedAt(point, root, "upsert", JSON.stringify(payload));
    await withLoom(root, (loom) => {
      assert.equal(all(loom).length, 0);
      const id = idOf(upsertPlan(loom, payload));
      takeWholeInbox(loom, loom.inbox.scan());
      assert.deepEqual(
        all(loom).map((record) => [record.id, record.blocked]),
        [[id, undefined]],
      );
      assert.match(planText(loom, all(loom)[0] as PlanRecord)?.text ?? "", /- \[ \] one/);
    });
  });

  test(`a kill at ${point}, a look at the inbox, and the same upsert again give one plan with its text`, async () => {
    const { root } = project();
    const payload = upsert({ status: "queued" });
    killedAt(point, root, "upsert", JSON.stringify(payload));
    await withLoom(root, (loom) => {
      takeWholeInbox(loom, loom.inbox.scan());
      assert.equal(all(loom).length, 1);
      const id = idOf(upsertPlan(loom, payload));
      assert.deepEqual(
        all(loom).map((record) => record.id),
        [id],
      );
      assert.match(planText(loom, all(loom)[0] as PlanRecord)?.text ?? "", /- \[ \] one/);
      assert.equal(upsertPlan(loom, payload).kind, "unchanged");
    });
  });
}

test("a kill between text and json, and the same upsert again, change both", async () => {
  const { root } = project();
  const id = await withLoom(root, (loom) => idOf(upsertPlan(loom, upsert())));
  const payload = upsert({ status: "queued", planMarkdown: "New words.\n" });
  killedAt("upsert:changed-text", root, "upsert", JSON.stringify(payload));
  await withLoom(root, (loom) => {
    assert.equal(loom.store.byId(id)?.status, "draft");
    assert.deepEqual(upsertPlan(loom, payload), { kind: "changed", planId: id });
    assert.equal(loom.store.byId(id)?.status, "queued");
    assert.match(planText(loom, all(loom)[0] as PlanRecord)?.text ?? "", /New words/);
  });
});

test("100 upserts of 10 sources give 10 plans", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    for (let n = 0; n < 100; n += 1) {
      const source = { ...SOURCE, id: String(n % 10) };
      const done = upsertPlan(loom, upsert({ source, metadata: { round: Math.floor(n / 10) } }));
      assert.notEqual(done.kind, "refused");
    }
    assert.equal(all(loom).length, 10);
    assert.ok(all(loom).every((record) => record.metadata.round === 9));
    takeWholeInbox(loom, loom.inbox.scan());
    assert.ok(all(loom).every((record) => !record.blocked && !record.deleted));
  });
});

test("an upsert looks at one plan, however many there are", async () => {
  const { root, inbox } = project();
  await withLoom(root, (loom) => {
    mkdirSync(inbox, { recursive: true });
    for (let n = 0; n < 50; n += 1) writeFileSync(join(inbox, `other-${n}.md`), "- x\n");
    const id = idOf(upsertPlan(loom, upsert()));
    assert.equal(upsertPlan(loom, upsert({ status: "queued" })).kind, "changed");
    assert.deepEqual(
      all(loom).map((record) => record.id),
      [id],
      "the others were not even looked at",
    );
    const { changed } = loom.inbox.scan();
    assert.equal(changed.size, 51, "and the next scan still tells of everything");
  });
});

test("names from outside are harmless", async () => {
  const { root, inbox } = project();
  await withLoom(root, (loom) => {
    const strange: Partial<RawUpsert>[] = [
      { source: { ...SOURCE, id: "../../x" }, title: "../../../etc/passwd" },
      { source: { ...SOURCE, id: "x".repeat(1000) }, title: "t".repeat(5000) },
      { source: { system: "日本", kind: "課題", id: "七" }, title: "日本語のタイトル" },
      { source: { system: "..", kind: "/", id: "\0" }, title: "__proto__" },
      { source: { system: "s", kind: "k", id: "1" }, title: "## TODO\n- [x] not a todo" },
    ];
    const ids = strange.map((change) => idOf(upsertPlan(loom, upsert(change))));
    assert.equal(new Set(ids).size, strange.length);
    assert.ok(ids.every(isValidPlanId), ids.join());
    assert.equal(readdirSync(inbox).length, 2 * strange.length);
    takeWholeInbox(loom, loom.inbox.scan());
    assert.ok(all(loom).every((record) => !record.blocked));
    for (const change of strange) assert.equal(upsertPlan(loom, upsert(change)).kind, "unchanged");
  });
});

test("a title that belongs to a foreign file in the inbox gets another id", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    const id = idOf(upsertPlan(loom, upsert()));
    const files = inboxOf(loom.paths, id);
    writeFileSync(files.text.replace(id, `${id}-2`), "somebody's\n");
    rmSync(files.text);
    rmSync(files.meta);
    assert.equal(idOf(upsertPlan(loom, upsert())), `${id}-3`);
    assert.equal(readFileSync(files.text.replace(id, `${id}-2`), "utf8"), "somebody's\n");
  });
});

test("an active plan is merged in its home; ticks stay, and the same again writes nothing", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    const id = idOf(upsertPlan(loom, upsert()));
    activate(loom, id);
    const home = homeOf(loom.paths, id).plan;
    writeFileSync(home, readFileSync(home, "utf8").replace("[ ] one", "[x] one"));
    const next = upsert({ planMarkdown: "Some words.\n\n## TODO\n\n- [ ] one\n- [ ] three\n", metadata: { m: 1 } });
    assert.deepEqual(upsertPlan(loom, next), { kind: "changed", planId: id });
    const text = "## Title\n\nAdd login\n\nSome words.\n\n## TODO\n\n- [x] one\n- [ ] three\n";
    assert.equal(readFileSync(home, "utf8"), text);
    assert.deepEqual(loom.store.byId(id)?.metadata, { m: 1 });
    assert.equal(upsertPlan(loom, next).kind, "unchanged");
    assert.equal(existsSync(inboxOf(loom.paths, id).text), false);
    updateRecord(loom, id, () => ({ current: { todoId: "t", attempt: 1, baseSha: "s", stage: "running", run: 1 } }));
    assert.deepEqual(upsertPlan(loom, upsert()), { kind: "busy", planId: id });
    assert.equal(readFileSync(home, "utf8"), text);
    updateRecord(loom, id, () => ({ current: undefined, blocked: { reason: "why", at: "now" } }));
    assert.equal(upsertPlan(loom, upsert()).kind, "changed");
    assert.equal(loom.store.byId(id)?.blocked?.reason, "why");
  });
});

test("the source of a plan that is done gets a new plan with a new id", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    const id = idOf(upsertPlan(loom, upsert()));
    activate(loom, id, { status: "done", outcome: "merged" });
    const again = upsertPlan(loom, upsert());
    assert.deepEqual(again, { kind: "created", planId: `${id}-2` });
    const [first, second] = [id, `${id}-2`].map((one) => loom.store.byId(one)?.uid ?? assert.fail(one));
    assert.notEqual(second, first);
    assert.equal(upsertPlan(loom, upsert()).kind, "unchanged");
    assert.equal(loom.store.byId(id)?.status, "done");
  });
});

test("a plan without a source is never reached", async () => {
  const { root, inbox } = project();
  await withLoom(root, (loom) => {
    mkdirSync(inbox, { recursive: true });
    writeFileSync(join(inbox, "mine.md"), "mine\n");
    takeWholeInbox(loom, loom.inbox.scan());
    const id = idOf(upsertPlan(loom, upsert({ title: "mine" })));
    assert.notEqual(id, "mine");
    assert.equal(readFileSync(join(inbox, "mine.md"), "utf8"), "mine\n");
  });
});

test("without words the plan is unfinished, and gets them later", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    const bare: RawUpsert = { type: "upsert_plan", source: SOURCE, status: "queued" };
    const id = idOf(upsertPlan(loom, bare));
    assert.equal(existsSync(inboxOf(loom.paths, id).text), false);
    assert.equal(upsertPlan(loom, bare).kind, "unchanged");
    assert.deepEqual(upsertPlan(loom, upsert()), { kind: "changed", planId: id });
    assert.ok(existsSync(inboxOf(loom.paths, id).text));
  });
});

test("a proposal is one file, and the newest one", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    const id = idOf(upsertPlan(loom, upsert()));
    const record = loom.store.byId(id) as PlanRecord;
    keepProposal(loom, record, { by: "eve --> x", text: "first\n", at: "2026-01-01T00:00:00.000Z" });
    keepProposal(loom, record, { by: "eve --> x", text: "second\n", at: "2026-01-02T00:00:00.000Z" });
    const { home } = homeOf(loom.paths, id);
    assert.equal(
      readFileSync(join(home, "proposed.md"), "utf8"),
      "<!-- proposed by eve%20%2D-%3E%20x at 2026-01-02T00:00:00.000Z -->\n\nsecond\n",
    );
    assert.deepEqual(
      readdirSync(home).filter((name) => name.startsWith("proposed")),
      ["proposed.md"],
    );
  });
});

for (const at of ["in the inbox", "at work"]) {
  test(`a source whose plan is ${at} with a record that cannot be read gets no second plan, and the upsert once it can`, async () => {
    const { root } = project();
    const [id, file, text] = await withLoom(root, (loom) => {
      const made = idOf(upsertPlan(loom, upsert({ status: "queued" })));
      if (at === "at work") activate(loom, made);
      const path = homeOf(loom.paths, made).record;
      return [made, path, readFileSync(path, "utf8")] as const;
    });
    const changed = upsert({ title: "Another title", planMarkdown: `${BODY}- [ ] three\n` });
    writeFileSync(file, text.slice(0, 40));
    await withLoom(root, (loom) => {
      assert.throws(() => upsertPlan(loom, changed), /cannot be used.*It is the plan of this source/);
      const other = upsert({ source: { ...SOURCE, id: "8" } });
      assert.equal(upsertPlan(loom, other).kind, "created", "other sources have nothing to do with it");
      assert.equal(all(loom).length, 1);
    });
    writeFileSync(file, text);
    await withLoom(root, (loom) => assert.deepEqual(upsertPlan(loom, changed), { kind: "changed", planId: id }));
  });
}
