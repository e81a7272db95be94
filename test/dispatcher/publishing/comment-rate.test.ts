import assert from "node:assert/strict";
import { it } from "node:test";
import type { Action, Payload } from "../../../src/bus/types.ts";
import { countComment } from "../../../src/dispatcher/publishing/comment-rate.ts";

const action = (id: string, payload: Payload = { type: "comment", message: id }): Action => ({
  ...{ id, type: "respond", payload, target: { target: "github-pr", token: "1#2" } },
});

it("so many new comments of a plan are allowed in an hour, edits and posts of gates aside", () => {
  let made: NonNullable<ReturnType<typeof countComment>> = [];
  const asked = (id: string, now = 0, payload?: Payload): boolean => {
    const counted = countComment(made, action(id, payload), { now, most: 2 });
    made = counted ?? made;
    return counted !== undefined;
  };
  assert.deepEqual([asked("a"), asked("b"), asked("c")], [true, true, false]);
  assert.equal(asked("a"), true, "the same again");
  assert.equal(asked("gate-1-1"), true);
  assert.equal(asked("status", 0, { type: "comment", message: "x", key: "status" }), true);
  assert.equal(asked("labels", 0, { type: "add_labels", labels: ["x"] }), true);
  assert.equal(asked("c", 3_600_000), true);
});
