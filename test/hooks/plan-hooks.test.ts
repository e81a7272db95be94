import assert from "node:assert/strict";
import { it } from "node:test";
import type { BaseContext, TextHookPoint } from "../../src/hooks/contexts/context-types.ts";
import { TEXT_HOOK_POINTS } from "../../src/hooks/contexts/context-types.ts";
import type { Hooks } from "../../src/hooks/contexts/hook-types.ts";
import type { LoadedPlugin } from "../../src/hooks/modules/load-plugins.ts";
import { closeRecord, runActivateHooks, runStartupHooks, runTextHooks } from "../../src/hooks/plan-hooks.ts";
import type { PlanSummary } from "../../src/plan/summary.ts";
import { globalPlugin, inTemporary, LIMITS, openWorld, planPlugin, type World } from "./fixture.ts";

interface Text {
  text: string;
  writes: number;
}

function run(
  world: World,
  plugins: readonly LoadedPlugin[],
  file: Text,
  more: { record?: string; point?: TextHookPoint } = {},
) {
  return runTextHooks(world.services, world.scope("p1"), {
    point: more.point ?? "afterDesign",
    record: more.record ?? "r1",
    plugins,
    todo: "Write it",
    readText: () => file.text,
    writeText(text) {
      file.text = text;
      file.writes += 1;
    },
  });
}

const design = (name: string, hook: unknown): LoadedPlugin => planPlugin(name, { afterDesign: hook } as Hooks);
const append = (name: string): LoadedPlugin => design(name, (text: string) => `${text}${name}\n`);

it("hands each plugin what the one before left, and writes it", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const file = { text: "plan\n", writes: 0 };
    const plugins = [
      append("a"),
      design("same", () => undefined),
      design("equal", (text: string) => text),
      append("b"),
    ];
    assert.deepEqual(await run(world, plugins, file), { kind: "done" });
    assert.deepEqual(file, { text: "plan\na\nb\n", writes: 2 });
    assert.deepEqual(await run(openWorld(dir), plugins, file), { kind: "done" });
    assert.equal(file.writes, 2);
    assert.deepEqual(await run(world, plugins, file, { record: "r2" }), { kind: "done" });
    assert.equal(file.text, "plan\na\nb\na\nb\n");
  }));

it("tells beforeTodo and afterTodo which TODO it is", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const seen: unknown[] = [];
    const hook = (_text: string, ctx: object): void =>
      void seen.push([ctx, "todo" in ctx && ctx.todo, "todoCompleted" in ctx && ctx.todoCompleted].slice(1));
    for (const point of TEXT_HOOK_POINTS) {
      const plugin = planPlugin("one", { [point]: hook });
      assert.deepEqual(await run(world, [plugin], { text: "", writes: 0 }, { point, record: point }), { kind: "done" });
    }
    assert.deepEqual(seen, [
      [false, false],
      ["Write it", false],
      [false, "Write it"],
      [false, false],
      [false, false],
    ]);
  }));

it("writes after a kill what was settled, unless the text was changed meanwhile", () =>
  inTemporary(async (dir) => {
    const killed = openWorld(dir);
    const settled = { text: "plan\n", writes: 0 };
    await run(killed, [append("a")], settled);
    const unwritten = { text: "plan\n", writes: 0 };
    const calls: string[] = [];
    const second = design("b", (text: string) => void calls.push(text));
    assert.deepEqual(await run(openWorld(dir), [append("a"), second], unwritten), { kind: "done" });
    assert.deepEqual(unwritten, { text: "plan\na\n", writes: 1 });
    assert.deepEqual(calls, ["plan\na\n"]);
    const edited = { text: "edited\n", writes: 0 };
    assert.deepEqual(await run(openWorld(dir), [append("a")], edited), { kind: "done" });
    assert.deepEqual(edited, { text: "edited\n", writes: 0 });
  }));

