import assert from "node:assert/strict";
import { test } from "node:test";
import { decideUpsert, type RawUpsert, saidBy, type UpsertView } from "../../../src/bridges/core/upsert.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { planRecord } from "../../testing/plan-record.ts";

const SOURCE = { system: "github", kind: "issue", id: "7" };
const TEXT = "## Title\n\nOld\n\n## TODO\n\n- [x] a\n- [ ] b\n";
const at = "2026-01-01T00:00:00.000Z";
const current = { todoId: "t", attempt: 1, baseSha: "s", stage: "running" as const, run: 1 };
const side = { stage: "triage" as const, run: 1, attempt: 1, baseSha: "s" };
const blocked = { reason: "why", at };

const record = (change: Partial<PlanRecord> = {}): PlanRecord =>
  planRecord("U", { id: "old-1", status: "draft", source: SOURCE, metadata: { agent: "a", keep: 1 }, ...change });

const upsert = (change: Partial<RawUpsert> = {}): RawUpsert => ({ type: "upsert_plan", source: SOURCE, ...change });
const view = (change: Partial<PlanRecord> = {}, more: Partial<UpsertView> = {}): UpsertView => ({
  record: record(change),
  text: TEXT,
  running: false,
  ...more,
});

const NEW = "## TODO\n\n- [ ] a\n- [ ] c\n";
const REPLACED = `## Title\n\nOld\n\n${NEW}`;
const MERGED = "## Title\n\nOld\n\n## TODO\n\n- [x] a\n- [ ] c\n";
const changed = (where: "inbox" | "home", text: string | undefined, fields: object = {}) => ({
  kind: "change",
  planId: "old-1",
  where,
  fields,
  ...(text === undefined ? {} : { text }),
});
const unchanged = { kind: "unchanged", planId: "old-1" };
const NONE = { kind: "none" };
const busy = { kind: "busy", planId: "old-1" };
const created = (meta: object, text?: string) => ({
  kind: "create",
  source: SOURCE,
  meta: { status: "draft", hidden: false, source: SOURCE, ...meta },
  ...(text === undefined ? {} : { text }),
});
const text = upsert({ planMarkdown: NEW });
const ISSUE = "Words.\n\n### Tasks\n- [ ] a\n- [ ] c\n";
const FROM_ISSUE = "Words.\n\n## TODO\n\n- [ ] a\n- [ ] c\n";

