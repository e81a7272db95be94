/** A small dispatcher over a directory: offers what is new, runs the text hooks of one round, and flushes. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { offerEvent } from "../../../src/hooks/offer-event.ts";
import { runTextHooks } from "../../../src/hooks/plan-hooks.ts";
import { routeAction } from "../../../src/hooks/route.ts";
import { writeFileAtomic } from "../../../src/kernel/files.ts";
import { event, globalPlugin, openWorld, planPlugin, type World } from "../fixture.ts";

const EVENTS = ["e1", "e2", "e3"];

async function offerAll(world: World, planId?: string): Promise<void> {
  const bus = world.bus(planId);
  bus.appendEvents(EVENTS.map((id) => event(id)));
  const count = {
    onEvent: (_given: unknown, ctx: { getState(key: string): unknown; setState(key: string, value: number): void }) =>
      ctx.setState("n", Number(ctx.getState("n") ?? 0) + 1),
  };
  const plugins = [
    planPlugin("counts", count),
    planPlugin("answers", {
      async onEvent(given, ctx) {
        await Promise.resolve();
        ctx.setGlobalState("n", Number(ctx.getGlobalState("n") ?? 0) + 1);
        ctx.reply(given.id);
      },
    }),
    globalPlugin("answers", {
      onGlobalEvent: (_given, ctx) => ctx.setState("n", Number(ctx.getState("n") ?? 0) + 1),
    }),
  ];
  for (const { event: given } of bus.newEvents(99)) {
    await offerEvent(world.services, world.scope(planId), { plugins, event: given, moveCursor: true });
    bus.sync();
    world.stores.flush({ sync: false });
  }
  // What a snapshot covers is never told again.
  world.stores.flush();
  bus.save();
}

async function routeAll(world: World): Promise<void> {
  const doubles = globalPlugin("doubles", {
    beforeRoute(action, ctx) {
      if (action.target.target === "human") return undefined;
      ctx.emitNotification({ priority: "info", title: action.id, message: "" });
      return { target: { target: "human" } };
    },
  });
  for (const { action } of world.bus("p1").freshActions(99, () => true)) {
    const decision = await routeAction(world.services, world.scope("p1"), { plugins: [doubles], action });
    console.log(action.payload.type, decision.kind, decision.kind === "deliver" ? decision.target.target : "");
  }
}

async function changeText(world: World, path: string): Promise<void> {
  const append = (name: string) =>
    planPlugin(name, { afterTodo: (text, ctx) => `${text}${name} ${ctx.todoCompleted}\n` });
  const outcome = await runTextHooks(world.services, world.scope("p1"), {
    point: "afterTodo",
    record: "round-1",
    plugins: [append("a"), append("b")],
    todo: "t",
    readText: () => (existsSync(path) ? readFileSync(path, "utf8") : "plan\n"),
    writeText: (text) => writeFileAtomic(path, text),
  });
  console.log(outcome.kind);
}

const [dir = ""] = process.argv.slice(2);
const world = openWorld(dir);
for (const planId of world.stores.pendingPlans()) world.bus(planId);
await offerAll(world);
await offerAll(world, "p1");
await offerAll(world, "p2");
await routeAll(world);
await changeText(world, join(dir, "plan.md"));
