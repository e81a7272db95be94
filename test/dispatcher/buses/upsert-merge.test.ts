import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { keepProposal } from "../../../src/dispatcher/buses/upsert.ts";
import { homeOf, inboxOf } from "../../../src/dispatcher/paths.ts";
import { oneOf } from "../../testing/sample.ts";
import { killedAt, withLoom } from "./owned-loom.ts";
import { activate, BODY, idOf, project, SOURCE, upsert, upsertPlan } from "./upsert-fixture.ts";

const ours = (path: string): void => {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, `${text.replace("Some words.", "Our words.")}- [ ] from the plan\n`);
};
const MERGED =
  "## Title\n\nAdd login\n\nOur words.\n\n## TODO\n\n- [ ] one\n- [ ] from the card\n- [ ] from the plan\n";
const FROM_CARD = BODY.replace("- [ ] two", "- [ ] from the card");

for (const where of ["draft", "active"]) {
  test(`${where}: what a person changed in the plan outlives what the source changes, time and again`, async () => {
    const { root } = project();
    await withLoom(root, (loom) => {
      const id = idOf(upsertPlan(loom, upsert()));
      if (where === "active") activate(loom, id);
      const path = where === "active" ? homeOf(loom.paths, id).plan : inboxOf(loom.paths, id).text;
      ours(path);
      assert.equal(upsertPlan(loom, upsert()).kind, "unchanged");
      assert.equal(upsertPlan(loom, upsert({ planMarkdown: FROM_CARD })).kind, "changed");
      assert.equal(readFileSync(path, "utf8"), MERGED);
      assert.equal(upsertPlan(loom, upsert({ planMarkdown: FROM_CARD })).kind, "unchanged");
      assert.equal(upsertPlan(loom, upsert({ planMarkdown: FROM_CARD.replace("one", "1") })).kind, "changed");
      assert.equal(readFileSync(path, "utf8"), MERGED.replace("one", "1"));
    });
  });

  for (const point of oneOf(["upsert:changed-text", "upsert:kept"])) {
    test(`${where}: a kill at ${point} and the same upsert again end in the same merge`, async () => {
      const { root } = project();
      const payload = upsert({ planMarkdown: FROM_CARD, metadata: { m: 1 } });
      const path = await withLoom(root, (loom) => {
        const id = idOf(upsertPlan(loom, upsert()));
        if (where === "active") activate(loom, id);
        const file = where === "active" ? homeOf(loom.paths, id).plan : inboxOf(loom.paths, id).text;
        ours(file);
        return file;
      });
      killedAt(point, root, "upsert", JSON.stringify(payload));
      await withLoom(root, (loom) => {
        const id = idOf(upsertPlan(loom, payload));
        assert.equal(readFileSync(path, "utf8"), MERGED);
        assert.deepEqual(loom.store.byId(id)?.metadata, { m: 1 });
        assert.equal(upsertPlan(loom, payload).kind, "unchanged");
        assert.equal(upsertPlan(loom, upsert({ planMarkdown: FROM_CARD.replace("one", "1") })).kind, "changed");
        assert.equal(readFileSync(path, "utf8"), MERGED.replace("one", "1"));
      });
    });
  }
}

test("a kill right after the record of a new plan, and the same upsert again: what the source said is known", async () => {
  const { root } = project();
  killedAt("bus.record-written", root, "upsert", JSON.stringify(upsert()));
  await withLoom(root, (loom) => {
    const id = idOf(upsertPlan(loom, upsert()));
    ours(inboxOf(loom.paths, id).text);
    upsertPlan(loom, upsert({ planMarkdown: FROM_CARD }));
    assert.equal(readFileSync(inboxOf(loom.paths, id).text, "utf8"), MERGED);
  });
});

