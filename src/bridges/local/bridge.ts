import type { Log } from "../../bus/ports.ts";
import type { MergeMethod, PluginAction } from "../../hooks/contexts/event-types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { isValidPlanId } from "../../plan/identity.ts";
import type { BuiltinBridge, DeliveryResult } from "../contract.ts";
import { deliverLocal, isInThread, LOCAL_TARGET, noteDeed, sayRefusal } from "./thread.ts";
import { type Authors, localTracker } from "./tracker.ts";

/** The outcome of a deed. `retryable`: the same call may work later, and nothing is said in the thread until then. */
export type DeedResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly retryable: boolean };

export interface LocalBridgeOptions {
  readonly log: Log;
  /** A thread is a folder of its plan: an address that names no plan must not make one. */
  readonly hasPlan: (planId: string) => boolean;
  /** Repeating a merge that is done must be `ok`: a kill may fall between the merge and its note in the thread. */
  readonly merge: (planId: string, method: MergeMethod, sha?: string) => Promise<DeedResult>;
  /** Likewise for a change request that is closed already. */
  readonly close: (planId: string) => Promise<DeedResult>;
  /** What people may do who comment here; all others may write. */
  readonly authors?: () => Authors;
}

/** The bridge to people who talk to a plan on this machine; a token is a plan's id. */
export function localBridge(options: LocalBridgeOptions): BuiltinBridge {
  const planOf = ({ target }: PluginAction): string | undefined => {
    const { token } = target;
    return token !== undefined && isValidPlanId(token) && options.hasPlan(token) ? token : undefined;
  };
  return {
    name: LOCAL_TARGET,
    targets: [LOCAL_TARGET],
    tracker: localTracker(options),
    async actions(_ctx, action): Promise<DeliveryResult> {
      const planId = planOf(action);
      if (planId === undefined) return refusal(noSuchPlan(action.target.token));
      const { payload } = action;
      if (payload.type === "merge") {
        return told(
          options,
          { planId, actionId: action.id, not: "Not merged" },
          await options.merge(planId, payload.method, payload.sha),
        );
      }
      if (payload.type === "close_pr") {
        return told(options, { planId, actionId: action.id, not: "Not closed" }, await options.close(planId));
      }
      const refused = deliverLocal(options.log, action);
      return refused === undefined ? { success: true } : refusal(refused);
    },
    delivered(_ctx, action): boolean {
      const planId = planOf(action);
      return planId !== undefined && isInThread(options.log, planId, action.id);
    },
  };
}

function noSuchPlan(token: string | undefined): string {
  if (token === undefined) return "the address has no plan (token)";
  return `there is no plan ${JSON.stringify(token.slice(0, 80))}`;
}

function refusal(error: string): DeliveryResult {
  return { success: false, error, retryable: false };
}

interface Deed {
  readonly planId: string;
  readonly actionId: string;
  /** What the thread says first when it was refused. */
  readonly not: string;
}

function told({ log }: LocalBridgeOptions, { planId, actionId, not }: Deed, result: DeedResult): DeliveryResult {
  crashPoint("local:acted");
  if (result.ok) {
    noteDeed(log, planId, actionId);
    return { success: true };
  }
  if (!result.retryable) sayRefusal(log, planId, { actionId, text: `${not}: ${result.reason}` });
  return { success: false, error: result.reason, retryable: result.retryable };
}
