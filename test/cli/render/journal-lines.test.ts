import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emptyBusState } from "../../../src/bus/bus-state.ts";
import { fateOf } from "../../../src/bus/reading/fate.ts";
import { plain } from "../../../src/cli/render/colour.ts";
import { type JournalEntry, journalLine } from "../../../src/cli/render/journal-lines.ts";
import { displayWidth } from "../../../src/cli/render/tables/width.ts";

const NOW = Date.parse("2030-01-01T12:00:00.000Z");
const wide = { width: () => Number.POSITIVE_INFINITY, paint: plain };
const line = (log: JournalEntry["log"], data: unknown, more: Partial<JournalEntry> = {}): string =>
  journalLine(
    wide,
    { log, record: { ts: "2030-01-01T12:00:00.000Z", kind: "event", schemaVersion: 1, data }, ...more },
    NOW,
  )
    // The clock on the wall is another one elsewhere.
    .replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/, "");

const COMMENT = {
  type: "comment",
  source: "tracker",
  title: "Comment by ada",
  body: "please rename it\nand more",
  context: { author: { login: "ada" } },
};

describe("a record of a journal, for people", () => {
  it("has its author, its first words, and what became of it", () => {
    assert.equal(
      line("events", COMMENT, { fate: { kind: "triage" } }),
      "comment  ada  please rename it  [waits for triage]",
    );
    assert.equal(line("events", COMMENT, { fate: { kind: "handled" } }), "comment  ada  please rename it  [taken up]");
    const told = { type: "plan_queued", source: "prloom", title: "Plan a was queued" };
    assert.equal(line("events", told, { fate: { kind: "handled" } }), "plan_queued  prloom  Plan a was queued");
    assert.equal(line("events", COMMENT, { fate: { kind: "new" } }), "comment  ada  please rename it  [not read yet]");
    assert.equal(
      line("events", COMMENT, { fate: { kind: "handled" }, ignored: "may not write" }),
      "comment  ada  please rename it  [ignored: may not write]",
    );
    assert.equal(
      line("events", COMMENT, { fate: { kind: "dead", handler: "plugin:x", reason: "threw\nhere" } }),
      "comment  ada  please rename it  [given up by plugin:x: threw]",
    );
    assert.equal(
      line("events", COMMENT, { fate: { kind: "waits", handler: "plugin:x", reason: "busy", until: NOW + 4000 } }),
      "comment  ada  please rename it  [plugin:x tries again in 4 s: busy]",
    );
  });

  it("of each journal says something", () => {
    assert.equal(
      line("events", { type: "plan_created", source: "prloom", title: "Plan a was created", body: "x" }),
      "plan_created  prloom  Plan a was created",
    );
    const action = { target: { target: "tracker" }, emitter: "plugin:x" };
    assert.equal(
      line("actions", { ...action, payload: { type: "comment", message: "Done." } }, { fate: { kind: "handled" } }),
      "comment  plugin:x → tracker  Done.  [done]",
    );
    assert.equal(
      line("actions", { ...action, payload: { type: "add_labels", labels: ["a"] } }),
      'add_labels  plugin:x → tracker  {"type":"add_labels","labels":["a"]}',
    );
    assert.equal(line("thread", { author: "prloom", body: "Hello" }), "reply  prloom  Hello");
    assert.equal(
      line("settled", { record: "r1", handler: "triage", outcome: "deferred", reason: "later" }),
      "deferred  triage  r1: later",
    );
    assert.equal(line("quarantine", { line: "{" }), 'event  {"line":"{"}');
    assert.equal(line("events", null), "event");
  });

  it("is as wide as the terminal, and cannot steer it", () => {
    const data = { ...COMMENT, body: "\u001b[2J".repeat(5000), context: { author: { login: "\u202ex".repeat(500) } } };
    const record = { ts: "2030-01-01T12:00:00.000Z", kind: "event", schemaVersion: 1 as const, data };
    const shown = journalLine(
      { width: () => 120, paint: plain },
      { log: "events", record, fate: { kind: "new" } },
      NOW,
    );
    assert.ok(displayWidth(shown) <= 120, shown);
    assert.doesNotMatch(shown, /\p{Cc}|\u202e/u);
    assert.match(shown, /\[not read yet\]$/);
  });
});

describe("what became of a record", () => {
  const item = (id: string, cursor: string) => ({
    cursor,
    record: { ts: "", kind: "event", schemaVersion: 1 as const, id, data: {} },
  });
  const wait = { reason: "busy", deferredUntil: NOW, attempts: 1, deferrals: 0, since: NOW };
  const letter = { record: "dead", handler: "h", reason: "no", attempts: 5, since: NOW, about: "event" as const };
  const state = {
    ...emptyBusState(),
    eventsOffset: "1:100",
    settled: { ahead: ["h"] },
    pendingTriage: { pending: { since: NOW } },
    deferredEventIds: { waits: { ...wait, handlers: { late: { ...wait, deferredUntil: NOW + 1 }, soon: wait } } },
    dead: { count: 1, letters: [{ ...letter, follows: true as const, reason: "another" }, letter] },
  };
  const table: readonly [id: string, cursor: string, kind: string][] = [
    ["dead", "1:50", "dead"],
    ["waits", "1:60", "waits"],
    ["pending", "1:70", "triage"],
    ["old", "1:100", "handled"],
    ["ahead", "1:200", "handled"],
    ["fresh", "1:300", "new"],
  ];
  for (const [id, cursor, kind] of table)
    it(`${id}: ${kind}`, () => assert.equal(fateOf(state, "event", item(id, cursor)).kind, kind));

  it("names the handler that comes first, and why it waits", () => {
    assert.deepEqual(fateOf(state, "event", item("waits", "1:60")), {
      ...{ kind: "waits", handler: "soon", reason: "busy", until: NOW },
    });
    assert.deepEqual(fateOf(state, "event", item("dead", "1:60")), { kind: "dead", handler: "h", reason: "no" });
    assert.equal(fateOf(state, "action", item("dead", "1:300")).kind, "new");
  });
});
