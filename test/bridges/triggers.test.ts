import assert from "node:assert/strict";
import { test } from "node:test";
import { triggered } from "../../src/bridges/triggers.ts";
import { actionSchema, type BusEvent, busEventSchema } from "../../src/bus/types.ts";
import type { Trigger } from "../../src/config/schema/trigger-schema.ts";
import type { ActionPayload } from "../../src/hooks/contexts/event-types.ts";

const SOURCE = { system: "tracker", kind: "issue", id: "acme/shop#7" };

function labeled(context: Record<string, unknown>, over: Partial<BusEvent> = {}): BusEvent {
  return busEventSchema.parse({
    id: "e-1",
    source: "tracker",
    type: "issue.labeled",
    severity: "info",
    title: "Fix the cart",
    body: "- [ ] fix it",
    context: { source: SOURCE, ...context },
    ...over,
  });
}

function payloadsOf(triggers: readonly Trigger[], event: BusEvent): ActionPayload[] {
  return triggered(triggers, event, () => undefined).map(({ payload }) => payload);
}

test("a trigger makes the whole upsert, which the bus takes", () => {
  const triggers: Trigger[] = [{ on: "issue.labeled", label: "loom", do: "queue", preset: "careful" }];
  const actions = triggered(triggers, labeled({ label: "loom" }), () => undefined);
  assert.deepEqual(actions, [
    {
      target: { target: "prloom-core" },
      payload: {
        type: "upsert_plan",
        source: SOURCE,
        title: "Fix the cart",
        planMarkdown: "- [ ] fix it",
        metadata: { preset: "careful" },
        status: "queued",
      },
      relatedEventId: "e-1",
    },
  ]);
  for (const action of actions) actionSchema.parse({ ...action, id: "act-1", type: "respond" });
});

test("what a stranger rewrote makes a draft, and changes no plan that is there", () => {
  const event = labeled({ rewritten: true });
  const triggers: Trigger[] = [{ on: "issue.labeled", do: "queue" }];
  const upsert = { type: "upsert_plan", source: SOURCE, title: "Fix the cart", planMarkdown: "- [ ] fix it" };
  const draftBecause = "a person who may not write changed the text before it was read";
  assert.deepEqual(payloadsOf(triggers, event), [{ ...upsert, metadata: { draftBecause }, change: false }]);
  assert.deepEqual(
    triggered(triggers, event, (source) => (source.id === SOURCE.id ? "open" : undefined)),
    [],
  );
});

test("what came into a column by no known hand makes a draft, and changes no plan that is there", () => {
  const context = { project: "acme/3", column: "Todo" };
  const triggers: Trigger[] = [{ on: "issue.moved", project: "Acme/3", column: "todo", do: "queue" }];
  const moved = (more: Record<string, unknown>): BusEvent => labeled({ ...context, ...more }, { type: "issue.moved" });
  const draftBecause = "it was moved on a board, which does not tell by whom";
  const upsert = { type: "upsert_plan", source: SOURCE, title: "Fix the cart", planMarkdown: "- [ ] fix it" };
  assert.deepEqual(payloadsOf(triggers, moved({ unvouched: true })), [
    { ...upsert, metadata: { draftBecause }, change: false },
  ]);
  assert.deepEqual(
    triggered(triggers, moved({ unvouched: true }), () => "open"),
    [],
  );
  assert.deepEqual(payloadsOf(triggers, moved({})), [{ ...upsert, status: "queued" }]);
  for (const other of [{ column: "Done" }, { project: "acme/4" }, { project: undefined }])
    assert.deepEqual(payloadsOf(triggers, moved(other)), []);
});

test("who opened it is kept only of those who may not write", () => {
  const triggers: Trigger[] = [{ on: "issue.labeled", do: "queue", preset: "careful" }];
  const metadataFor = (opener: unknown): unknown =>
    payloadsOf(triggers, labeled({ opener })).map((payload) => "metadata" in payload && payload.metadata)[0];
  const eve = { id: "9", login: "eve" };
  assert.deepEqual(metadataFor({ ...eve, permission: "read" }), { preset: "careful", openedBy: eve });
  assert.deepEqual(metadataFor({ ...eve, permission: "none", bot: true }), { preset: "careful", openedBy: eve });
  for (const opener of [{ ...eve, permission: "write" }, { login: "eve", permission: "read" }, "eve", undefined])
    assert.deepEqual(metadataFor(opener), { preset: "careful" }, JSON.stringify(opener));
});

test("a repository that was renamed fits by each of its names", () => {
  const context = { repo: "acme/new", repos: ["acme/old", "acme/new"] };
  for (const [repo, plans] of [
    ["acme/new", 1],
    ["Acme/Old", 1],
    ["acme/other", 0],
  ] as const)
    assert.equal(payloadsOf([{ on: "issue.labeled", repo, do: "queue" }], labeled(context)).length, plans, repo);
});

