import assert from "node:assert/strict";
import { test } from "node:test";
import type { Action, Payload } from "../../../src/bus/types.ts";
import { refusalOf } from "../../../src/dispatcher/buses/rights.ts";

const PAYLOADS = {
  comment: { type: "comment", message: "hi" },
  merge: { type: "merge", method: "squash" },
  close_pr: { type: "close_pr" },
  add_labels: { type: "add_labels", labels: ["automerge"] },
  remove_labels: { type: "remove_labels", labels: ["hold"] },
  upsert_plan: { type: "upsert_plan", source: { system: "s", kind: "issue", id: "1" } },
} as const satisfies Record<string, Payload>;

const AUTHORS = {
  person: { login: "anna", permission: "write" },
  reader: { login: "anna", permission: "read" },
  prloom: { login: "bot", permission: "write", self: true },
  shared: { login: "anna", permission: "admin", isShared: true },
  bot: { login: "lint[bot]", permission: "write", bot: true },
} as const;

/** What may be asked for in the name of each author. */
const MAY: Readonly<Record<keyof typeof AUTHORS, readonly string[]>> = {
  person: ["comment", "merge", "close_pr", "add_labels", "remove_labels", "upsert_plan"],
  reader: ["comment"],
  prloom: ["comment"],
  shared: ["comment", "upsert_plan"],
  bot: ["comment", "upsert_plan"],
};

for (const [name, author] of Object.entries(AUTHORS))
  test(`what is done for a comment by: ${name}`, () => {
    const actionOf = (payload: Payload): Action => ({
      id: "a",
      type: "respond",
      target: { target: "local", token: "shop" },
      payload,
      author,
    });
    const passed = Object.entries(PAYLOADS).filter(([, payload]) => refusalOf(actionOf(payload)) === undefined);
    assert.deepEqual(
      passed.map(([type]) => type),
      MAY[name as keyof typeof AUTHORS],
    );
  });
