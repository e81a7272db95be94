import type { RunExit } from "../../agents/port.ts";
import { HUMAN_TARGET } from "../../bridges/notify/bridge.ts";
import type { Bus } from "../../bus/bus.ts";
import type { Notification } from "../../hooks/contexts/event-types.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Buses } from "./buses.ts";

/** Notifies a person, once for each id. Without a channel in the config nothing is sent: the terminal shows the same in a line. */
export function notifyPerson({ config }: Configured, bus: Bus, id: string, notification: Notification): void {
  if (Object.keys(config.notify.channels).length === 0) return;
  const payload = { type: "notification", ...notification } as const;
  const action = { id, type: "respond", target: { target: HUMAN_TARGET }, payload } as const;
  bus.settle({
    record: id,
    handler: "notify-person",
    outcome: "handled",
    actions: [action],
    marks: { closed: true, about: "event" },
  });
}

/** An agent insisted on what it may not do, or worked without its rules: worth knowing, also where the next attempt succeeds. */
export function tellPolicyEnd(
  loom: Configured & Buses,
  { id, uid }: PlanRecord,
  run: number,
  exit: RunExit | undefined,
): void {
  if (exit?.reason !== "policy") return;
  notifyPerson(loom, loom.bus(id), `policy-${uid}-${run}`, {
    priority: "warning",
    title: `The policy ended run ${run} of ${id}`,
    message: `${exit.error ?? "No reason is known."}\n\`prloom logs ${id}\` shows the run.`,
  });
}
