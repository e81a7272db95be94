import type { Bus } from "../../bus/bus.ts";
import type { Action, BusEvent } from "../../bus/types.ts";
import { describeThrown } from "../../hooks/calls/thrown.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { copyJson } from "../../kernel/json.ts";
import type { BridgeScope, BridgeServices } from "../services.ts";
import { withoutClashingActions, withoutClashingEvents } from "./clashes.ts";
import type { JudgedPoll, RefusedItem } from "./judge-poll.ts";

export interface AppendedPoll {
  /** Events that were not known before. */
  readonly events: number;
  readonly actions: readonly Action[];
  readonly refused: readonly RefusedItem[];
}

type GoodPoll = Pick<JudgedPoll & { kind: "good" }, "events" | "forPlans" | "actions" | "refused">;

/** Puts the events of a poll on their buses, each once, and returns which actions and refusals are left to settle. */
export function appendEvents(
  services: BridgeServices,
  scope: BridgeScope,
  { bridge, ...judged }: GoodPoll & { readonly bridge: string },
): AppendedPoll {
  let { actions, refused }: Pick<AppendedPoll, "actions" | "refused"> = judged;
  let count = 0;
  const append = (bus: Bus, events: readonly BusEvent[]): number => {
    const appended = bus.appendEvents(events);
    ({ actions, refused } = withoutClashingEvents(bus, { bridge, appended, actions, events, refused }));
    return appended.appended.length;
  };
  for (const [planId, events] of judged.forPlans) {
    try {
      const news = append(services.planBus(planId), events);
      crashPoint("poll:plan-events-appended");
      if (news > 0) services.wakePlan(planId);
      count += news;
    } catch (error) {
      // The bus of one plan must not keep the bridge from all others.
      const reason = `the bus of plan ${planId} cannot be written: ${describeThrown(error)}`;
      const items = events.map((event) => copyJson({ ...event, plan: planId }, "event"));
      refused = [...refused, ...items.map((item) => ({ of: "events" as const, reason, item }))];
    }
  }
  if (judged.events.length > 0) count += append(scope.bus, judged.events);
  return { events: count, ...withoutClashingActions(scope.bus, { actions, refused }) };
}
