import { type BusEvent, scopeOf } from "../../bus/types.ts";
import type { Deadline } from "../calls/deadline.ts";
import { type CallLife, misuse } from "../calls/misuse.ts";
import type { HookScope, HookServices } from "../services.ts";
import { checkAgentOptions } from "./agent-options.ts";
import type {
  ActivateContext,
  AgentOptions,
  BaseContext,
  Emitters,
  EventContext,
  EventMarks,
  EventReader,
  EventReplies,
  GlobalEventContext,
  GlobalPlans,
  PlanQuery,
  PluginLog,
  PluginMemory,
  RouteContext,
  StartupContext,
  TextContext,
  TextHookPoint,
  UpsertContext,
} from "./context-types.ts";
import { type Emit, emittersOf } from "./emitters.ts";
import type { PluginEvent } from "./event-types.ts";
import type { HookPoint } from "./hook-types.ts";

/** What the context of one call is made of. */
export interface CallTools {
  readonly services: HookServices;
  readonly scope: HookScope;
  readonly plugin: string;
  readonly point: HookPoint;
  readonly life: CallLife;
  readonly deadline: Deadline;
  readonly emit: Emit;
  readonly memory: PluginMemory;
}

/** What the hook of an event may do with it. */
export type EventMembers = EventMarks & EventReplies;

/** The context of `onStartup`. */
export function startupContext(tools: CallTools): StartupContext {
  return { ...base(tools), hookPoint: "onStartup", ...globalPlans(tools) };
}

/** The context of `afterActivate`. */
export function activateContext(tools: CallTools): ActivateContext {
  return { ...base(tools), hookPoint: "afterActivate", ...globalPlans(tools) };
}

/** The context of `onGlobalEvent`. */
export function globalEventContext(tools: CallTools, members: EventMembers): GlobalEventContext {
  return { ...base(tools), hookPoint: "onGlobalEvent", ...globalPlans(tools), ...members, ...eventReader(tools) };
}

/** The context of `beforeRoute`. */
export function routeContext(tools: CallTools, markActionHandled: (id?: string) => void): RouteContext {
  const from = scopeOf(tools.scope.planId);
  return { ...base(tools), hookPoint: "beforeRoute", ...globalPlans(tools), from, markActionHandled };
}

/** The context of `beforeUpsert`. */
export function upsertContext(tools: CallTools): UpsertContext {
  return { ...base(tools), hookPoint: "beforeUpsert", ...globalPlans(tools), from: scopeOf(tools.scope.planId) };
}

/** The context of `onEvent`. */
export function eventContext(tools: CallTools, planId: string, members: EventMembers): EventContext {
  return { ...base(tools), hookPoint: "onEvent", ...planMembers(tools, planId), ...members };
}

/** The context of a hook that takes the plan's text; `todo` is the one that it is about. */
export function textContext(
  tools: CallTools,
  planId: string,
  { point, todo }: { point: TextHookPoint; todo: string | undefined },
): TextContext {
  const about = point === "beforeTodo" ? { todo } : point === "afterTodo" ? { todoCompleted: todo } : {};
  return { ...base(tools), hookPoint: point, ...planMembers(tools, planId), ...about } as TextContext;
}

function base(tools: CallTools): BaseContext & Emitters & PluginMemory {
  const { services, deadline, emit, memory } = tools;
  return { repoRoot: services.repoRoot, signal: deadline.signal, log: logOf(tools), ...emittersOf(emit), ...memory };
}

/** Lines in the log, marked with the plugin. */
export function logOf({ services, scope, plugin }: CallTools): PluginLog {
  const say = (level: "info" | "warn" | "bad") => (text: string) =>
    services.report({ ...scopeOf(scope.planId), level, text: `${plugin}: ${String(text)}` });
  return { info: say("info"), warn: say("warn"), error: say("bad") };
}

function globalPlans({ services, life, point }: CallTools): GlobalPlans {
  return {
    async readPlan(planId) {
      life.require("readPlan");
      return services.readPlan(checkPlanId(point, planId));
    },
    async listPlans(filter = {}) {
      life.require("listPlans");
      return services.listPlans(checkQuery(filter));
    },
  };
}

function planMembers(tools: CallTools, planId: string) {
  const { services, scope, life, deadline, point } = tools;
  return {
    planId,
    worktree: scope.plan?.worktree,
    changeRequestRef: scope.plan?.changeRequestRef,
    ...eventReader(tools),
    async readPlan(other?: string) {
      life.require("readPlan");
      return services.readPlan(other === undefined ? planId : checkPlanId(point, other));
    },
    async runAgent(prompt: string, options: AgentOptions = {}) {
      life.require("runAgent");
      if (typeof prompt !== "string" || prompt.trim() === "") {
        throw misuse(
          "runAgent: the prompt is missing.",
          "It takes a string: runAgent(prompt, {stage, model, files, timeoutMs}).",
        );
      }
      const checked = checkAgentOptions(options);
      // An agent has its own limits; the hook's time is for what the hook does itself.
      return deadline.exempt(() => services.runAgent(planId, prompt, { ...checked, signal: deadline.signal }));
    },
  };
}

function checkPlanId(point: HookPoint, planId: unknown): string {
  if (typeof planId === "string" && planId !== "") return planId;
  throw misuse(
    `readPlan(planId): planId is missing in ${point}.`,
    "Pass the id of the plan, for example event.context.planId.",
  );
}

function checkQuery(filter: unknown): PlanQuery {
  if (typeof filter === "object" && filter !== null && !Array.isArray(filter)) return structuredClone(filter);
  throw misuse(
    "listPlans(filter): the filter must be an object.",
    "It takes {status, hidden, source, location}, each optional.",
  );
}

function eventReader({ scope, life }: CallTools): EventReader {
  return {
    async readEvents(options = {}) {
      life.require("readEvents");
      const { types, sinceId, limit } = options;
      const { events, lastId } = scope.bus.readEvents({
        ...(types === undefined ? {} : { types: checkTypes(types) }),
        ...(sinceId === undefined ? {} : { sinceId: String(sinceId) }),
        ...(limit === undefined ? {} : { limit: checkLimit(limit) }),
      });
      return { events: events.map(pluginEvent), ...(lastId === undefined ? {} : { lastId }) };
    },
  };
}

function checkTypes(types: unknown): readonly string[] {
  if (Array.isArray(types) && types.every((type) => typeof type === "string")) return types;
  throw misuse("readEvents: types must be a list of strings.", 'Write types: ["comment"].');
}

function checkLimit(limit: unknown): number {
  if (typeof limit === "number" && Number.isInteger(limit) && limit >= 1) return limit;
  throw misuse("readEvents: limit must be a whole number of 1 or more.", "Write limit: 100, or leave it out.");
}

/** An event as a hook gets it: its own copy. */
export function pluginEvent(event: BusEvent): PluginEvent {
  return structuredClone(event) as PluginEvent;
}
