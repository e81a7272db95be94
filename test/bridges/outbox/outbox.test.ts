import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeliveryResult } from "../../../src/bridges/contract.ts";
import { Outbox } from "../../../src/bridges/outbox/outbox.ts";
import type { Action } from "../../../src/bus/types.ts";
import { event } from "../../bus/bus-fixture.ts";
import { comment, loadedBridge, onBench, pending } from "../bridge-fixture.ts";

const OK: DeliveryResult = { success: true };

/** A desk that remembers what it got. */
function desk(answer: (id: string, count: number) => DeliveryResult | Promise<DeliveryResult> = () => OK) {
  const got: string[] = [];
  const loaded = loadedBridge({
    actions: (_ctx, action) => {
      got.push(action.id);
      return answer(action.id, got.filter((id) => id === action.id).length);
    },
  });
  return { got, loaded };
}

describe("order", () => {
  it("keeps it for each address, and no address waits for another", () =>
    onBench(async (bench) => {
      const slow = pending<DeliveryResult>();
      const reached = pending<void>();
      const { got, loaded } = desk((id) => {
        if (id === "b2") reached.resolve();
        return id === "a1" ? slow.promise : OK;
      });
      bench.put(comment("a1", "a"), comment("a2", "a"), comment("b1", "b"), comment("a3", "a"), comment("b2", "b"));
      const working = bench.deliver([loaded]);
      await reached.promise;
      assert.deepEqual(got, ["a1", "b1", "b2"]);
      slow.resolve(OK);
      await working;
      assert.deepEqual(got, ["a1", "b1", "b2", "a2", "a3"]);
      assert.deepEqual(bench.settlements("a1"), ["deliver:desk handled"]);
      bench.reopen();
      await bench.deliver([loaded]);
      assert.equal(got.length, 5, "nothing is delivered again after a restart");
    }));

  it("holds by the source of a plan for prloom-core, whatever the token", () =>
    onBench(async (bench) => {
      const upsert = (id: string, issue: string) => ({
        ...comment(id, id, "prloom-core"),
        payload: { type: "upsert_plan" as const, source: { system: "t", kind: "issue", id: issue } },
      });
      const slow = pending<DeliveryResult>();
      const reached = pending<void>();
      const got: string[] = [];
      const core = loadedBridge(
        {
          actions: (_ctx, { id }) => {
            got.push(id);
            if (id === "u3") reached.resolve();
            return id === "u1" ? slow.promise : OK;
          },
        },
        { name: "prloom-core", kind: "builtin" },
      );
      bench.put(upsert("u1", "1"), upsert("u2", "1"), upsert("u3", "2"));
      const working = bench.deliver([core]);
      await reached.promise;
      assert.deepEqual(got, ["u1", "u3"]);
      slow.resolve(OK);
      await working;
      assert.deepEqual(got, ["u1", "u3", "u2"]);
    }));

  it("makes at most four calls of one bridge at once, and eight in all", () =>
    onBench(async (bench) => {
      const all = pending<DeliveryResult>();
      const running = { one: 0, two: 0, three: 0 };
      const eight = pending<void>();
      const make = (name: keyof typeof running) =>
        loadedBridge(
          {
            actions: () => {
              running[name] += 1;
              if (running.one + running.two + running.three === 8) eight.resolve();
              return all.promise;
            },
          },
          { name },
        );
      for (const name of ["one", "two", "three"] as const) {
        for (let n = 0; n < 6; n += 1) bench.put(comment(`${name}-${n}`, String(n), name));
      }
      const working = bench.deliver([make("one"), make("two"), make("three")]);
      await eight.promise;
      // Whatever could begin has begun when the loop has turned a few times more.
      for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(running, { one: 4, two: 4, three: 0 });
      all.resolve(OK);
      await working;
      assert.deepEqual(running, { one: 6, two: 6, three: 6 });
    }));

  it("lets a bridge that never returns stop only its own address", () =>
    onBench(async (bench) => {
      bench.timeoutMs = 30;
      const { got, loaded } = desk((id) => (id.startsWith("a") ? new Promise(() => undefined) : OK));
      bench.put(comment("a1", "a"), comment("b1", "b"), comment("a2", "a"), comment("b2", "b"));
      await bench.deliver([loaded]);
      assert.deepEqual(got, ["a1", "b1", "b2"]);
      assert.match(
        bench.reports.join("\n"),
        /deliver:desk: comment to desk\/a waits: it did not return within 0.03 s; next try in 1 s/,
      );
      assert.equal(bench.bus.waitOf("a1", "deliver:desk")?.attempts, 1);
    }));
});

