import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bus, openBus } from "../../src/bus/bus.ts";
import { createFileLog } from "../../src/bus/file/log.ts";
import { type Action, type BusEvent, scopeOf, type WrittenSettlement } from "../../src/bus/types.ts";
import type { EventContext, GlobalEventContext } from "../../src/hooks/contexts/context-types.ts";
import type { Hooks } from "../../src/hooks/contexts/hook-types.ts";
import type { LoadedPlugin } from "../../src/hooks/modules/load-plugins.ts";
import { offerEvent } from "../../src/hooks/offer-event.ts";
import type { HookReport, HookScope, HookServices } from "../../src/hooks/services.ts";
import { openStores, type StateRef, type StateStores } from "../../src/hooks/state/state-stores.ts";
import type { StateProblem } from "../../src/hooks/state/store-file.ts";

export const LIMITS = { maxAttempts: 3, retryMinMs: 1000, retryMaxMs: 300_000 };

/** Runs a test with a directory of its own that is removed afterwards. */
export async function inTemporary<T>(test: (dir: string) => T | Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), "prloom-hooks-"));
  try {
    return await test(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export const event = (id: string, more: Partial<BusEvent> = {}): BusEvent => ({
  id,
  source: "test",
  type: "comment",
  severity: "info",
  title: id,
  body: "",
  replyTo: { target: "local", token: "p1" },
  context: { author: { login: "ann", permission: "write" } },
  ...more,
});

export const comment = (id: string, more: Partial<Action> = {}): Action => ({
  id,
  type: "respond",
  target: { target: "github-pr", token: "7" },
  payload: { type: "comment", message: id },
  ...more,
});

/** Everything that hooks need, over real files. Opening it again over the same directory is what a kill leads to. */
export interface World {
  readonly clock: { time: number; now(): number };
  readonly stores: StateStores;
  readonly problems: StateProblem[];
  readonly reports: HookReport[];
  readonly services: HookServices;
  readonly labels: string[];
  readonly stop: AbortController;
  readonly agentCalls: { planId: string; prompt: string; options: object }[];
  bus(planId?: string): Bus;
  scope(planId?: string): HookScope;
  fileOf(ref: StateRef): string;
  settlements(planId?: string): WrittenSettlement[];
  actions(planId?: string): Action[];
}

export interface WorldOptions {
  readonly timeoutMs?: number;
  readonly runAgent?: HookServices["runAgent"];
}

export function openWorld(dir: string, options: WorldOptions = {}): World {
  const clock = { time: 1_000_000, now: () => clock.time };
  const busDir = (planId: string | undefined): string =>
    join(dir, planId === undefined ? "bus" : `plans/${planId}/bus`);
  const fileOf = (ref: StateRef): string => {
    if (ref.kind === "plan") return join(dir, "plans", ref.planId, "plugin-state", `${ref.plugin}.json`);
    if (ref.kind === "global") return join(dir, "plugin-state-global", `${ref.plugin}.json`);
    return join(busDir(ref.planId), "state", `bridge.${ref.name}.json`);
  };
  const problems: StateProblem[] = [];
  const stores = openStores({
    fileOf,
    pendingDir: join(dir, "pending"),
    onProblem: (problem) => problems.push(problem),
  });
  const log = createFileLog({ root: (scope) => busDir(scope.planId), clock });
  const buses = new Map<string | undefined, Bus>();
  const bus = (planId?: string): Bus => {
    const known = buses.get(planId);
    if (known) return known;
    const scope = scopeOf(planId);
    const stateFile = join(busDir(planId), "state", "dispatcher.json");
    const onWon = (settlement: WrittenSettlement, cursor: string): void => stores.apply(scope, settlement, cursor);
    const opened = openBus({ log, scope, stateFile, clock, limits: LIMITS, onWon });
    buses.set(planId, opened);
    return opened;
  };
  const reports: HookReport[] = [];
  const labels: string[] = [];
  const stop = new AbortController();
  const agentCalls: World["agentCalls"] = [];
  const services: HookServices = {
    repoRoot: dir,
    clock,
    stores,
    timeoutMs: () => options.timeoutMs ?? 60_000,
    stopSignal: stop.signal,
    readPlan: (planId) =>
      planId.startsWith("p") ? { content: `# ${planId}`, progress: { total: 5, completed: 2 } } : undefined,
    listPlans: () => [],
    async runAgent(planId, prompt, more) {
      agentCalls.push({ planId, prompt, options: more });
      return options.runAgent ? options.runAgent(planId, prompt, more) : `answer to ${prompt}`;
    },
    report: (report) => reports.push(report),
    entering: (label) => labels.push(label),
    left: (token) => labels.push(`left ${token}`),
  };
  const lines = (planId: string | undefined, name: string): unknown[] => {
    const path = join(busDir(planId), `${name}.jsonl`);
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    const records = text.split("\n").filter((line) => line !== "");
    return records
      .map((line) => JSON.parse(line))
      .filter(({ kind }) => kind !== "attempt")
      .map(({ data }) => data);
  };
  return {
    clock,
    stores,
    problems,
    reports,
    services,
    labels,
    stop,
    agentCalls,
    bus,
    fileOf,
    scope: (planId) => ({
      bus: bus(planId),
      ...(planId === undefined ? {} : { planId, plan: { worktree: `/w/${planId}`, changeRequestRef: "#7" } }),
    }),
    settlements: (planId) => lines(planId, "settled") as WrittenSettlement[],
    actions: (planId) => lines(planId, "actions") as Action[],
  };
}

export const planPlugin = (name: string, hooks: Hooks): LoadedPlugin => ({ name, kind: "plan", hooks });
export const globalPlugin = (name: string, hooks: Hooks): LoadedPlugin => ({ name, kind: "global", hooks });

/** A plugin of plans, called one, with this hook alone. */
export const onEvent = (hook: NonNullable<Hooks["onEvent"]>): LoadedPlugin => planPlugin("one", { onEvent: hook });

/** Puts an event on the bus of plan p1 and offers it to these plugins. */
export async function offer(world: World, plugins: readonly LoadedPlugin[], given: BusEvent = event("e1")) {
  world.bus("p1").appendEvents([given]);
  world.bus("p1").newEvents(99);
  return offerEvent(world.services, world.scope("p1"), { plugins, event: given, moveCursor: true });
}

/** The events that are still to be offered. */
export const newIds = (world: World, planId?: string): string[] =>
  world
    .bus(planId)
    .newEvents(99)
    .map((one) => one.event.id);

/** A promise that a test settles when it wants. */
export const gate = (): { promise: Promise<void>; open: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, open: resolve };
};

let count = 0;
const nextId = (): string => {
  count += 1;
  return `e${count}`;
};

/** Calls `onEvent` of a plugin called one with an event of the plan; gives what it waits for, if it threw. */
export async function inHook(
  world: World,
  planId: string,
  hook: (ctx: EventContext) => unknown,
  id = nextId(),
): Promise<string> {
  const given = event(id);
  world.bus(planId).appendEvents([given]);
  const plugins = [planPlugin("one", { onEvent: async (_event, ctx) => void (await hook(ctx)) })];
  await offerEvent(world.services, world.scope(planId), { plugins, event: given, moveCursor: true });
  return world.bus(planId).waitOf(given.id, "onEvent:one")?.reason ?? "";
}

/** The same with `onGlobalEvent`. */
export async function inGlobalHook(world: World, hook: (ctx: GlobalEventContext) => unknown): Promise<void> {
  const given = event(nextId());
  world.bus().appendEvents([given]);
  const plugins = [globalPlugin("one", { onGlobalEvent: async (_event, ctx) => void (await hook(ctx)) })];
  await offerEvent(world.services, world.scope(), { plugins, event: given, moveCursor: true });
}
