import type { BusEvent } from "../../bus/types.ts";
import type { EventContexts } from "../../hooks/contexts/event-types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { Blocked } from "../../plan/plan-types.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import { notifyPerson } from "../buses/notify-person.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";

/**
 * Tells on the global bus, and to a person, that a plan is blocked, once each time; returns how many events that took. The ids have the
 * time in them: what a kill cut off is told again under the same id, which the bus has already.
 */
export function tellBlocked(loom: Configured & Records & Buses, planId: string): number {
  const record = loom.store.byId(planId);
  if (!record?.blocked || record.deleted || record.toldBlocked === record.blocked.at) return 0;
  const event = blockedEvent(record, record.blocked);
  loom.globalBus().appendEvents([event]);
  // A person who blocked it knows.
  if (record.blocked.cause !== "person")
    notifyPerson(loom, loom.globalBus(), `${event.id}-notice`, {
      priority: "action",
      title: event.title,
      message: event.body,
    });
  crashPoint("blocked:told");
  // By itself and not by `updateRecord`: nothing about the plan changed.
  loom.store.put(record.uid, { ...record, toldBlocked: record.blocked.at }, record.revision);
  return 1;
}

function blockedEvent({ id: planId, uid, source }: PlanRecord, { at, reason, hint }: Blocked): BusEvent {
  const context: EventContexts["plan_blocked"] = {
    planId,
    ...(source ? { source } : {}),
    reason,
    ...(hint === undefined ? {} : { hint }),
  };
  return {
    id: `plan_blocked-${uid}-${at}`,
    source: "prloom",
    type: "plan_blocked",
    severity: "warning",
    title: `Plan ${planId} is blocked`,
    body: hint === undefined ? reason : `${reason}\n${hint}`,
    context: { ...context },
  };
}
