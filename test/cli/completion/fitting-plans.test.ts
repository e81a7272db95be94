import assert from "node:assert/strict";
import { test } from "node:test";
import { fitsCommand } from "../../../src/cli/completion/fitting-plans.ts";
import { createProgram } from "../../../src/cli/program.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { planRecord } from "../../testing/plan-record.ts";

const blocked = { reason: "x", at: "2026-01-01T00:00:00.000Z" };
const PLANS: Readonly<Record<string, PlanRecord | undefined>> = {
  unseen: undefined,
  draft: planRecord("A", { status: "draft" }),
  stuck: planRecord("B", { status: "active", blocked }),
  seen: planRecord("C", { status: "review" }),
  over: planRecord("D", { status: "done" }),
};

const OFFERED: readonly (readonly [command: string, expected: readonly string[]])[] = [
  ["merge", ["seen"]],
  ["approve", ["unseen", "draft", "stuck", "seen"]],
  ["queue", ["unseen", "draft"]],
  ["unblock", ["stuck"]],
  ["clean", ["over"]],
  ["show", ["unseen", "draft", "stuck", "seen", "over"]],
  ["constructor", ["unseen", "draft", "stuck", "seen", "over"]],
];
for (const [command, expected] of OFFERED) {
  test(`completion of ${command} offers plans that it can do something with`, () => {
    const offered = Object.keys(PLANS).filter((name) => fitsCommand(command, PLANS[name]));
    assert.deepEqual(offered, expected);
  });
}

test("the commands that are told apart exist", () => {
  const names = new Set(createProgram().commands.map((command) => command.name()));
  const over = PLANS.over;
  const known = ["merge", "queue", "unblock", "approve", "revise", "reject", "rebase", "edit", "send", "open"];
  for (const name of [...known, "pause", "resume", "block", "hide"]) {
    assert.ok(names.has(name), name);
    assert.equal(fitsCommand(name, over), false, name);
  }
});