const table: [name: string, view: UpsertView, payload: RawUpsert, expected: object][] = [
  ["no plan", { running: false }, upsert({ planMarkdown: "x\n", title: "T" }), created({}, "## Title\n\nT\n\nx\n")],
  [
    "no plan, text has a title",
    { running: false },
    upsert({ planMarkdown: "# H\n", title: "T" }),
    created({}, "# H\n"),
  ],
  [
    "no plan, not to be changed",
    { running: false },
    upsert({ planMarkdown: "# H\n", change: false }),
    created({}, "# H\n"),
  ],
  ["a draft, not to be changed", view(), upsert({ planMarkdown: NEW, change: false, status: "queued" }), NONE],
  [
    "done, not to be changed",
    view({ status: "done" }),
    upsert({ planMarkdown: "# H\n", change: false }),
    created({}, "# H\n"),
  ],
  ["no plan, only a title", { running: false }, upsert({ title: "T" }), created({}, "## Title\n\nT\n")],
  ["no plan, no words", { running: false }, upsert({ hidden: true }), created({ hidden: true })],
  [
    "no plan, queued with metadata",
    { running: false },
    upsert({ title: "T", status: "queued", metadata: { preset: "p" } }),
    created({ status: "queued", metadata: { preset: "p" } }, "## Title\n\nT\n"),
  ],
  ["draft", view(), text, changed("inbox", REPLACED)],
  ["draft, same text", view(), upsert({ planMarkdown: TEXT }), unchanged],
  ["draft, nothing", view(), upsert(), unchanged],
  ["draft, empty body", view(), upsert({ planMarkdown: "" }), changed("inbox", "## Title\n\nOld\n")],
  ["draft, new title", view(), upsert({ title: "New" }), changed("inbox", TEXT.replace("Old", "New"))],
  ["draft, same title", view(), upsert({ title: "Old" }), unchanged],
  ["draft → queued", view(), upsert({ status: "queued" }), changed("inbox", undefined, { status: "queued" })],
  ["draft → draft", view(), upsert({ status: "draft" }), unchanged],
  ["draft → hidden", view(), upsert({ hidden: true }), changed("inbox", undefined, { hidden: true })],
  ["draft, same hidden", view(), upsert({ hidden: false }), unchanged],
  [
    "draft, metadata",
    view(),
    upsert({ metadata: { agent: "b", more: [1] } }),
    changed("inbox", undefined, { metadata: { agent: "b", keep: 1, more: [1] } }),
  ],
  [
    "at its plan gate, one more gate",
    view({ status: "active", metadata: { gates: { plan: true } } }),
    upsert({ metadata: { gates: { pr: true } } }),
    changed("home", undefined, { metadata: { gates: { plan: true, pr: true } } }),
  ],
  ...[null, {}].map((gates): (typeof table)[number] => [
    `at its plan gate, gates ${JSON.stringify(gates)}`,
    view({ status: "active", metadata: { gates: { plan: true } } }),
    upsert({ metadata: { gates } }),
    unchanged,
  ]),
  ["draft, same metadata", view(), upsert({ metadata: { keep: 1 } }), unchanged],
  [
    "draft without text",
    { record: record(), running: false },
    upsert({ title: "T" }),
    changed("inbox", "## Title\n\nT\n"),
  ],
  ["draft, blocked", view({ blocked }), text, changed("inbox", REPLACED)],
  ["draft, as the source left it", view({}, { upserted: TEXT }), text, changed("inbox", REPLACED)],
  [
    "draft, a TODO was added here",
    view({}, { text: `${TEXT}- [ ] mine\n`, upserted: TEXT }),
    text,
    changed("inbox", `${MERGED}- [ ] mine\n`),
  ],
  ["draft, edited here, and the source says the same", view({}, { upserted: REPLACED }), text, unchanged],
  [
    "draft, edited here, new title",
    view({}, { text: `${TEXT}- [ ] mine\n`, upserted: TEXT }),
    upsert({ title: "New" }),
    changed("inbox", `${TEXT}- [ ] mine\n`.replace("Old", "New")),
  ],
  [
    "active, a TODO was added here",
    view({ status: "active" }, { text: `${TEXT}- [ ] mine\n`, upserted: TEXT }),
    text,
    changed("home", `${MERGED}- [ ] mine\n`),
  ],
  ["queued", view({ status: "queued" }), text, changed("inbox", REPLACED)],
  ["queued → draft", view({ status: "queued" }), upsert({ status: "draft" }), unchanged],
  ["active", view({ status: "active" }), text, changed("home", MERGED)],
  ["active, merged already", view({ status: "active" }, { text: MERGED }), text, unchanged],
  ["active, status", view({ status: "active" }), upsert({ status: "queued" }), unchanged],
  [
    "active, hidden",
    view({ status: "active" }),
    upsert({ hidden: true }),
    changed("home", undefined, { hidden: true }),
  ],
  ["active without text", { record: record({ status: "active" }), running: false }, text, changed("home", NEW)],
  ["active, an agent runs", view({ status: "active" }, { running: true }), text, busy],
  ["active, between attempts", view({ status: "active", current }), text, busy],
  ["active, triage", view({ status: "active", side }), text, busy],
  ["active, paused", view({ status: "active", current, paused: true }), text, changed("home", MERGED)],
  ["active, hidden, triage", view({ status: "active", side, hidden: true }), text, changed("home", MERGED)],
  [
    "active, paused, beyond its run",
    view({ status: "active", current: { ...current, stage: "committed" }, paused: true }),
    text,
    busy,
  ],
  ["active, paused, still running", view({ status: "active", current, paused: true }, { running: true }), text, busy],
  ["active, blocked", view({ status: "active", current, blocked }), text, changed("home", MERGED)],
  ["review", view({ status: "review" }), text, changed("home", MERGED)],
  ["done", view({ status: "done" }), text, created({}, NEW)],
  ["no plan, an issue", { running: false }, upsert({ planMarkdown: ISSUE }), created({}, FROM_ISSUE)],
  [
    "no plan, an issue with a tasklist",
    { running: false },
    upsert({ planMarkdown: "Words.\n\n```[tasklist]\n### Tasks\n- [ ] a\n- [ ] c\n```\n" }),
    created({}, FROM_ISSUE.replace("\n\n", "\n\n\n")),
  ],
  [
    "no plan, an issue that is not clear",
    { running: false },
    upsert({ planMarkdown: "## A\n- [ ] a\n\n## B\n- [ ] b\n" }),
    created({}, "## A\n- [ ] a\n\n## B\n- [ ] b\n"),
  ],
  [
    "no plan, an issue whose tasks are done",
    { running: false },
    upsert({ planMarkdown: "## Tasks\n- [x] a\n" }),
    { kind: "refused", reason: "every task in its text is ticked: there is nothing to do" },
  ],
  [
    "active, an issue in which a task was added",
    view({ status: "active" }, { text: FROM_ISSUE.replace("[ ] a", "[x] a"), upserted: FROM_ISSUE }),
    upsert({ planMarkdown: `${ISSUE}- [ ] d\n` }),
    changed("home", `${FROM_ISSUE.replace("[ ] a", "[x] a")}- [ ] d\n`),
  ],
  [
    "active, an issue in which another heading makes it unclear what is to be done",
    view({ status: "active" }, { text: FROM_ISSUE.replace("[ ] a", "[x] a"), upserted: FROM_ISSUE }),
    upsert({ planMarkdown: `${ISSUE}\n## Requirements\n\n- [ ] fast\n` }),
    {
      ...changed("home", "Words.\n\n## Requirements\n\n- [ ] fast\n\n## TODO\n\n- [x] a\n- [ ] c\n"),
      headingsLeft: ["Requirements"],
    },
  ],
  [
    "active, an issue whose tasks are out of scope now",
    view({ status: "active" }, { text: FROM_ISSUE, upserted: FROM_ISSUE }),
    upsert({ planMarkdown: "Words.\n\n### Out of scope\n- [ ] a\n- [ ] c\n" }),
    changed("home", "Words.\n\n### Out of scope\n- [ ] a\n- [ ] c\n"),
  ],
  [
    "active, an issue that was rewritten and is not clear",
    view({ status: "active" }, { text: FROM_ISSUE.replace("[ ] a", "[x] a"), upserted: FROM_ISSUE }),
    upsert({ planMarkdown: "## A\n- [ ] x\n\n## B\n- [ ] y\n" }),
    { kind: "refused", reason: "it is no longer clear which checkboxes of its text are to be done" },
  ],
  [
    "draft, an issue that was rewritten and is not clear",
    view({}, { text: FROM_ISSUE, upserted: FROM_ISSUE }),
    upsert({ planMarkdown: "## A\n- [ ] x\n\n## B\n- [ ] y\n" }),
    changed("inbox", "## A\n- [ ] x\n\n## B\n- [ ] y\n"),
  ],
  [
    "active, designed before the tasks of issues were understood",
    view({ status: "active" }, { text: `${ISSUE}\n## TODO\n\n- [ ] designed\n`, upserted: ISSUE }),
    upsert({ planMarkdown: ISSUE }),
    unchanged,
  ],
  ["deleted", view({ deleted: { at, reason: "deleted" } }), text, created({}, NEW)],
];
for (const [name, given, payload, expected] of table) {
  test(`upsert onto ${name}`, () => assert.deepEqual(decideUpsert(given, payload), expected));
}