it("runs a hook again when the text changed under it, and gives up after ten times", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const file = { text: "plan\n", writes: 0 };
    let runs = 0;
    const disturbed = (times: number) =>
      design("one", async (text: string, ctx: { emitComment(target: object, text: string): void }) => {
        runs += 1;
        await Promise.resolve();
        if (runs <= times) file.text = `by a person ${runs}\n`;
        ctx.emitComment({ target: "local" }, text);
        return `${text}hook\n`;
      });
    assert.deepEqual(await run(world, [disturbed(2)], file), { kind: "done" });
    assert.deepEqual(file, { text: "by a person 2\nhook\n", writes: 1 });
    assert.equal(world.actions("p1").length, 1);
    runs = 0;
    const outcome = await run(world, [disturbed(99)], file, { record: "r2" });
    assert.deepEqual([outcome.kind, runs], ["failed", 10]);
    assert.equal(file.text, "by a person 10\n");
  }));

it("fails the round on a throw, too much text and anything that is not a string, commits nothing, and says so again", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const bad: [record: string, hook: unknown, pattern: RegExp][] = [
      ["throws", () => assert.fail("broken"), /broken/],
      ["null", () => null, /afterDesign returned null/],
      ["number", () => 5, /afterDesign returned a number/],
      ["long", () => "x".repeat(512 * 1024 + 1), /more than 512 KB/],
    ];
    for (const [record, hook, pattern] of bad) {
      const file = { text: "plan\n", writes: 0 };
      let calls = 0;
      const plugin = design(
        "bad",
        (_text: string, ctx: { setState(key: string, value: unknown): void; emitMerge(target: object): void }) => {
          calls += 1;
          ctx.setState("a", 1);
          ctx.emitMerge({ target: "local" });
          return (hook as () => unknown)();
        },
      );
      for (const again of [world, openWorld(dir)]) {
        const outcome = await run(again, [plugin, design("next", () => assert.fail("must not run"))], file, { record });
        assert.deepEqual([outcome.kind, "plugin" in outcome && outcome.plugin], ["failed", "bad"]);
        assert.match("reason" in outcome ? outcome.reason : "", pattern);
      }
      assert.deepEqual([calls, file.writes], [1, 0]);
    }
    assert.deepEqual(world.actions("p1"), []);
    assert.deepEqual(world.stores.read({ kind: "plan", planId: "p1", plugin: "bad" }), {});
    const told = (how: string): number =>
      world.reports.filter(({ level, text }) => level === "warn" && text.startsWith(`afterDesign:bad ${how}: `)).length;
    assert.deepEqual([told("threw"), told("returned what it must not")], [1, 3]);
    assert.deepEqual(world.bus("p1").newEvents(9), []);
  }));

it("fails the round of a hook that killed the process too often", () =>
  inTemporary(async (dir) => {
    for (let life = 1; life <= 3; life += 1) openWorld(dir).bus("p1").attempt("r1", "afterDesign:one");
    const outcome = await run(openWorld(dir), [design("one", () => assert.fail("must not run"))], {
      text: "",
      writes: 0,
    });
    assert.match("reason" in outcome ? outcome.reason : "", /called 3 times and never came back/);
  }));

it("leaves a round that the end of the dispatcher breaks off open", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const file = { text: "plan\n", writes: 0 };
    let calls = 0;
    const plugin = design("one", async (text: string, ctx: { signal: AbortSignal }) => {
      calls += 1;
      if (calls > 1) return `${text}done\n`;
      await new Promise((_resolve, reject) => ctx.signal.addEventListener("abort", () => reject(new Error("aborted"))));
      return text;
    });
    const outcome = run(world, [plugin], file);
    await Promise.resolve();
    world.stop.abort();
    assert.deepEqual(await outcome, { kind: "stopped" });
    assert.deepEqual(await run(openWorld(dir), [plugin], file), { kind: "done" });
    assert.equal(file.text, "plan\ndone\n");
  }));

it("forgets the answers of a round that was closed", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await run(world, [append("a")], { text: "", writes: 0 });
    assert.equal(world.bus("p1").results("r1").size, 1);
    closeRecord(world.bus("p1"), "r1");
    assert.equal(world.bus("p1").results("r1").size, 0);
    assert.deepEqual(await run(world, [append("a")], { text: "", writes: 0 }), { kind: "done" });
  }));

