import assert from "node:assert/strict";
import { it } from "node:test";
import type { Action } from "../../src/bus/types.ts";
import type { Hooks } from "../../src/hooks/contexts/hook-types.ts";
import type { LoadedPlugin } from "../../src/hooks/modules/load-plugins.ts";
import { checkUpsert, routeAction } from "../../src/hooks/route.ts";
import { comment, event, globalPlugin, inTemporary, openWorld, type World } from "./fixture.ts";

/** Puts an action on a bus as a settlement does, and takes it as an outbox does. */
function put(world: World, action: Action, planId?: string): Action {
  const bus = world.bus(planId);
  bus.settle({ record: `of-${action.id}`, handler: "test", outcome: "handled", actions: [action] });
  assert.ok(bus.freshActions(99, () => true).some((fresh) => fresh.action.id === action.id));
  return action;
}

const router = (name: string, hook: NonNullable<Hooks["beforeRoute"]>): LoadedPlugin =>
  globalPlugin(name, { beforeRoute: hook });

const route = (world: World, plugins: readonly LoadedPlugin[], action: Action, planId?: string) =>
  routeAction(world.services, world.scope(planId), { plugins, action });

const upsert = (more: object = {}): Action =>
  comment("u1", {
    target: { target: "prloom-core" },
    payload: { type: "upsert_plan", source: { system: "s", kind: "k", id: "1" }, planMarkdown: "text", ...more },
  });

const checker = (name: string, hook: unknown): LoadedPlugin => globalPlugin(name, { beforeUpsert: hook } as Hooks);

const check = (world: World, plugins: readonly LoadedPlugin[], action: Action = upsert()) =>
  checkUpsert(world.services, world.scope(), { plugins, action });

it("delivers where no plugin objects, and asks in order", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const seen: string[] = [];
    const plugins = ["a", "b"].map((name) =>
      router(name, (action, ctx) => void seen.push(`${name} ${action.id} ${ctx.from.planId}`)),
    );
    const action = put(world, comment("c1", { author: { login: "ann", permission: "write" } }), "p1");
    assert.deepEqual(await route(world, plugins, action, "p1"), { kind: "deliver", target: action.target });
    assert.deepEqual(seen, ["a c1 p1", "b c1 p1"]);
    const again = openWorld(dir);
    assert.equal((await route(again, plugins, action, "p1")).kind, "deliver");
    assert.equal(seen.length, 2);
  }));

it("keeps a handled action from its bridge, with what was emitted instead, also after a kill, as the Friday policy does", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const asked: string[] = [];
    const friday = router("friday", (action, ctx) => {
      asked.push("friday");
      if (action.payload.type !== "merge") return;
      ctx.markActionHandled(action.id);
      ctx.emitComment(action.target, "Merges are blocked on Fridays.");
    });
    const later = router("later", () => void asked.push("later"));
    const author = { login: "bob", permission: "read" as const };
    const merge = comment("m1", {
      payload: { type: "merge", method: "squash" },
      author,
      relatedEventId: "e9",
      hops: 2,
    });
    put(world, merge);
    assert.deepEqual(await route(world, [friday, later], merge), { kind: "handled", by: "friday" });
    assert.deepEqual(asked, ["friday"]);
    const emitted = world.actions().at(-1);
    assert.deepEqual(emitted?.payload, { type: "comment", message: "Merges are blocked on Fridays." });
    assert.deepEqual([emitted?.author, emitted?.relatedEventId, emitted?.hops], [author, "e9", 3]);
    const again = openWorld(dir);
    assert.deepEqual(await route(again, [friday, later], merge), { kind: "handled", by: "friday" });
    assert.deepEqual(asked, ["friday"]);
  }));

it("redirects, and shows the next plugin where the action goes now", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const seen: string[] = [];
    const plugins = [
      router("a", async () => ({ target: { target: "local", token: "p1" } })),
      router("b", (action) => void seen.push(action.target.target)),
    ];
    const action = put(world, comment("c1"));
    const expected = { kind: "deliver", target: { target: "local", token: "p1" } };
    assert.deepEqual(await route(world, plugins, action), expected);
    assert.deepEqual(await route(openWorld(dir), plugins, action), expected);
    assert.deepEqual(seen, ["local"]);
    assert.equal(action.target.target, "github-pr");
  }));

it("takes null, and a promise of it, for nothing", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const action = put(world, comment("c1"));
    const plugins = [router("one", () => null), router("two", async () => null)];
    assert.deepEqual(await route(world, plugins, action), { kind: "deliver", target: action.target });
  }));

it("fails closed: a throw and nonsense deliver nothing, are tried again, and end as a dead letter", () =>
  inTemporary(async (dir) => {
    const nonsense: [name: string, hook: (...args: never[]) => unknown, pattern: RegExp][] = [
      ["throws", () => assert.fail("broken"), /broken/],
      ["text", () => "local", /^beforeRoute returned the string "local", which is not an address\.$/],
      ["true", () => true, /not an address/],
      ["target", () => ({ target: "local" }), /not an address/],
      ["extra", () => ({ target: { target: "local", now: 1 } }), /not an address/],
      [
        "wrong id",
        (_action: unknown, ctx: { markActionHandled(id: string): void }) => ctx.markActionHandled("x"),
        /markActionHandled/,
      ],
    ];
    const world = openWorld(dir);
    for (const [name, hook, pattern] of nonsense) {
      const action = put(world, comment(name));
      const plugins = [router("bad", hook as NonNullable<Hooks["beforeRoute"]>)];
      for (const delay of [1000, 2000]) {
        const decision = await route(world, plugins, action);
        assert.deepEqual(decision, { kind: "waiting", until: world.clock.time + delay }, name);
        assert.deepEqual(await route(world, plugins, action), decision, "asked before its time");
        world.clock.time += delay;
      }
      const dead = await route(world, plugins, action);
      assert.equal(dead.kind, "dead");
      assert.match(
        world
          .bus()
          .deadLetters()
          .find(({ record }) => record === name)?.reason ?? "",
        pattern,
      );
      assert.equal((await route(world, plugins, action)).kind, "dead");
      assert.equal(
        world.reports.filter(({ level, text }) => level === "bad" && text.includes(`prloom retry ${name}`)).length,
        1,
      );
    }
    const told = (name: string): string => world.reports.find(({ text }) => text.includes(` on ${name} (`))?.text ?? "";
    assert.match(
      told("text"),
      /^beforeRoute:bad returned what it must not on text \(attempt 1 of 3, next in 1 s\): before/,
    );
    assert.match(told("throws"), /^beforeRoute:bad threw on throws/);
    world.bus().revive("throws");
    const decision = await route(world, [router("bad", () => undefined)], comment("throws"));
    assert.equal(decision.kind, "deliver");
  }));

