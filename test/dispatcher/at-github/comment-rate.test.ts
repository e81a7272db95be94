import assert from "node:assert/strict";
import { it } from "node:test";
import type { Action, Payload } from "../../../src/bus/types.ts";
import { countComment } from "../../../src/dispatcher/at-github/comment-rate.ts";

const HOUR_MS = 3_600_000;

const action = (id: string, payload: Payload = { type: "comment", message: id }): Action => ({
  ...{ id, type: "respond", payload, target: { target: "github-pr", token: "1#2" } },
});

it("so many new comments of a plan are allowed in an hour, edits and posts of gates aside", () => {
  let made: readonly { id: string; at: number }[] = [];
  const asked = (id: string, now = 0, payload?: Payload): boolean => {
    const counted = countComment([...made], action(id, payload), { now, most: 2, others: () => [] });
    if ("made" in counted) made = counted.made;
    return "made" in counted;
  };
  assert.deepEqual([asked("a"), asked("b"), asked("c")], [true, true, false]);
  assert.equal(asked("a"), true, "the same again");
  assert.equal(asked("gate-1-1"), true);
  assert.equal(asked("status", 0, { type: "comment", message: "x", key: "status" }), true);
  assert.equal(asked("labels", 0, { type: "add_labels", labels: ["x"] }), true);
  assert.equal(asked("c", HOUR_MS), true);
});

it("400 of all plans together are allowed in an hour, and it tells when there is room", () => {
  const said = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({ id: `x${from + index}`, at: from + index }));
  const ask = (others: readonly ReturnType<typeof said>[], now: number) =>
    countComment([], action("new"), { now, most: 30, others: () => [...others] });
  assert.ok("made" in ask([said(0, 200), said(200, 399)], 1000));
  const full = [said(200, 401), said(0, 200)];
  assert.deepEqual(ask(full, 1000), { over: "token", most: 400, roomAt: 1 + HOUR_MS }, "of 401 the second is the last");
  assert.ok("made" in ask(full, HOUR_MS + 1));
});
