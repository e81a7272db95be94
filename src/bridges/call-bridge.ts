import { startDeadline } from "../hooks/calls/deadline.ts";
import { describeThrown } from "../hooks/calls/thrown.ts";
import { retryAfterOf } from "./circuit.ts";
import type { BridgeContext } from "./contract.ts";
import type { LoadedBridge } from "./load.ts";
import { type BridgeServices, bridgeContext } from "./services.ts";

/** How a call of a bridge ended. `stopped`: it failed after the dispatcher asked it to end. */
export type Called =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw" | "stopped"; readonly error: string; readonly retryAfterMs?: number };

export interface BridgeCall {
  readonly loaded: LoadedBridge;
  readonly planId: string | undefined;
  /** What the watchdog calls it: `poll:<bridge>`, `deliver:<bridge>`. */
  readonly label: string;
  call(ctx: BridgeContext): unknown;
}

/** Calls a bridge with a deadline. Never rejects; what comes after the deadline is ignored. */
export async function callBridge(
  services: BridgeServices,
  { loaded, planId, label, call }: BridgeCall,
): Promise<Called> {
  const { stopSignal } = services;
  if (stopSignal.aborted) return { kind: "stopped", error: "the dispatcher stops" };
  const deadline = startDeadline({ ms: loaded.timeoutMs ?? services.bridgeTimeoutMs(), stopSignal });
  try {
    const context = bridgeContext(services, { loaded, planId, signal: deadline.signal });
    return { kind: "returned", value: await deadline.wait(begin(services, label, () => call(context))) };
  } catch (error) {
    return { kind: stopSignal.aborted ? "stopped" : "threw", error: describeThrown(error), ...retryAfterOf(error) };
  } finally {
    deadline.end();
  }
}

async function begin(services: BridgeServices, label: string, call: () => unknown): Promise<unknown> {
  const token = services.entering(label);
  let value: unknown;
  try {
    value = call();
  } finally {
    services.left(token);
  }
  return value;
}
