import { actionId, DISPATCHER } from "../../bus/names.ts";
import type { Action } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanRecord, Rebase } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Waking } from "../capabilities.ts";

export type RebaseTelling = Buses & Waking;

/** Tells the people who asked for a rebase how it ended. Told again after a kill, it is the same: another one has another run before it. */
export function tellRebased(
  loom: RebaseTelling,
  { id, uid, runs }: PlanRecord,
  { asked = [], message }: { readonly asked: Rebase["asked"]; readonly message: string },
): void {
  if (asked.length === 0) return;
  const recordId = `rebased-${uid}-${runs}`;
  const actions = asked.map(
    (target, ordinal): Action => ({
      id: actionId({ scope: { planId: id }, recordId, handler: DISPATCHER, ordinal }),
      type: "respond",
      target,
      payload: { type: "comment", message },
    }),
  );
  const marks = { closed: true, about: "event" } as const;
  loom.bus(id).settle({ record: recordId, handler: DISPATCHER, outcome: "handled", actions, marks });
  crashPoint("rebase:told");
  loom.wakeBus(id);
}
