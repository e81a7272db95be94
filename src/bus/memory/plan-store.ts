import { createPlanIndex } from "../plan-index.ts";
import type { PlanStore } from "../ports.ts";

/** The in-memory twin of the file plan store. */
export function createMemoryPlanStore(): PlanStore {
  const index = createPlanIndex();
  const { get, byId, bySource, list } = index;
  return {
    get,
    byId,
    bySource,
    list,
    put: (uid, value, expectedRevision) => {
      const record = index.admit(uid, value, expectedRevision);
      index.set(record);
      return record;
    },
  };
}
