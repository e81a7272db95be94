import * as z from "zod";
import { handlerName, storeName } from "../../bus/names.ts";
import type { Scope, Settlement } from "../../bus/types.ts";
import { shortHash } from "../../kernel/ids.ts";
import { callBridge } from "../call-bridge.ts";
import type { Reach } from "../circuit.ts";
import type { BridgeContext, DeliveryResult, OutgoingAction } from "../contract.ts";
import type { LoadedBridge } from "../load.ts";
import type { BridgeServices } from "../services.ts";
import type { Delivery, RoutedAction } from "./settle.ts";

/** What a built-in bridge may return besides: not now, which is not a failure. */
export type InternalDelivery = DeliveryResult | { readonly later: { readonly reason: string; readonly until: number } };

export interface DeliverOptions extends RoutedAction {
  readonly loaded: LoadedBridge;
  readonly scope: Scope;
  /** An earlier call may have arrived. */
  readonly uncertain: boolean;
}

/** The name of a bridge as a handler of actions. */
export function deliveryHandler(bridge: string): string {
  return handlerName({ kind: "deliver", bridge });
}

/** How long what was sent may be there unseen. Without `delivered` it is not looked for, so there is no point in waiting. */
export function shownAfterMs({ bridge }: LoadedBridge): number {
  return bridge.delivered ? (bridge.shownAfterMs ?? 0) : 0;
}

/** Delivers one action: looks for it first where an earlier call may have arrived. Never rejects. */
export async function deliver(services: BridgeServices, options: DeliverOptions): Promise<Delivery> {
  const { loaded, scope, uncertain } = options;
  const { bridge, name } = loaded;
  const ref = refOf({ services, scope, bridge: name }, options);
  const call = (make: (ctx: BridgeContext) => unknown) =>
    callBridge(services, { loaded, planId: scope.planId, label: deliveryHandler(name), call: make });
  if (uncertain && bridge.delivered) {
    const asked = await call((ctx) => bridge.delivered?.(ctx, forBridge(options, ref)));
    if (asked.kind !== "returned") {
      return {
        kind: asked.kind === "stopped" ? "stopped" : "unknown",
        reason: `looking for it failed: ${asked.error}`,
      };
    }
    const found = foundSchema.safeParse(asked.value).data;
    if (found === undefined) return { kind: "unknown", reason: "`delivered` returned neither true, { ref } nor false" };
    if (found !== false) return { kind: "delivered", foundAgain: true, ref: found === true ? undefined : found.ref };
  }
  const called = await call((ctx) => bridge.actions?.(ctx, forBridge(options, ref)));
  if (called.kind !== "returned") return { kind: called.kind, reason: called.error };
  return judgeDelivery(called.value, loaded.kind === "builtin");
}

/** A copy for each call: what a bridge does to it has no effect. */
function forBridge({ action, target, loaded }: DeliverOptions, ref: string | undefined): OutgoingAction {
  const edited = ref === undefined ? {} : { ref };
  // prloom-core asks hooks, and they need to know on whose behalf.
  if (loaded.kind === "builtin") return structuredClone({ ...action, target, ...edited }) as OutgoingAction;
  const { id, type, payload, relatedEventId } = action;
  const answered = relatedEventId === undefined ? {} : { relatedEventId };
  return structuredClone({ id, type, target, payload, ...answered, ...edited }) as OutgoingAction;
}

const MAX_REASON = 2000;
const MAX_REF = 1000;
const refSchema = z.string().min(1).max(MAX_REF);
const successSchema = z.looseObject({ success: z.literal(true), ref: refSchema.optional().catch(undefined) });
const foundSchema = z.union([z.boolean(), z.looseObject({ ref: refSchema })]);
const failureSchema = z.looseObject({
  success: z.literal(false),
  error: z.string(),
  retryable: z.boolean(),
  // A header that was not there is NaN, and a time that has passed is negative: all the same the outside was not reached.
  retryAfterMs: z.number().min(0).optional().catch(undefined),
  arrived: z.literal(false).optional().catch(undefined),
});
const laterSchema = z.strictObject({ later: z.strictObject({ reason: z.string(), until: z.number() }) });

/** What a returned value says; anything else counts as a throw. */
function judgeDelivery(value: unknown, isBuiltin: boolean): Delivery {
  const success = successSchema.safeParse(value);
  if (success.success) return { kind: "delivered", foundAgain: false, ref: success.data.ref };
  const failure = failureSchema.safeParse(value);
  if (failure.success) {
    const reason = failure.data.error.slice(0, MAX_REASON) || "it gave no reason";
    if (!failure.data.retryable) return { kind: "refused", reason };
    const { retryAfterMs, arrived } = failure.data;
    return { kind: "transport", reason, retryAfterMs, ...(arrived === false ? { arrived } : {}) };
  }
  const later = isBuiltin ? laterSchema.safeParse(value) : undefined;
  if (later?.success) return { kind: "later", ...later.data.later };
  return { kind: "threw", reason: "it returned neither { success: true } nor { success: false, error, retryable }" };
}

/** What a delivery tells about the outside of its bridge. */
export function reachOf(delivery: Delivery): Reach {
  if (delivery.kind === "transport") return { retryAfterMs: delivery.retryAfterMs };
  const isThere = delivery.kind === "delivered" || delivery.kind === "refused" || delivery.kind === "later";
  return isThere ? "there" : "nothing";
}

/** Of each bus and bridge; beyond it the oldest are forgotten, and a comment with such a key is added and not edited. */
const MAX_REFS = 1000;
const PREFIX = "ref:";

interface Refs {
  readonly services: Pick<BridgeServices, "stores">;
  readonly scope: Scope;
  readonly bridge: string;
}

/** What the outside calls the last comment of the same emitter with the same key at the same address. */
function refOf(refs: Refs, routed: RoutedAction): string | undefined {
  const key = refKey(routed);
  const ref = key === undefined ? undefined : valuesOf(refs)[key];
  return typeof ref === "string" ? ref : undefined;
}

/** What the settlement of a delivery says about its ref: kept for comments with a key, beside the bridge's cursor. */
export function withRef(refs: Refs, routed: RoutedAction, ref: string): Pick<Settlement, "result" | "state"> {
  const key = refKey(routed);
  if (key === undefined) return { result: { ref } };
  const values = valuesOf(refs);
  const known = Object.keys(values).filter((one) => one.startsWith(PREFIX) && one !== key);
  const oldest = known.slice(0, Math.max(0, known.length + 1 - MAX_REFS));
  const patch = Object.fromEntries(oldest.map((one) => [one, {}]));
  return {
    result: { ref },
    state: { [storeName({ kind: "bridge", name: refs.bridge })]: { ...patch, [key]: { value: ref } } },
  };
}

function refKey({ action: { payload, emitter = "" }, target }: RoutedAction): string | undefined {
  if (payload.type !== "comment" || payload.key === undefined) return undefined;
  return `${PREFIX}${shortHash(JSON.stringify([target.target, target.token ?? "", emitter, payload.key]), 16)}`;
}

function valuesOf({ services, scope, bridge }: Refs): ReturnType<BridgeServices["stores"]["read"]> {
  return services.stores.read({ kind: "bridge", name: bridge, ...scope });
}
