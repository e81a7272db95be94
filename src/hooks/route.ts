import { eventAuthor } from "../bus/event-author.ts";
import type { ReportedAuthor } from "../bus/message-types.ts";
import { type Action, payloadSchema, type ReplyAddress, replyAddressSchema } from "../bus/types.ts";
import { copyJson, type JsonValue } from "../kernel/json.ts";
import { asFields } from "../kernel/json-fields.ts";
import { callHook, type HookAnswer, type HookCall, hookHandler, waitUntil } from "./calls/call.ts";
import { misuse, showValue } from "./calls/misuse.ts";
import { routeContext, upsertContext } from "./contexts/context.ts";
import type { PluginAction, UpsertPayload } from "./contexts/event-types.ts";
import type { LoadedPlugin } from "./modules/load-plugins.ts";
import type { HookScope, HookServices } from "./services.ts";

/** Neither delivered nor refused: a hook threw, and is asked again at `until`, or gave up. */
export type Undecided =
  | { readonly kind: "waiting"; readonly until: number }
  | { readonly kind: "dead"; readonly by: string; readonly reason: string };

export type RouteDecision =
  | { readonly kind: "deliver"; readonly target: ReplyAddress }
  | { readonly kind: "handled"; readonly by: string }
  | Undecided;

export type UpsertDecision =
  | { readonly kind: "proceed"; readonly payload: UpsertPayload }
  | { readonly kind: "rejected"; readonly by: string; readonly reason: string }
  | Undecided;

export interface RouteOptions {
  /** In the order in which they are called. */
  readonly plugins: readonly LoadedPlugin[];
  readonly action: Action;
}

/**
 * Asks `beforeRoute` of each plugin where an action goes. A plugin that was asked before is not asked
 * again: its answer is in its settlement. Not synced; nothing is delivered before the caller has done that.
 */
export async function routeAction(
  services: HookServices,
  scope: HookScope,
  options: RouteOptions,
): Promise<RouteDecision> {
  const { action } = options;
  let target: ReplyAddress = action.target;
  for (const plugin of options.plugins.filter(({ hooks }) => hooks.beforeRoute !== undefined)) {
    const answer = await ask(services, scope, routeCall(plugin, { ...action, target }));
    if ("kind" in answer) return answer;
    const { handled, target: other } = asFields(answer.result);
    if (handled === true) return { kind: "handled", by: plugin.name };
    if (other !== undefined) target = replyAddressSchema.parse(other);
  }
  return { kind: "deliver", target };
}

function routeCall(plugin: LoadedPlugin, action: Action): HookCall {
  return {
    plugin,
    point: "beforeRoute",
    record: action.id,
    cause: { relatedEventId: action.relatedEventId, author: action.author, hops: (action.hops ?? 0) + 1 },
    sync: false,
    run(tools) {
      let handled = false;
      const markActionHandled = (id = action.id): void => {
        tools.life.require("markActionHandled");
        if (id !== action.id) {
          throw misuse(`markActionHandled: the action of this call is "${action.id}".`, "Leave the id out.");
        }
        handled = true;
      };
      return {
        invoke: () => plugin.hooks.beforeRoute?.(pluginAction(action), routeContext(tools, markActionHandled)),
        judge(returned): HookAnswer {
          const redirect = redirectIn(returned);
          if (handled) return { outcome: "handled", result: { handled: true } };
          return { outcome: "passed", ...(redirect ? { result: { target: redirect } } : {}) };
        },
      };
    },
  };
}

/** An action as a hook gets it: its own copy, without what only prloom needs to know. */
function pluginAction({ id, type, target, payload, relatedEventId }: Action): PluginAction {
  const related = relatedEventId === undefined ? {} : { relatedEventId };
  return structuredClone({ id, type, target, payload, ...related }) as PluginAction;
}

function redirectIn(returned: unknown): ReplyAddress | undefined {
  if (returned === undefined || returned === null) return undefined;
  const address = replyAddressSchema.safeParse(asFields(returned).target);
  if (address.success) return address.data;
  throw misuse(
    `beforeRoute returned ${typeof returned === "string" ? "the string " : ""}${showValue(returned)}, which is not an address.`,
    'Return nothing, or {target: {target: "local", token: "…"}} to send the action there instead.',
  );
}

