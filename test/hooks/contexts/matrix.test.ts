import assert from "node:assert/strict";
import { it } from "node:test";
import {
  GLOBAL_HOOK_POINTS,
  type HookPoint,
  type Hooks,
  PLAN_HOOK_POINTS,
} from "../../../src/hooks/contexts/hook-types.ts";
import { offerEvent } from "../../../src/hooks/offer-event.ts";
import { runActivateHooks, runStartupHooks, runTextHooks } from "../../../src/hooks/plan-hooks.ts";
import { checkUpsert, routeAction } from "../../../src/hooks/route.ts";
import { comment, event, globalPlugin, inTemporary, openWorld, planPlugin, type World } from "../fixture.ts";
import { CONTEXT_MEMBERS, renderMatrix } from "./matrix.ts";

/** Calls each hook as the dispatcher does and keeps the context that it got. */
async function contexts(world: World): Promise<Map<HookPoint, object>> {
  const found = new Map<HookPoint, object>();
  const keep = (...args: unknown[]): unknown => {
    const ctx = args.at(-1) as { hookPoint: HookPoint };
    found.set(ctx.hookPoint, ctx);
    return ctx.hookPoint === "beforeUpsert" ? { proceed: true } : undefined;
  };
  const all = (points: readonly HookPoint[]): Hooks => Object.fromEntries(points.map((point) => [point, keep]));
  const plugins = [globalPlugin("g", all(GLOBAL_HOOK_POINTS))];
  const planPlugins = [planPlugin("p", all(PLAN_HOOK_POINTS))];
  const { services } = world;
  await runStartupHooks(services, world.scope(), { plugins, record: "start" });
  await offerEvent(services, world.scope(), { plugins, event: event("g"), moveCursor: true });
  await routeAction(services, world.scope(), { plugins, action: comment("c") });
  await checkUpsert(services, world.scope(), { plugins, action: comment("u") });
  await runActivateHooks(services, world.scope("p1"), { plugins, record: "activate", plan: {} as never });
  await offerEvent(services, world.scope("p1"), { plugins: planPlugins, event: event("e"), moveCursor: true });
  for (const point of PLAN_HOOK_POINTS) {
    if (point === "onEvent") continue;
    const text = { readText: () => "", writeText: () => undefined, todo: "t" };
    await runTextHooks(services, world.scope("p1"), { point, record: point, plugins: planPlugins, ...text });
  }
  return found;
}

it("says of every hook which members its context has", () =>
  inTemporary(async (dir) => {
    const found = await contexts(openWorld(dir));
    const points: readonly HookPoint[] = [...GLOBAL_HOOK_POINTS, ...PLAN_HOOK_POINTS];
    assert.equal(found.size, points.length);
    const members = new Set(points.flatMap((point): readonly string[] => CONTEXT_MEMBERS[point]));
    for (const point of points) {
      const context = found.get(point) ?? {};
      const listed: readonly string[] = CONTEXT_MEMBERS[point];
      for (const member of members) assert.equal(member in context, listed.includes(member), `${point}: ${member}`);
      assert.deepEqual(Object.keys(context).sort(), [...listed].sort());
    }
  }));

it("renders the table for the documentation", () => {
  const lines = renderMatrix().split("\n");
  assert.match(lines[0] ?? "", /^\| {2}\| onStartup \| onGlobalEvent \| /);
  assert.ok(lines.every((line) => line.split("|").length === lines[0]?.split("|").length));
  const listPlans = lines.find((line) => line.startsWith("| `listPlans`"))?.split("|") ?? [];
  assert.deepEqual(
    listPlans.slice(2, -1).map((cell) => cell.trim()),
    ["✓", "✓", "✓", "✓", "✓", "", "", "", "", "", ""],
  );
});
