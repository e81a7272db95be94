import assert from "node:assert/strict";
import { it } from "node:test";
import type { BusEvent } from "../../../src/bus/types.ts";
import { reviewedIn } from "../../../src/dispatcher/publishing/forge-actions.ts";
import { planRecord } from "../../testing/plan-record.ts";

const heads = [
  { sha: "one", at: "2026-03-02T10:00:00.400Z" },
  { sha: "two", at: "2026-03-02T10:05:00.400Z" },
];
const record = planRecord("A", { published: { sha: "two", heads } });
const event = (context: Record<string, unknown>) => ({ context }) as unknown as BusEvent;

it("a merge is for what was newest when it was asked for, or for the commit of the review", () => {
  assert.equal(reviewedIn(record, event({ at: "2026-03-02T10:04:59Z" })), "one");
  assert.equal(reviewedIn(record, event({ at: "2026-03-02T10:06:00Z" })), "two");
  assert.equal(reviewedIn(record, event({ at: "2026-03-02T10:06:00Z", commit: "one" })), "one");
  const onLine = { ...event({ at: "2026-03-02T10:06:00Z", commit: "one" }), type: "review_comment" };
  assert.equal(reviewedIn(record, onLine), "two", "in a thread that was begun before");
  // In the second of the push it is not known which came first.
  assert.equal(reviewedIn(record, event({ at: "2026-03-02T10:05:00Z" })), "one");
  assert.throws(() => reviewedIn(record, event({ at: "2026-03-02T09:00:00Z" })), /Nothing of \S+ was published/);
  assert.equal(reviewedIn(record, undefined), undefined, "a command merges what is published");
});