export interface UpsertOptions {
  /** In the order in which they are called. */
  readonly plugins: readonly LoadedPlugin[];
  readonly action: Pick<PluginAction | Action, "id" | "payload"> & {
    readonly relatedEventId?: string | undefined;
    readonly author?: ReportedAuthor | undefined;
    readonly hops?: number | undefined;
  };
}

/**
 * Asks `beforeUpsert` of each plugin, each with what the one before made of the payload. A plugin that was asked before is not
 * asked again. Not synced.
 */
export async function checkUpsert(
  services: HookServices,
  scope: HookScope,
  options: UpsertOptions,
): Promise<UpsertDecision> {
  let payload = options.action.payload as UpsertPayload;
  for (const plugin of options.plugins.filter(({ hooks }) => hooks.beforeUpsert !== undefined)) {
    const answer = await ask(services, scope, upsertCall(scope, plugin, { ...options.action, payload }));
    if ("kind" in answer) return answer;
    const { rejected, payload: other } = asFields(answer.result);
    if (rejected !== undefined) return { kind: "rejected", by: plugin.name, reason: String(rejected) };
    if (other !== undefined) payload = upsertIn(other);
  }
  return { kind: "proceed", payload };
}

function upsertCall(scope: HookScope, plugin: LoadedPlugin, action: UpsertOptions["action"]): HookCall {
  const { relatedEventId, hops = 0 } = action;
  const found = relatedEventId === undefined ? undefined : scope.bus.findEvent(relatedEventId);
  return {
    plugin,
    point: "beforeUpsert",
    record: action.id,
    cause: { relatedEventId, author: action.author ?? (found && eventAuthor(found)), hops: hops + 1 },
    sync: false,
    run: (tools) => ({
      invoke: () => plugin.hooks.beforeUpsert?.(structuredClone(action.payload as UpsertPayload), upsertContext(tools)),
      judge: judgeUpsert,
    }),
  };
}

function judgeUpsert(returned: unknown): HookAnswer {
  const { proceed, reject, reason, payload } = asFields(returned);
  if (reject === true && proceed === undefined && typeof reason === "string") {
    return { outcome: "handled", reason, result: { rejected: reason } };
  }
  if (proceed !== true || reject !== undefined) {
    const hint = 'Return {proceed: true}, {proceed: true, payload: {…}} or {reject: true, reason: "…"}.';
    throw misuse("beforeUpsert returned no verdict.", hint);
  }
  if (payload === undefined) return { outcome: "passed" };
  return { outcome: "passed", result: { payload: copyJson(upsertIn(payload), "payload") } };
}

function upsertIn(given: unknown): UpsertPayload {
  const copied = copyJson(given, "beforeUpsert: payload");
  const result = payloadSchema.safeParse(copied);
  if (!result.success || result.data.type !== "upsert_plan") {
    const [issue] = result.error?.issues ?? [];
    const problem = issue ? `${issue.path.join(".") || "payload"}: ${issue.message}` : "its type is not upsert_plan";
    throw misuse(
      `beforeUpsert returned a payload that is not one: ${problem}.`,
      "Return {...payload, …} with your changes.",
    );
  }
  // Whether the source is complete is for prloom-core to say: it refuses, and a throw here would be tried again.
  return result.data as UpsertPayload;
}

/** The answer's result of a call now or earlier, or why there is none yet. */
async function ask(
  services: HookServices,
  scope: HookScope,
  call: HookCall,
): Promise<{ result: JsonValue | undefined } | Undecided> {
  const on = { record: call.record, handler: hookHandler(call.point, call.plugin.name) };
  const status = scope.bus.handlerStatus(on.record, on.handler);
  if (status === "settled") return { result: scope.bus.results(on.record).get(on.handler) };
  if (status === "waiting") return { kind: "waiting", until: waitUntil(services, scope, on) };
  if (status === "dead") return { kind: "dead", by: call.plugin.name, reason: "it is a dead letter" };
  const outcome = await callHook(services, scope, call);
  if (outcome.kind === "settled") return { result: outcome.answer.result };
  if (outcome.kind === "waiting") return outcome;
  if (outcome.kind === "stopped") return { kind: "waiting", until: services.clock.now() };
  return { kind: "dead", by: call.plugin.name, reason: outcome.reason };
}
