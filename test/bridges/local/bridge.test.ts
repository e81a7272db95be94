import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type DeedResult, localBridge } from "../../../src/bridges/local/bridge.ts";
import { localComment, readThread } from "../../../src/bridges/local/thread.ts";
import { createFileLog } from "../../../src/bus/file/log.ts";
import type { ActionPayload, MergeMethod, PluginAction } from "../../../src/hooks/contexts/event-types.ts";
import { quietContext } from "../bridge-fixture.ts";

interface Deeds {
  merge?: (planId: string, method: MergeMethod) => Promise<DeedResult>;
  close?: (planId: string) => Promise<DeedResult>;
}

function setUp(t: TestContext, deeds: Deeds = {}) {
  const dir = mkdtempSync(join(tmpdir(), "prloom-local-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  let now = Date.parse("2026-01-01T00:00:00Z");
  const clock = { now: () => (now += 1000) };
  const root = (scope: { planId?: string }): string => join(dir, scope.planId ?? "global");
  const log = createFileLog({ root, clock, fsync: false });
  t.after(() => log.close());
  const merge = deeds.merge ?? (async () => ({ ok: true }));
  const close = deeds.close ?? (async () => ({ ok: true }));
  const bridge = localBridge({ log, hasPlan: (planId) => planId === "alpha", merge, close });
  const deliver = async (action: PluginAction) => bridge.actions?.(quietContext, action);
  const delivered = async (action: PluginAction) => bridge.delivered?.(quietContext, action);
  return { dir, log, bridge, deliver, delivered, bodies: () => readThread(log, "alpha").map(({ body }) => body) };
}

let count = 0;
function action(payload: ActionPayload, token = "alpha"): PluginAction {
  count += 1;
  return { id: `act-${count}`, type: "respond", target: { target: "local", token }, payload };
}
const comment = (message: string, key?: string): ActionPayload =>
  key === undefined ? { type: "comment", message } : { type: "comment", message, key };

test("answers stand in the thread once per action, in time with what people said", async (t) => {
  const { log, bridge, deliver, bodies } = setUp(t);
  assert.deepEqual(bridge.targets, ["local"]);
  const first = action(comment("first"));
  assert.deepEqual(await deliver(first), { success: true });
  const said = localComment({ id: "local-1", planId: "alpha", author: "ann", body: "a person" });
  log.append({ scope: { planId: "alpha" }, log: "events" }, [{ kind: "event", id: said.id, data: said }]);
  assert.deepEqual(await deliver(action(comment("second"))), { success: true });
  assert.deepEqual(await deliver(first), { success: true });
  assert.deepEqual(bodies(), ["first", "a person", "second"]);
});

test("the same key puts the newest text at the earlier place", async (t) => {
  const { log, deliver, bodies } = setUp(t);
  await deliver(action(comment("status: working", "status")));
  const { at } = readThread(log, "alpha")[0]!;
  await deliver(action(comment("between")));
  await deliver(action(comment("other", "__proto__")));
  await deliver(action(comment("status: done", "status")));
  assert.deepEqual(bodies(), ["status: done", "between", "other"]);
  assert.equal(readThread(log, "alpha")[0]!.at, at);
});

test("the key of one plugin does not touch what another plugin said with it", async (t) => {
  const { deliver, bodies } = setUp(t);
  const by = (emitter: string, message: string) => ({ ...action(comment(message, "status")), emitter });
  for (const round of [1, 2]) for (const plugin of ["lint", "size"]) await deliver(by(plugin, `${plugin} ${round}`));
  assert.deepEqual(bodies(), ["lint 2", "size 2"]);
});

test("inline comments and reviews can be read", async (t) => {
  const { deliver, bodies } = setUp(t);
  await deliver(action({ type: "inline_comment", path: "src/a.ts", line: 7, message: "off by one" }));
  const comments = [
    { path: "src/a.ts", line: 7, message: "off by one" },
    { path: "b.ts", line: 1, message: "why?" },
  ];
  await deliver(action({ type: "review", review: { verdict: "request_changes", summary: "Nearly.\n", comments } }));
  await deliver(action({ type: "review", review: { verdict: "approve", summary: "", comments: [] } }));
  assert.deepEqual(bodies(), [
    "src/a.ts:7: off by one",
    "Review: changes requested\n\nNearly.\n\n- src/a.ts:7: off by one\n- b.ts:1: why?",
    "Review: approved",
  ]);
});

test("merge and close reach the plan, leave no words, and are found again", async (t) => {
  const calls: string[] = [];
  const { deliver, delivered, bodies } = setUp(t, {
    merge: async (planId, method) => {
      calls.push(`merge ${planId} ${method}`);
      return { ok: true };
    },
    close: async (planId) => {
      calls.push(`close ${planId}`);
      return { ok: true };
    },
  });
  const merge = action({ type: "merge", method: "rebase" });
  assert.equal(await delivered(merge), false);
  assert.deepEqual(await deliver(merge), { success: true });
  assert.equal(await delivered(merge), true);
  assert.deepEqual(await deliver(action({ type: "close_pr" })), { success: true });
  assert.deepEqual(calls, ["merge alpha rebase", "close alpha"]);
  assert.deepEqual(bodies(), []);
});

test("a refused deed is told once in the thread, is a refusal, and does not count as delivered", async (t) => {
  let result: DeedResult = { ok: false, reason: "alpha is active, not in review", retryable: false };
  const { deliver, delivered, bodies } = setUp(t, { merge: async () => result, close: async () => result });
  const merge = action({ type: "merge", method: "squash" });
  const refusal = { success: false, error: "alpha is active, not in review", retryable: false };
  assert.deepEqual(await deliver(merge), refusal);
  assert.deepEqual(await deliver(merge), refusal);
  assert.deepEqual(await deliver(action({ type: "close_pr" })), refusal);
  assert.deepEqual(bodies(), [
    "Not merged: alpha is active, not in review",
    "Not closed: alpha is active, not in review",
  ]);
  assert.equal(await delivered(merge), false);

  result = { ok: true };
  assert.deepEqual(await deliver(merge), { success: true });
  assert.equal(await delivered(merge), true);
});

test("a deed that may work later is not a refusal, and nothing is said yet", async (t) => {
  const { deliver, bodies } = setUp(t, {
    merge: async () => ({ ok: false, reason: "no space left", retryable: true }),
  });
  assert.deepEqual(await deliver(action({ type: "merge", method: "squash" })), {
    success: false,
    error: "no space left",
    retryable: true,
  });
  assert.deepEqual(bodies(), []);
});

test("what a thread has no place for is refused by name", async (t) => {
  const { deliver, bodies } = setUp(t);
  const table: [ActionPayload, RegExp][] = [
    [{ type: "add_labels", labels: ["x"] }, /has no labels/],
    [{ type: "remove_labels", labels: ["x"] }, /has no labels/],
    [{ type: "request_reviewers", reviewers: ["x"] }, /has no reviewers/],
    [{ type: "assign_users", users: ["x"] }, /has no assignees/],
    [{ type: "set_milestone", milestone: "x" }, /has no milestones/],
    [{ type: "upsert_plan", source: { system: "s", kind: "k", id: "1" } }, /prloom-core/],
    [{ type: "notification", priority: "info", title: "t", message: "m" }, /"human"/],
  ];
  for (const [payload, reason] of table) {
    const result = await deliver(action(payload));
    assert.ok(result?.success === false && !result.retryable, payload.type);
    assert.match(result.error, reason);
  }
  assert.deepEqual(bodies(), []);
});

test("an address that names no plan is refused and makes no folder", async (t) => {
  const { dir, deliver, delivered } = setUp(t);
  for (const token of ["beta", "../alpha", "../../etc", "", "alpha/../alpha"]) {
    for (const payload of [comment("hello"), { type: "merge", method: "squash" } as const]) {
      const result = await deliver(action(payload, token));
      assert.ok(result?.success === false && !result.retryable);
      assert.equal(result.error, `there is no plan ${JSON.stringify(token)}`);
    }
    assert.equal(await delivered(action(comment("hello"), token)), false);
  }
  const nowhere: PluginAction = { ...action(comment("hello")), target: { target: "local" } };
  assert.deepEqual(await deliver(nowhere), {
    success: false,
    error: "the address has no plan (token)",
    retryable: false,
  });
  assert.deepEqual(readdirSync(dir), []);
  assert.ok(!existsSync(join(dir, "..", "etc")));
});

test("an action is found in a long thread, and one that only resembles it is not", async (t) => {
  const { log, delivered } = setUp(t);
  const records = Array.from({ length: 2500 }, (_, index) => {
    const data = { author: "prloom", body: "b", actionId: `old-${index}` };
    return { kind: "comment", id: `old-${index}`, data };
  });
  log.append({ scope: { planId: "alpha" }, log: "thread" }, records);
  const asked = (id: string) => delivered({ ...action(comment("b")), id });
  assert.equal(await asked("old-0"), true);
  assert.equal(await asked("old-2499"), true);
  assert.equal(await asked("old-2500"), false);
  assert.equal(await asked("old-24"), true);
  assert.equal(await asked("old-"), false);
});
