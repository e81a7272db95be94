import { createPlanIndex } from "../../../src/bus/plan-index.ts";
import type { PlanStore } from "../../../src/bus/ports.ts";

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