test("a source whose plan is done gets no other, and an edit changes a plan and makes none", () => {
  const triggers: Trigger[] = [{ on: "issue.labeled", do: "queue" }];
  assert.deepEqual(
    triggered(triggers, labeled({}), () => "done"),
    [],
  );
  const edited = labeled({}, { type: "issue.edited" });
  const upsert = { type: "upsert_plan", source: SOURCE, title: "Fix the cart", planMarkdown: "- [ ] fix it" };
  assert.deepEqual(
    triggered([], edited, () => "open").map(({ payload }) => payload),
    [{ ...upsert, create: false }],
  );
  for (const plan of ["done", undefined] as const)
    assert.deepEqual(
      triggered(triggers, edited, () => plan),
      [],
    );
});

test("upsert leaves the status to what is there, and empty texts change nothing", () => {
  const event = labeled({}, { title: " ", body: "\n" });
  assert.deepEqual(payloadsOf([{ on: "issue.labeled", do: "upsert" }], event), [
    { type: "upsert_plan", source: SOURCE },
  ]);
});

const ANY: Omit<Trigger, "on"> = { do: "upsert" };
const cases: [name: string, trigger: Partial<Trigger>, context: Record<string, unknown>, fires: boolean][] = [
  ["any label", ANY, { label: "bug" }, true],
  ["another type of event", { on: "issue.opened" }, { label: "loom" }, false],
  ["a type of a bridge's own", { on: "card_moved" }, {}, false],
  ["the label that was put on", { label: "loom" }, { label: "loom" }, true],
  ["the same in other letters", { label: "Loom" }, { label: "loom" }, true],
  ["another label put on what has it already", { label: "loom" }, { label: "bug", labels: ["loom", "bug"] }, false],
  ["one of the labels", { label: "loom" }, { labels: ["bug", "loom"] }, true],
  ["none of the labels", { label: "loom" }, { labels: ["bug"] }, false],
  ["no labels", { label: "loom" }, {}, false],
  ["labels that are not a list", { label: "loom" }, { labels: "loom" }, false],
  ["a label that is not a string", { label: "loom" }, { label: { name: "loom" } }, false],
  ["the assignee", { assignee: "ada" }, { assignee: "Ada" }, true],
  ["another assignee", { assignee: "ada" }, { assignee: "bob", assignees: ["ada", "bob"] }, false],
  ["one of the assignees", { assignee: "ada" }, { assignees: ["bob", "ada"] }, true],
  ["the repository", { repo: "acme/shop" }, { repo: "acme/shop" }, true],
  ["another repository", { repo: "acme/shop" }, { repo: "acme/site" }, false],
  ["no repository", { repo: "acme/shop" }, {}, false],
  ["all of them", { repo: "r", label: "l", assignee: "a" }, { repo: "r", labels: ["l"], assignees: ["a"] }, true],
  ["all but one", { repo: "r", label: "l", assignee: "a" }, { repo: "r", labels: ["l"], assignees: ["b"] }, false],
  ["no source", ANY, { source: undefined }, false],
  ["a source that is a string", ANY, { source: "tracker" }, false],
  ["half a source", ANY, { source: { system: "tracker", kind: "issue" } }, false],
  ["an empty id", ANY, { source: { ...SOURCE, id: "" } }, false],
  ["a source that says more", ANY, { source: { ...SOURCE, url: "https://example.com" } }, true],
];

for (const [name, trigger, context, fires] of cases) {
  test(`${name}: ${fires ? "fires" : "does not fire"}`, () => {
    const made = payloadsOf([{ on: "issue.labeled", do: "upsert", ...trigger }], labeled(context));
    assert.deepEqual(
      made.map((payload) => payload.type === "upsert_plan" && payload.source),
      fires ? [SOURCE] : [],
    );
  });
}

test("the first that fits decides, and there is one plan per event", () => {
  const triggers: Trigger[] = [
    { on: "issue.opened", do: "queue" },
    { on: "issue.labeled", label: "urgent", do: "queue", preset: "fast" },
    { on: "issue.labeled", do: "upsert" },
    { on: "issue.labeled", do: "queue" },
  ];
  const of = (label: string) =>
    payloadsOf(triggers, labeled({ label })).map((payload) =>
      payload.type === "upsert_plan" ? [payload.status, payload.metadata] : [],
    );
  assert.deepEqual(of("urgent"), [["queued", { preset: "fast" }]]);
  assert.deepEqual(of("other"), [[undefined, undefined]]);
});

test("without triggers, and for an event without context, nothing is made", () => {
  assert.deepEqual(payloadsOf([], labeled({})), []);
  assert.deepEqual(payloadsOf([{ on: "issue.labeled", do: "queue" }], labeled({}, { context: undefined })), []);
});
