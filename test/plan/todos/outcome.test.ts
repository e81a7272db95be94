import assert from "node:assert/strict";
import { test } from "node:test";
import type { Claims } from "../../../src/plan/todos/claims.ts";
import { withOutcome } from "../../../src/plan/todos/outcome.ts";

const open: Claims = { tick: "none", appended: [] };
const ticked: Claims = { tick: "done", appended: [] };
const refused: Claims = { tick: "blocked", reason: "in the plan", appended: [] };
const logged = [{ heading: "Progress Log", lines: ["- Nothing had to change: it is there"] }];

const table: [name: string, claims: Claims, left: string | undefined, expected: object][] = [
  ["no file", ticked, undefined, ticked],
  ["done", open, '{"outcome": "done"}', ticked],
  ["done, behind a byte order mark", open, '\uFEFF{"outcome": "done"}', ticked],
  ["done, with a reason that is not given", open, '{"outcome": "done", "reason": null}', ticked],
  ["done, with an empty reason", open, '{"outcome": "done", "reason": ""}', ticked],
  [
    "done, where the plan says blocked",
    refused,
    '{"outcome": "done", "reason": "it went well"}',
    { ...ticked, reason: "it went well" },
  ],
  [
    "blocked, where the plan is ticked",
    ticked,
    '{"outcome": "blocked", "reason": " no\\n key "}',
    { ...refused, reason: "no key" },
  ],
  [
    "nothing to change",
    open,
    '{"outcome": "nothing-to-change", "reason": "it is there"}',
    { tick: "done", nothingToChange: "it is there", appended: logged },
  ],
];
for (const [name, claims, left, expected] of table)
  test(`an outcome: ${name}`, () => assert.deepEqual(withOutcome(claims, left), expected));

const wrong: [left: string, why: RegExp][] = [
  ["", /it is not JSON/],
  ["done", /it is not JSON/],
  ["[]", /it is not a JSON object/],
  ['{"outcome": "finished"}', /outcome: must be done, blocked or nothing-to-change/],
  ['{"outcome": "blocked"}', /reason: /],
  ['{"outcome": "nothing-to-change", "reason": "  "}', /reason: must say something/],
  ['{"outcome": "done", "todo": 1}', /a key that is not expected, "todo"/],
];
for (const [left, why] of wrong)
  test(`an outcome that cannot be used is told with what is expected: ${left}`, () => {
    const { tick, unread = "" } = withOutcome(ticked, left);
    assert.equal(tick, "none");
    assert.match(unread, why);
    assert.match(unread, /write one JSON object: \{"outcome": "done"\}/);
  });