it("gives beforeRoute a copy without what is prloom's own", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const action = put(world, comment("c1", { author: { login: "ann", permission: "read" }, hops: 1 }));
    const vandal = router("vandal", (mine) => {
      assert.deepEqual(Object.keys(mine).sort(), ["id", "payload", "target", "type"]);
      (mine.target as { target: string }).target = "human";
    });
    assert.deepEqual(await route(world, [vandal], action), {
      kind: "deliver",
      target: { target: "github-pr", token: "7" },
    });
  }));

it("proceeds unchanged, or with what each plugin made of it, in order", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const calls: string[] = [];
    const append = (line: string) => (payload: { planMarkdown: string }) => {
      calls.push(`${line} got ${payload.planMarkdown}`);
      return { proceed: true, payload: { ...payload, planMarkdown: `${payload.planMarkdown}\n${line}` } };
    };
    const plugins = [
      checker("a", append("a")),
      checker("same", async () => ({ proceed: true })),
      checker("b", append("b")),
    ];
    put(world, upsert());
    const expected = { ...upsert().payload, planMarkdown: "text\na\nb" };
    assert.deepEqual(await check(world, plugins), { kind: "proceed", payload: expected });
    assert.deepEqual(await check(openWorld(dir), plugins), { kind: "proceed", payload: expected });
    assert.deepEqual(calls, ["a got text", "b got text\na"]);
  }));

it("goes on after a kill where the chain was", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const calls: string[] = [];
    let broken = true;
    const plugins = [
      checker("a", (payload: object) => {
        calls.push("a");
        return { proceed: true, payload: { ...payload, title: "by a" } };
      }),
      checker("b", (payload: { title: string }) => {
        calls.push(`b ${payload.title}`);
        if (broken) throw new Error("not now");
        return { proceed: true };
      }),
    ];
    put(world, upsert());
    assert.deepEqual(await check(world, plugins), { kind: "waiting", until: world.clock.time + 1000 });
    const again = openWorld(dir);
    again.clock.time += 1000;
    broken = false;
    const decision = await check(again, plugins);
    assert.deepEqual(decision, { kind: "proceed", payload: { ...upsert().payload, title: "by a" } });
    assert.deepEqual(calls, ["a", "b by a", "b by a"]);
  }));

it("stops the chain at a rejection and keeps its reason", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const plugins = [
      checker("no", () => ({ reject: true, reason: "Plan must have a title" })),
      checker("later", () => assert.fail("must not be called")),
    ];
    put(world, upsert());
    const expected = { kind: "rejected", by: "no", reason: "Plan must have a title" };
    assert.deepEqual(await check(world, plugins), expected);
    assert.deepEqual(await check(openWorld(dir), plugins), expected);
    assert.equal(world.settlements().at(-1)?.reason, "Plan must have a title");
  }));

it("takes nonsense instead of a verdict for a throw", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const verdicts: [name: string, verdict: unknown, pattern: RegExp][] = [
      ["undefined", undefined, /no verdict/],
      ["null", null, /no verdict/],
      ["text", "proceed", /no verdict/],
      ["both", { proceed: true, reject: true, reason: "x" }, /no verdict/],
      ["no reason", { reject: true }, /no verdict/],
      ["false", { proceed: false }, /no verdict/],
      ["payload", { proceed: true, payload: { type: "comment", message: "x" } }, /not upsert_plan/],
      ["field", { proceed: true, payload: { ...upsert().payload, status: "active" } }, /status/],
      [
        "not JSON",
        { proceed: true, payload: { ...upsert().payload, metadata: { f: () => 1 } } },
        /metadata\.f is a function/,
      ],
    ];
    for (const [name, verdict, pattern] of verdicts) {
      const action = put(world, { ...upsert(), id: name });
      const decision = await check(world, [checker("bad", () => verdict)], action);
      assert.equal(decision.kind, "waiting", name);
      assert.match(world.bus().waitOf(name, "beforeUpsert:bad")?.reason ?? "", pattern, name);
    }
  }));

it("knows the author of an upsert from its event when the action no longer says", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    world.bus().appendEvents([event("e1", { context: { author: { login: "bob", permission: "read" } } })]);
    const plugin = checker("c", (_payload: unknown, ctx: { emitMerge(target: object): void }) => {
      ctx.emitMerge({ target: "github-pr" });
      return { proceed: true };
    });
    await check(world, [plugin], put(world, { ...upsert(), relatedEventId: "e1" }));
    const merge = world.actions().at(-1);
    assert.deepEqual([merge?.payload.type, merge?.author?.permission, merge?.hops], ["merge", "read", 1]);
  }));
