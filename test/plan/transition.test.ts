import assert from "node:assert/strict";
import { test } from "node:test";
import { STORED_STATUSES } from "../../src/plan/record.ts";
import { PLAN_EVENTS, type PlanEvent, transition } from "../../src/plan/transition.ts";

/** The status after the event, for draft, queued, active, review, done; `-` is a refusal. */
const TABLE: Record<PlanEvent, string> = {
  queue: "queued queued - - -",
  unqueue: "draft draft - - -",
  activate: "- active - - -",
  finish: "- - review - -",
  "todos-added": "draft queued active active -",
  merged: "- - done done done",
  closed: "- - done done done",
  delete: "draft queued active review done",
  block: "draft queued active review -",
  unblock: "draft queued active review done",
  pause: "draft queued active review -",
  resume: "draft queued active review done",
  hide: "draft queued active review done",
  unhide: "draft queued active review done",
};

const free = { hidden: false, paused: false, blocked: false };

for (const event of PLAN_EVENTS) {
  for (const [at, status] of STORED_STATUSES.entries()) {
    const expected = TABLE[event].split(" ")[at];
    test(`${event} of a plan that is ${status}: ${expected}`, () => {
      const result = transition({ status, ...free }, event);
      assert.equal(result.ok ? result.status : "-", expected);
      if (!result.ok) assert.match(result.why, /^[A-Z].*\.$/);
    });
  }
}

test("a held plan neither starts nor finishes; everything else is not held", () => {
  for (const [flag, word] of [
    ["hidden", "unhide"],
    ["paused", "resume"],
    ["blocked", "unblock"],
  ] as const) {
    for (const event of PLAN_EVENTS) {
      for (const status of STORED_STATUSES) {
        const open = transition({ status, ...free }, event);
        const held = transition({ status, ...free, [flag]: true }, event);
        const stops = open.ok && (event === "activate" || event === "finish");
        if (stops) assert.ok(!held.ok && held.why.includes(`prloom ${word}`));
        else assert.deepEqual(held, open);
      }
    }
  }
});