const said: [name: string, view: UpsertView, payload: RawUpsert, expected: string | undefined][] = [
  ["of a new plan", { running: false }, upsert({ planMarkdown: "x\n", title: "T" }), "## Title\n\nT\n\nx\n"],
  ["of a new plan, a title alone", { running: false }, upsert({ title: "T" }), "## Title\n\nT\n"],
  ["of a known plan", view(), text, REPLACED],
  ["the same as before", view({}, { upserted: REPLACED }), text, undefined],
  ["the same as before, of a new plan", view({ status: "done" }, { upserted: NEW }), text, NEW],
  [
    "of an issue that is no longer clear",
    view({}, { text: FROM_ISSUE, upserted: FROM_ISSUE }),
    upsert({ planMarkdown: `${ISSUE}\n## Requirements\n\n- [ ] fast\n` }),
    "Words.\n\n## Requirements\n\n- [ ] fast\n\n## TODO\n\n- [ ] a\n- [ ] c\n",
  ],
  ["nothing", view(), upsert({ hidden: true }), undefined],
  ["no words", { record: record(), running: false }, upsert({ planMarkdown: " \n" }), undefined],
  ["another title", view({}, { upserted: REPLACED }), upsert({ title: "New" }), REPLACED.replace("Old", "New")],
  ["another title of an unknown text", view(), upsert({ title: "New" }), undefined],
];
for (const [name, given, payload, expected] of said) {
  test(`what the source said: ${name}`, () => assert.equal(saidBy(given, payload), expected));
}

const refusals: [name: string, payload: RawUpsert, reason: RegExp][] = [
  ["no id", upsert({ source: { system: "github", kind: "issue" } }), /source\.id/],
  ["an empty system", upsert({ source: { system: "", kind: "issue", id: "1" } }), /source\.system/],
  ["an id that is too long", upsert({ source: { system: "s", kind: "k", id: "x".repeat(1001) } }), /source\.id/],
  ["no source", { type: "upsert_plan" } as unknown as RawUpsert, /source/],
  ["a status that cannot be asked for", upsert({ status: "active" as "draft" }), /"active"/],
  [
    "text that is too large",
    upsert({ planMarkdown: "x".repeat(512 * 1024 + 1) }),
    /planMarkdown is larger than 512 KB/,
  ],
  [
    "metadata that is too large",
    upsert({ metadata: { a: "x".repeat(64 * 1024) } }),
    /metadata would be larger than 64 KB/,
  ],
];
for (const [name, payload, reason] of refusals) {
  test(`an upsert is refused for ${name}, whatever the plan's state`, () => {
    for (const given of [{ running: false }, view(), view({ status: "active" }), view({ status: "done" })]) {
      const change = decideUpsert(given, payload);
      assert.equal(change.kind, "refused");
      assert.match(change.kind === "refused" ? change.reason : "", reason);
    }
  });
}

test("texts that cannot be put together are refused, not half merged", () => {
  // A log whose last line leaves raw HTML open that nothing we know closes.
  const stuck = "## TODO\n- [x] a\n\n## Progress Log\n\n<!DOCTYPE\n";
  const change = decideUpsert(
    view({ status: "active" }, { text: stuck }),
    upsert({ planMarkdown: "## Decision Log\n<![CDATA[\n" }),
  );
  assert.equal(change.kind, "refused");
});
