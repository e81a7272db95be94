import type { HookScope } from "../../hooks/services.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Loom } from "../loom.ts";

/** What hooks are told about where they are. */
export function hookScope(loom: Loom, record: PlanRecord): HookScope {
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
export function hookScopeGlobal(loom: Loom): HookScope {
  return { bus: loom.globalBus() };
}
