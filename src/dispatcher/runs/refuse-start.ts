import type { PlanRecord } from "../../plan/record.ts";
import type { Stopping } from "../capabilities.ts";
import type { Records } from "../records.ts";

/** Thrown out of a step when the dispatcher stops in its middle: nothing is recorded, the next start does it again. */
export class StepInterrupted extends Error {
  override readonly name = "StepInterrupted";
}

/**
 * Throws when nothing may be started for a plan any more. To be asked right before the start, with no pause in between:
 * what runs by then is found and ended by what stops the dispatcher or deletes the plan.
 */
export function refuseStart(loom: Records & Stopping, record: PlanRecord): void {
  if (loom.stopping) throw new StepInterrupted("stopping");
  if (loom.store.get(record.uid)?.deleted) throw new StepInterrupted(`${record.id} was deleted`);
}
