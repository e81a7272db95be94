import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import type { BridgeContext } from "../../../src/bridges/contract.ts";
import { localComment } from "../../../src/bridges/local/thread.ts";
import { localTracker } from "../../../src/bridges/local/tracker.ts";
import { trackerBridge } from "../../../src/bridges/tracker/bridge.ts";
import { createFileLog } from "../../../src/bus/file/log.ts";
import { trackerContract } from "../../testing/contracts/tracker-contract.ts";
import { openScripted, type ScriptedTracker } from "../../testing/tracker/scripted.ts";
import { quietContext } from "../bridge-fixture.ts";

function folder(): { dir: string; dispose(): void } {
  const dir = mkdtempSync(join(tmpdir(), "prloom-tracker-"));
  return { dir, dispose: () => rmSync(dir, { recursive: true, force: true }) };
}

trackerContract("local", () => {
  const { dir, dispose } = folder();
  const root = ({ planId = "global" }: { planId?: string }): string => join(dir, planId);
  const log = createFileLog({ root, clock: { now: () => Date.now() }, fsync: false });
  let count = 0;
  return {
    tracker: localTracker({ log, authors: () => ({ Bob: "read" }) }),
    threads: ["alpha", "beta"],
    say(planId, { login: author }, body) {
      const event = localComment({ id: `local-${++count}`, planId, author, body });
      log.append({ scope: { planId }, log: "events" }, [{ kind: "event", id: event.id, data: event }]);
    },
    dispose() {
      log.close();
      dispose();
    },
  };
});

const LIMIT = 65_536;

trackerContract("scripted", () => {
  const { dir, dispose } = folder();
  const tracker = openScripted({ dir, limit: LIMIT });
  tracker.people({ anna: "write", bob: "read" });
  return { tracker, threads: ["1", "12"], say: tracker.write, dispose };
});

interface Bridged {
  readonly tracker: ScriptedTracker;
  readonly bridge: ReturnType<typeof trackerBridge>;
  readonly ctx: BridgeContext;
}

async function bridged(test: (world: Bridged) => Promise<void>): Promise<void> {
  const { dir, dispose } = folder();
  const tracker = openScripted({ dir, limit: LIMIT });
  const source = { system: "scripted", kind: "issue", id: "1" };
  const plan = { planId: "shop", status: "active", source } as never;
  const ctx = { ...quietContext, listPlans: async () => [plan] };
  try {
    await test({ tracker, bridge: trackerBridge({ tracker, target: "scripted", name: "the tracker" }), ctx });
  } finally {
    dispose();
  }
}

const comment = (id: string, message: string, ref?: string) => ({
  id,
  type: "respond" as const,
  target: { target: "scripted", token: "1" },
  payload: { type: "comment" as const, message },
  ...(ref === undefined ? {} : { ref }),
});

it("a bridge to a tracker posts, finds again what a lost answer hid, and edits by ref", () =>
  bridged(async ({ tracker, bridge, ctx }) => {
    tracker.script("post", "lost", "500", "422");
    await assert.rejects(async () => bridge.actions?.(ctx, comment("a", "one")), /closed before the answer/);
    assert.deepEqual(await bridge.delivered?.(ctx, comment("a", "one")), { ref: "1" });
    const down = await bridge.actions?.(ctx, comment("b", "two"));
    assert.deepEqual(down, { success: false, error: "500", retryable: true, retryAfterMs: 30 });
    assert.equal(await bridge.delivered?.(ctx, comment("b", "two")), false);
    assert.deepEqual(await bridge.actions?.(ctx, comment("b", "two")), {
      success: false,
      error: "422: the body is not accepted",
      retryable: false,
    });
    assert.deepEqual(await bridge.actions?.(ctx, comment("c", "three", "1")), { success: true, ref: "1" });
    tracker.remove("1");
    assert.deepEqual(await bridge.actions?.(ctx, comment("d", "four", "1")), { success: true, ref: "2" });
  }));

it("what is too long for one post comes in parts, the last of which has its id", () =>
  bridged(async ({ tracker, bridge, ctx }) => {
    assert.deepEqual(await bridge.actions?.(ctx, comment("a", "x".repeat(100_000))), { success: true, ref: "2" });
    const [first, last, ...more] = tracker.shown("1").map(({ body }) => body);
    assert.match(first ?? "", /^\*\*Part 1 of 2\*\*\n\nx+\n\n<!-- prloom:a~1 -->$/);
    assert.match(last ?? "", /^\*\*Part 2 of 2\*\*\n\n[x\n]+\n\n<!-- prloom:a -->$/);
    assert.deepEqual(more, []);
  }));

it("what is too long for one post that is edited later is cut, and says so", () =>
  bridged(async ({ tracker, bridge, ctx }) => {
    const { payload, ...action } = comment("a", "x".repeat(100_000));
    const keyed = { ...action, payload: { ...payload, key: "status" } } as typeof action & { payload: typeof payload };
    assert.deepEqual(await bridge.actions?.(ctx, keyed), { success: true, ref: "1" });
    assert.match(tracker.shown("1")[0]?.body ?? "", /the rest is left out\)\n\n<!-- prloom:a -->$/);
  }));

it("comments become events of their plan, with what their author may do; ours do not, and our login is named", () =>
  bridged(async ({ tracker, bridge, ctx }) => {
    tracker.people({ anna: "write", "prloom-bot": "admin" });
    const first = await bridge.events?.(ctx, undefined);
    assert.ok(first && "events" in first);
    await bridge.actions?.(ctx, comment("a", "ours"));
    tracker.write("1", { login: "anna", id: "7" }, "approved");
    tracker.write("1", { login: "prloom-bot", id: "1" }, "approved <!-- prloom:a -->");
    tracker.write("12", { login: "anna", id: "7" }, "approved");
    const poll = await bridge.events?.(ctx, first.state);
    assert.ok(poll && "events" in poll);
    assert.deepEqual(
      poll.events.map(({ plan, body, context }) => [plan, body, context?.author?.permission, context?.ownLogin]),
      [
        ["shop", "approved", "write", undefined],
        ["shop", "approved <!-- prloom:a -->", "admin", "prloom-bot"],
      ],
    );
    tracker.script("permissionOf", "500");
    tracker.write("1", { login: "anna", id: "7" }, "lgtm");
    tracker.write("1", { login: "prloom-bot", id: "1" }, "and this one counts");
    // What of one author cannot be told holds back that author's words, and no other's.
    const warnings: string[] = [];
    const log = { ...ctx.log, warn: (text: string) => void warnings.push(text) };
    const held = await bridge.events?.({ ...ctx, log }, poll.state);
    assert.deepEqual(warnings, ["a comment by anna is held back: 500"]);
    assert.ok(held && "events" in held);
    assert.deepEqual(
      held.events.map(({ body }) => body),
      ["and this one counts"],
    );
    const again = await bridge.events?.(ctx, held.state);
    assert.ok(again && "events" in again);
    assert.deepEqual(
      again.events.map(({ body }) => body),
      ["lgtm"],
    );
  }));
