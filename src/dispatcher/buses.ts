import { join } from "node:path";
import { type Bus, type BusLimits, openBus } from "../bus/bus.ts";
import type { Log } from "../bus/ports.ts";
import type { Scope } from "../bus/types.ts";
import type { StateStores } from "../hooks/plugin-state.ts";
import type { Clock } from "../kernel/clock.ts";
import { messageOf } from "../kernel/errors.ts";
import { homeOf, type Paths } from "./paths.ts";

export interface BusesOptions {
  readonly paths: Paths;
  readonly log: Log;
  readonly clock: Clock;
  readonly stores: StateStores;
  readonly readOnly: boolean;
  limits(): BusLimits;
}

/** The buses of a repository, opened when they are first asked for. */
export interface Buses {
  bus(planId: string): Bus;
  globalBus(): Bus;
  /** The plan comes to rest: what its bus has settled goes into the snapshot, so that a kill costs no long replay. */
  rest(planId: string): void;
  /** Saves all of them; one that cannot be saved is told, and keeps no other from it. */
  saveAll(onProblem: (planId: string | undefined, message: string) => void): void;
}

const GLOBAL = "";

export function openBuses(options: BusesOptions): Buses {
  const { paths, log, clock, stores, readOnly } = options;
  const buses = new Map<string, Bus>();
  const open = (scope: Scope, dir: string): Bus => {
    const known = buses.get(scope.plan ?? GLOBAL);
    if (known) return known;
    const bus = openBus({
      log,
      scope,
      stateFile: join(dir, "state", "dispatcher.json"),
      clock,
      limits: options.limits(),
      readOnly,
      onWon: (settlement, cursor) => stores.apply(scope, settlement, cursor),
    });
    buses.set(scope.plan ?? GLOBAL, bus);
    return bus;
  };
  return {
    bus: (planId) => open({ plan: planId }, homeOf(paths, planId).bus),
    globalBus: () => open({}, paths.bus),
    rest(planId) {
      const bus = buses.get(planId);
      if (!bus) return;
      // The snapshot says "what was settled before me is in the files": so they go first.
      stores.flush({ sync: true });
      bus.save();
    },
    saveAll(onProblem) {
      if (!readOnly) stores.flush({ sync: true });
      for (const [plan, bus] of buses) {
        try {
          bus.close();
        } catch (error) {
          // The snapshot only saves time, the journals have it all: what was done must not end as a failure.
          onProblem(plan === GLOBAL ? undefined : plan, messageOf(error));
        }
      }
    },
  };
}
