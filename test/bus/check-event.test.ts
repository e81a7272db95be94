import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { checkEvent } from "../../src/bus/check-event.ts";
import { busEventSchema, MAX_ID } from "../../src/bus/types.ts";

const RIGHT = {
  id: "comment-1",
  source: "local",
  type: "comment",
  severity: "info",
  title: "A title",
  body: "",
  replyTo: { target: "local", token: "thread" },
  context: { author: { login: "someone", permission: "write", bot: false }, more: { of: [1] } },
};

/** Each member of an event, and two that it does not have. */
const PLACES: readonly (readonly string[])[] = [
  ...["id", "source", "type", "severity", "title", "body", "replyTo", "context", "extra", "__proto__"].map((key) => [
    key,
  ]),
  ...["target", "token", "extra", "__proto__"].map((key) => ["replyTo", key]),
  ...["author", "extra", "__proto__"].map((key) => ["context", key]),
  ...["login", "permission", "bot", "self", "extra", "__proto__"].map((key) => ["context", "author", key]),
];

const VALUES: readonly unknown[] = [
  ...[undefined, null, "", "__proto__", "write", "error", true, 0, [], {}, { target: "" }, { login: "x" }],
  ...[{ author: null }, new Date(0), "x".repeat(MAX_ID), "x".repeat(MAX_ID + 1)],
];

interface Change {
  readonly place: readonly string[];
  /** Absent: the member is removed. */
  readonly value?: unknown;
}

function changed(changes: readonly Change[]): unknown {
  const event: Record<string, unknown> = structuredClone(RIGHT);
  for (const { place, ...change } of changes) {
    const inside = (at: unknown, key: string): unknown => (at as Record<string, unknown> | null | undefined)?.[key];
    const parent = place.slice(0, -1).reduce(inside, event);
    const key = place.at(-1) ?? "";
    if (typeof parent !== "object" || parent === null) continue;
    if ("value" in change)
      Object.defineProperty(parent, key, { value: change.value, enumerable: true, configurable: true, writable: true });
    else Reflect.deleteProperty(parent, key);
  }
  return event;
}

function compare(value: unknown): void {
  const [ours, schema] = [checkEvent(value), busEventSchema.safeParse(value)];
  assert.deepEqual([ours.data, ours.error?.issues], [schema.data, schema.error?.issues]);
}

it("says what the schema says of an event with one thing wrong or odd about it", () => {
  for (const place of PLACES) {
    compare(changed([{ place }]));
    for (const value of VALUES) compare(changed([{ place, value }]));
  }
});

it("says what the schema says, whatever stands in an event", () => {
  const place = fc.constantFrom(...PLACES);
  const value = fc.oneof(fc.constantFrom(...VALUES), fc.jsonValue());
  const change = fc.oneof(fc.record({ place, value }), fc.record({ place }));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 3 }), (changes) => compare(changed(changes))),
    { numRuns: 1000 },
  );
});

it("keeps what it checked, whatever the original says when it is asked again", () => {
  let asked = 0;
  const author = {
    login: "someone",
    get permission() {
      asked += 1;
      return asked === 1 ? "read" : "admin";
    },
  };
  const { data } = checkEvent({ ...RIGHT, context: { author } });
  assert.equal(data?.context?.author?.permission, "read");
});
