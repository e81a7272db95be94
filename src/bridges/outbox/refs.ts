import { storeName } from "../../bus/names.ts";
import type { Settlement } from "../../bus/types.ts";
import { shortHash } from "../../kernel/ids.ts";
import type { BridgeServices } from "../services.ts";
import type { RoutedAction } from "./settle.ts";

/** Of each bus and bridge; beyond it the oldest are forgotten, and a comment with such a key is added and not edited. */
const MAX_REFS = 1000;
const PREFIX = "ref:";

interface Refs {
  readonly services: Pick<BridgeServices, "stores">;
  readonly scope: { readonly planId?: string };
  readonly bridge: string;
}

/** What a bridge called the last comment of the same emitter with the same key at the same address. */
export function refOf(refs: Refs, routed: RoutedAction): string | undefined {
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
