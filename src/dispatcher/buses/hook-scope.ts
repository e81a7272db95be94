import type { HookScope } from "../../hooks/services.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "./buses.ts";

/** What hooks are told about where they are. */
export function hookScope(loom: Buses, record: PlanRecord): HookScope {
  const { id, worktree, worktreeReady, changeRequest } = record;
  return {
    bus: loom.bus(id),
    planId: id,
    plan: {
      ...(worktreeReady && worktree !== undefined ? { worktree } : {}),
      ...(changeRequest ? { changeRequestRef: changeRequest.ref } : {}),
    },
  };
}

/** The same on the global bus. */
export function hookScopeGlobal(loom: Buses): HookScope {
  return { bus: loom.globalBus() };
}
