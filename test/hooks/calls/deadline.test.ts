import assert from "node:assert/strict";
import { it } from "node:test";
import { gate, inTemporary, newIds, offer, onEvent, openWorld, planPlugin } from "../fixture.ts";

it("ends a hook that never returns, aborts its signal, and ignores what comes of it later", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir, { timeoutMs: 20 });
    const ended = gate();
    const finished = gate();
    let aborted = false;
    const plugin = onEvent(async (given, ctx) => {
      ctx.signal.addEventListener("abort", () => {
        aborted = true;
      });
      await ended.promise;
      try {
        ctx.markEventHandled(given.id);
      } finally {
        finished.open();
      }
    });
    const other = planPlugin("other", { onEvent: (given, ctx) => ctx.markEventHandled(given.id) });
    assert.deepEqual(await offer(world, [plugin, other]), { called: true, handledBy: "other", waiting: true });
    assert.equal(aborted, true);
    assert.match(world.bus("p1").waitOf("e1", "onEvent:one")?.reason ?? "", /did not return within 0.02 s/);
    const before = world.settlements("p1").length;
    ended.open();
    await finished.promise;
    await new Promise(setImmediate);
    assert.equal(world.settlements("p1").length, before);
    assert.deepEqual(world.labels, ["onEvent:one", "left 1", "onEvent:other", "left 3"]);
  }));

it("lets time stand still while an agent runs, and hands on what it answered", () =>
  inTemporary(async (dir) => {
    const started = gate();
    const answer = gate();
    const world = openWorld(dir, {
      timeoutMs: 30,
      async runAgent() {
        started.open();
        await answer.promise;
        return "looks good";
      },
    });
    let text = "";
    const plugin = onEvent(async (given, ctx) => {
      text = await ctx.runAgent("Review", { stage: "reviewer", files: ["a.ts"] });
      ctx.markEventHandled(given.id);
    });
    const offered = offer(world, [plugin]);
    await started.promise;
    // Longer than the hook has: the timers of the deadline would have fired before this one.
    await new Promise((resolve) => setTimeout(resolve, 60));
    answer.open();
    assert.deepEqual(await offered, { called: true, handledBy: "one", waiting: false });
    assert.equal(text, "looks good");
    assert.deepEqual([world.agentCalls[0]?.planId, world.agentCalls[0]?.prompt], ["p1", "Review"]);
  }));

it("tells an agent that a hook did not wait for to end", () =>
  inTemporary(async (dir) => {
    const ended = gate();
    const world = openWorld(dir, {
      runAgent: (_planId, _prompt, { signal }) => {
        const stopped = Promise.withResolvers<string>();
        signal.addEventListener("abort", () => {
          ended.open();
          stopped.resolve("stopped");
        });
        return stopped.promise;
      },
    });
    await offer(world, [onEvent((_given, ctx) => void ctx.runAgent("forgotten"))]);
    await ended.promise;
  }));

it("counts no attempt for a call that the end of the dispatcher breaks off, and calls no plugin after it", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const calls: string[] = [];
    const slow = onEvent(async (_given, ctx) => {
      calls.push("slow");
      await new Promise((_resolve, reject) => ctx.signal.addEventListener("abort", () => reject(new Error("aborted"))));
    });
    const next = planPlugin("next", { onEvent: () => void calls.push("next") });
    const offered = offer(world, [slow, next]);
    await Promise.resolve();
    world.stop.abort();
    assert.deepEqual(await offered, { called: true, waiting: true });
    assert.deepEqual(calls, ["slow"]);
    assert.equal(world.bus("p1").waitOf("e1", "onEvent:one")?.attempts, 0);
    assert.deepEqual(world.reports, []);
    const again = openWorld(dir);
    again.clock.time += 5000;
    assert.deepEqual(newIds(again, "p1"), ["e1"]);
  }));