it("does not count a call that the end of the dispatcher broke off, however often (L7)", () =>
  inTemporary(async (dir) => {
    const file = { text: "plan\n", writes: 0 };
    const plan = { planId: "p1", worktree: "/w/p1" } as PlanSummary & { worktree: string };
    const broken = async (_given: unknown, ctx: BaseContext): Promise<void> => {
      const over = Promise.withResolvers<never>();
      ctx.signal.addEventListener("abort", () => over.reject(new Error("told to stop")));
      await over.promise;
    };
    for (let life = 1; life <= LIMITS.maxAttempts + 1; life += 1) {
      const world = openWorld(dir);
      const text = run(world, [design("slow", broken)], file);
      const options = { record: "a1", plan, plugins: [globalPlugin("slow", { afterActivate: broken })] };
      const activated = runActivateHooks(world.services, world.scope(), options);
      world.stop.abort();
      assert.deepEqual([await text, await activated], [{ kind: "stopped" }, { kind: "stopped" }]);
      assert.equal(world.bus("p1").nextRetryAt(), undefined);
    }
    const world = openWorld(dir);
    assert.deepEqual(await run(world, [append("slow")], file), { kind: "done" });
    assert.equal(file.text, "plan\nslow\n");
    assert.deepEqual([...world.bus("p1").deadLetters(), ...world.bus().deadLetters()], []);
  }));

it("calls onStartup of each plugin once, and stops the start by an error that names who threw", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const calls: string[] = [];
    const plugin = (name: string) =>
      globalPlugin(name, {
        async onStartup(ctx) {
          calls.push(`${name} ${ctx.hookPoint}`);
          ctx.setState("started", true);
        },
      });
    await runStartupHooks(world.services, world.scope(), { plugins: [plugin("a"), plugin("b")], record: "start-1" });
    assert.deepEqual(calls, ["a onStartup", "b onStartup"]);
    assert.deepEqual(world.stores.read({ kind: "global", plugin: "b" }), { started: true });
    const bad = globalPlugin("bad", { onStartup: () => Promise.reject(new Error("no database")) });
    const options = { plugins: [bad, plugin("c")], record: "start-2" };
    await assert.rejects(runStartupHooks(world.services, world.scope(), options), {
      code: "plugin-failed",
      message: 'onStartup of the plugin "bad" failed: no database',
      hint: /globalPlugins\.bad/,
    });
    assert.equal(calls.length, 2);
  }));

it("calls afterActivate with a summary of the plan, and goes on after a kill where it was", () =>
  inTemporary(async (dir) => {
    const plan: PlanSummary & { worktree: string } = {
      planId: "p1",
      title: "T",
      status: "active",
      hidden: false,
      location: "worktree",
      progress: { total: 1, completed: 0 },
      createdAt: "",
      updatedAt: "",
      paused: false,
      worktree: "/w/p1",
    };
    const calls: string[] = [];
    let broken = true;
    const plugins = [
      globalPlugin("a", {
        afterActivate(given) {
          calls.push(`a ${given.planId} ${given.worktree}`);
          (given as { planId: string }).planId = "changed";
        },
      }),
      globalPlugin("b", {
        afterActivate(given) {
          calls.push(`b ${given.planId}`);
          if (broken) throw new Error("no secrets");
        },
      }),
    ];
    const world = openWorld(dir);
    const activate = (into: World, record: string) =>
      runActivateHooks(into.services, into.scope("p1"), { plugins, record, plan });
    assert.deepEqual(await activate(world, "r1"), { kind: "failed", plugin: "b", reason: "no secrets" });
    assert.deepEqual(await activate(openWorld(dir), "r1"), { kind: "failed", plugin: "b", reason: "no secrets" });
    assert.deepEqual(calls, ["a p1 /w/p1", "b p1"]);
    broken = false;
    assert.deepEqual(await activate(openWorld(dir), "r2"), { kind: "done" });
    assert.equal(plan.planId, "p1");
  }));