test("a plan from before, of which it is unknown what its source said, is merged as it used to be, once", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    const id = idOf(upsertPlan(loom, upsert()));
    activate(loom, id);
    const { home, plan } = homeOf(loom.paths, id);
    rmSync(join(home, "upserted.md"));
    ours(plan);
    upsertPlan(loom, upsert({ planMarkdown: FROM_CARD }));
    assert.equal(readFileSync(plan, "utf8"), `## Title\n\nAdd login\n\n${FROM_CARD}`);
    ours(plan);
    upsertPlan(loom, upsert({ planMarkdown: FROM_CARD.replace("one", "1") }));
    assert.equal(readFileSync(plan, "utf8"), MERGED.replace("one", "1"));
  });
});

test("a new title reaches text whose title is its first heading", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    const body = "# Add login\n\nWords.\n\n## TODO\n\n- [ ] one\n";
    const id = idOf(upsertPlan(loom, upsert({ planMarkdown: body, title: "Add login" })));
    const files = inboxOf(loom.paths, id);
    const renamed = { type: "upsert_plan" as const, source: SOURCE, title: "Log in" };
    assert.equal(upsertPlan(loom, renamed).kind, "changed");
    assert.equal(readFileSync(files.text, "utf8"), body.replace("Add login", "Log in"));
    assert.equal(upsertPlan(loom, renamed).kind, "unchanged");
    activate(loom, id);
    assert.equal(upsertPlan(loom, { ...renamed, title: "Sign in" }).kind, "changed");
    assert.match(readFileSync(homeOf(loom.paths, id).plan, "utf8"), /^# Sign in\n/);
  });
});

test("control characters of an upsert or a proposal are stored written out", async () => {
  const { root } = project();
  await withLoom(root, (loom) => {
    const hostile = "\u001b[2Jgone\u009b1m\u202e";
    const id = idOf(upsertPlan(loom, upsert({ title: `T ${hostile}`, planMarkdown: `${hostile}\n\n${BODY}` })));
    const shown = "\\u{1b}[2Jgone\\u{9b}1m\\u{202e}";
    const text = (): string => readFileSync(inboxOf(loom.paths, id).text, "utf8");
    assert.equal(text(), `## Title\n\nT ${shown}\n\n${shown}\n\n${BODY}`);
    const again = upsert({ title: `T ${hostile}`, planMarkdown: `${hostile}\n\n${BODY}` });
    assert.equal(upsertPlan(loom, again).kind, "unchanged");
    assert.equal(
      upsertPlan(loom, { ...again, planMarkdown: `${hostile}!\n\n${BODY}`, base: again.planMarkdown }).kind,
      "changed",
    );
    assert.match(text(), /\\u\{202e\}!\n/);
    keepProposal(loom, loom.store.byId(id) ?? assert.fail(), { by: hostile, text: hostile, at: "now" });
    assert.match(readFileSync(homeOf(loom.paths, id).proposal, "utf8"), /\n\n\\u\{1b\}\[2Jgone/);
    assert.doesNotMatch(readFileSync(homeOf(loom.paths, id).proposal, "utf8"), /\p{Cc}(?<!\n)|\u202e/u);
  });
});

test("tasks of a new heading that become no TODOs are told, once", async () => {
  const { root } = project();
  const told: string[] = [];
  await withLoom(
    root,
    (loom) => {
      const issue = "Words.\n\n## Tasks\n\n- [ ] a\n";
      const id = idOf(upsertPlan(loom, upsert({ planMarkdown: issue })));
      activate(loom, id);
      const more = upsert({ planMarkdown: `${issue}\n## Requirements\n\n- [ ] fast\n` });
      assert.equal(upsertPlan(loom, more).kind, "changed");
      assert.equal(upsertPlan(loom, more).kind, "unchanged");
    },
    ({ text }) => void told.push(text),
  );
  const [only, ...others] = told.filter((text) => text.includes("became no TODOs"));
  assert.match(
    only ?? "",
    /^tasks of its source below "Requirements" became no TODOs.*`prloom edit add-login-\w+` adds/,
  );
  assert.deepEqual(others, []);
});