it("is idle until it is woken", () =>
  onBench(async (bench) => {
    const { got, loaded } = desk();
    bench.put(comment("a1"));
    const { bus, circuits, services } = bench;
    const route = async ({ target }: Action) => ({ kind: "deliver" as const, target });
    const outbox = new Outbox({ bus, scope: {}, bridgeFor: () => loaded, circuits, services, route });
    assert.equal(outbox.idle(), true);
    await outbox.settled();
    assert.equal(outbox.nextAt(), undefined);
    assert.deepEqual(got, []);
    bench.outbox = outbox;
    await bench.settle();
    assert.deepEqual(got, ["a1"]);
  }));

describe("what bridges answer", () => {
  it("makes a dead letter of a refusal, and goes on with the next", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk((id) =>
        id === "a1" ? { success: false, error: "no such issue.", retryable: false } : OK,
      );
      bench.put(comment("a1"), comment("a2"));
      await bench.deliver([loaded]);
      assert.deepEqual(got, ["a1", "a2"]);
      assert.deepEqual(bench.dead(), ["a1 deliver:desk: no such issue."]);
      assert.deepEqual(bench.reports, [
        "bad: deliver:desk gave up on comment to desk/a: no such issue (prloom retry a1)",
      ]);
    }));

  it("tells the author who asked for a merge that it was refused, at the address where they asked, once", () =>
    onBench(async (bench) => {
      const got: string[] = [];
      const loaded = loadedBridge({
        actions: (_ctx, { target, payload }) => {
          got.push(`${target.token} ${payload.type}${payload.type === "comment" ? ` ${payload.message}` : ""}`);
          return payload.type === "merge" ? { success: false, error: "a check is red", retryable: false } : OK;
        },
      });
      bench.put({ ...comment("m1", "7"), payload: { type: "merge", method: "squash" } });
      await bench.deliver([loaded]);
      const asked = ["7 merge", "7 comment Not merged: a check is red"];
      assert.deepEqual(got, asked);
      assert.equal(bench.bus.deadLetters()[0]?.reason, "a check is red");
      bench.reopen();
      bench.bus.revive("m1");
      await bench.deliver([loaded]);
      assert.deepEqual(got, [...asked, "7 merge"], "no author is told the same twice");
    }));

  it("tells them where they asked when a plugin sent the merge elsewhere, also of the local bridge", () =>
    onBench(async (bench) => {
      const said: string[] = [];
      const hears = (_ctx: unknown, { target, payload }: Pick<Action, "target" | "payload">) => {
        said.push(`${target.token} ${JSON.stringify(payload)}`);
        return OK;
      };
      const chat = loadedBridge({ actions: hears }, { name: "chat" });
      const refuses = () => ({ success: false, error: "a check is red", retryable: false }) as const;
      const forges = ["desk", "local"].map((name) => loadedBridge({ actions: refuses }, { name }));
      bench.bus.appendEvents([{ ...event("asked"), replyTo: { target: "chat", token: "room" } }]);
      const payload = { type: "merge", method: "squash" } as const;
      const merge = (id: string, target: string) => ({ ...comment(id), target: { target }, payload });
      bench.put({ ...merge("m1", "desk"), relatedEventId: "asked" });
      bench.put({ ...merge("m2", "local"), relatedEventId: "asked" });
      bench.put(merge("m3", "local"));
      await bench.deliver([chat, ...forges]);
      assert.deepEqual(said, Array(2).fill('room {"type":"comment","message":"Not merged: a check is red"}'));
      assert.equal(bench.dead().length, 3, "the local bridge answers by itself in its own thread");
    }));

  it("tries a dead letter again when it was revived, also one that is refused again", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk((_id, count) =>
        count < 3 ? { success: false, error: `no ${count}`, retryable: false } : OK,
      );
      bench.put(comment("a1", "a"));
      await bench.deliver([loaded], {
        route: async () => ({ kind: "deliver", target: { target: "desk", token: "b" } }),
      });
      for (const expected of [["a1 deliver:desk: no 2"], []]) {
        assert.equal(bench.bus.revive("a1"), 1);
        await bench.settle();
        assert.deepEqual(bench.dead(), expected);
      }
      assert.deepEqual(got, ["a1", "a1", "a1"]);
      assert.equal(bench.bus.deferredSummary().count, 0);
    }));

  it("retries a throw later and later, and then gives up; what is behind waits", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk((id) => {
        if (id === "a1") throw new Error("boom");
        return OK;
      });
      bench.put(comment("a1"), comment("a2"));
      const outbox = await bench.deliver([loaded]);
      assert.equal(outbox.nextAt(), bench.now + 1000);
      await bench.later(999);
      assert.deepEqual(got, ["a1"]);
      await bench.later(1);
      assert.equal(outbox.nextAt(), bench.now + 2000);
      await bench.later(2000);
      assert.deepEqual(got, ["a1", "a1", "a1", "a2"]);
      assert.deepEqual(bench.dead(), ["a1 deliver:desk: boom"]);
      assert.deepEqual(bench.settlements("a2"), ["outbox deferred", "deliver:desk handled", "outbox passed"]);
      assert.equal(bench.bus.deferredSummary().count, 0);
    }));

  it("takes nonsense for a throw", () =>
    onBench(async (bench) => {
      const answers = [undefined, "yes", { success: "true" }, { success: false }, { later: { reason: "x", until: 1 } }];
      const loaded = answers.map((answer, n) =>
        loadedBridge({ actions: () => answer as unknown as DeliveryResult }, { name: `desk${n}` }),
      );
      answers.forEach((_answer, n) => {
        bench.put(comment(`a${n}`, "a", `desk${n}`));
      });
      await bench.deliver(loaded);
      for (const [n] of answers.entries()) {
        assert.equal(bench.bus.waitOf(`a${n}`, `deliver:desk${n}`)?.attempts, 1, `answer ${n}`);
      }
    }));

  it("waits without counting when a built-in bridge says later, and goes on when it is hurried", () =>
    onBench(async (bench) => {
      let busy = true;
      let calls = 0;
      const until = bench.now + 60_000;
      const loaded = loadedBridge(
        {
          actions: () => {
            calls += 1;
            return (busy ? { later: { reason: "a run lives", until } } : OK) as DeliveryResult;
          },
        },
        { kind: "builtin" },
      );
      bench.put(comment("a1"), comment("a2"));
      const outbox = await bench.deliver([loaded]);
      assert.equal(outbox.nextAt(), until);
      assert.equal(outbox.idle(), true);
      await bench.settle();
      assert.equal(calls, 1);
      assert.equal(bench.bus.waitOf("a1", "deliver:desk")?.attempts, 0);
      busy = false;
      outbox.hurry("unknown");
      outbox.hurry("a2");
      await outbox.settled();
      assert.equal(calls, 1, "only the first of a queue can be hurried");
      outbox.hurry("a1");
      await outbox.settled();
      assert.equal(calls, 3);
    }));

  it("gives each call a copy with the routed target, without what only prloom knows", () =>
    onBench(async (bench) => {
      const seen: unknown[] = [];
      const loaded = loadedBridge({
        actions: (ctx, action) => {
          seen.push(structuredClone(action), ctx.planId, ctx.worktree, ctx.config.colour);
          Object.assign(action.payload, { message: "changed" });
          throw new Error("again");
        },
      });
      const author = { login: "eve", permission: "read" as const };
      bench.put({ ...comment("a1", "x", "elsewhere"), author, hops: 2 });
      await bench.deliver([loaded], { route: async () => ({ kind: "deliver", target: { target: "desk" } }) });
      await bench.later(1000);
      const call = [{ ...comment("a1"), target: { target: "desk" } }, "login", "/worktrees/login", "red"];
      assert.deepEqual(seen, [...call, ...call]);
    }));
});
