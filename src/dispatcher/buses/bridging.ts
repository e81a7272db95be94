import type { Circuits } from "../../bridges/circuit.ts";
import type { BridgeHealth } from "./health.ts";

/** What one poll brought, for `prloom poll`. */
export interface PollReport {
  readonly bridge: string;
  readonly planId?: string;
  readonly events: number;
  readonly actions: number;
  readonly refused: readonly string[];
  readonly failed?: string;
}

/** How the bridges are doing, and what waits for them. */
export interface Bridging {
  readonly circuits: Circuits;
  readonly health: BridgeHealth;
  /** Upserts (action ids) that wait until a plan is between two runs. */
  readonly upsertsWaiting: Map<string, Set<string>>;
  /** Polls bridges now; undefined without a dispatcher, which alone can. */
  poll(bridge: string | undefined): Promise<PollReport[]> | undefined;
}
