import { join } from "node:path";
import { type Bus, type BusLimits, openBus } from "../../bus/bus.ts";
import { busStateSchema, type DeadLetter } from "../../bus/bus-state.ts";
import { compareCursors } from "../../bus/cursor.ts";
import type { Log } from "../../bus/ports.ts";
import type { Scope } from "../../bus/types.ts";
import type { StateStores } from "../../hooks/state/state-stores.ts";
import type { Clock } from "../../kernel/clock.ts";
import { messageOf } from "../../kernel/errors.ts";
import { readTextIfExists } from "../../kernel/files.ts";
import { asFields, ownJsonIn } from "../../kernel/json-fields.ts";
import { homeOf, type Paths } from "../paths.ts";

export interface BusesOptions {
  readonly paths: Paths;
  readonly log: Log;
  readonly clock: Clock;
  readonly stores: StateStores;
  readonly readOnly: boolean;
  limits(): BusLimits;
  /** A snapshot could not be written; without a plan it is the global bus's. */
  onProblem(planId: string | undefined, message: string): void;
}

/** The buses of a repository, opened when they are first asked for. */
export interface Buses {
  readonly log: Log;
  bus(planId: string): Bus;
  globalBus(): Bus;
  /**
   * The plan comes to rest: what its bus has settled goes into the snapshot, so that a kill costs no long replay. A bus
   * that never rests is saved soon after something was settled on it.
   */
  rest(planId: string): void;
  /** Whether nothing waits on the bus of a plan, as its snapshot and the ends of its journals tell: it is not opened. */
  isAtRest(planId: string): boolean;
  /** The dead letters of a bus that is at rest, from its snapshot; undefined: it is not, or it is open already. */
  restingLetters(scope: Scope): DeadLetter[] | undefined;
}

export interface OpenBuses extends Buses {
  /** Saves all of them; one that cannot be saved is told, and keeps no other from it. */
  saveAll(): void;
}

const GLOBAL = "";
/** How long a snapshot may lack what was settled: for people who read the file, and for the replay after a kill. */
const SAVE_AFTER_MS = 2000;

/** What a snapshot has nothing in while nothing waits. */
const WAITING = ["deferredEventIds", "deferredActionIds", "attempts", "pendingTriage"] as const;
const LOGS = ["events", "actions", "settled"] as const;

function stateFile(paths: Paths, { planId }: Scope): string {
  return join(planId === undefined ? paths.bus : homeOf(paths, planId).bus, "state", "dispatcher.json");
}

/**
 * The dead letters of a bus on which nothing waits, as its snapshot and the ends of its journals tell. Checked by hand, because
 * `status` asks about each bus; a newer snapshot is for `openBus` to refuse by name.
 */
function lettersAtRest({ paths, log }: BusesOptions, scope: Scope): DeadLetter[] | undefined {
  const state = asFields(ownJsonIn(readTextIfExists(stateFile(paths, scope)) ?? ""));
  if (state.schemaVersion !== 1 || !WAITING.every((key) => isEmpty(state[key]))) return undefined;
  const isWholly = LOGS.every((name) => {
    const offset = state[`${name}Offset`];
    return typeof offset === "string" && compareCursors(log.end({ scope, log: name }), offset) === 0;
  });
  if (!isWholly) return undefined;
  const { count, letters } = asFields(state.dead);
  if (count === 0 && isEmpty(letters)) return [];
  const dead = busStateSchema.shape.dead.safeParse(state.dead).data;
  // One that was revived waits for a poll.
  return dead?.letters.some(({ revived }) => revived) ? undefined : dead?.letters;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

export function openBuses(options: BusesOptions): OpenBuses {
  const { paths, log, clock, stores, readOnly } = options;
  const buses = new Map<string, Bus>();
  const unsaved = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const save = (name: string): void => {
    unsaved.delete(name);
    // The snapshot says "what was settled before me is in the files": so they go first.
    stores.flush({ sync: true, ...(name === GLOBAL ? {} : { planId: name }) });
    buses.get(name)?.save();
  };
  const saveUnsaved = (): void => {
    timer = undefined;
    for (const name of unsaved) {
      try {
        save(name);
      } catch (error) {
        // It only saves time, the journals have it all.
        options.onProblem(name === GLOBAL ? undefined : name, messageOf(error));
      }
    }
  };
  /** The log of one bus, which notes that its snapshot is out of date. */
  const noting = (name: string): Log => ({
    ...log,
    append(address, records, more) {
      if (!readOnly && address.log === "settled") {
        unsaved.add(name);
        timer ??= setTimeout(saveUnsaved, SAVE_AFTER_MS).unref();
      }
      return log.append(address, records, more);
    },
  });
  const open = (scope: Scope): Bus => {
    const known = buses.get(scope.planId ?? GLOBAL);
    if (known) return known;
    const bus = openBus({
      log: noting(scope.planId ?? GLOBAL),
      scope,
      stateFile: stateFile(paths, scope),
      clock,
      limits: options.limits(),
      readOnly,
      onWon: (settlement, cursor) => stores.apply(scope, settlement, cursor),
    });
    buses.set(scope.planId ?? GLOBAL, bus);
    return bus;
  };
  return {
    log,
    bus: (planId) => open({ planId }),
    globalBus: () => open({}),
    rest(planId) {
      if (buses.has(planId)) save(planId);
    },
    isAtRest: (planId) => lettersAtRest(options, { planId }) !== undefined,
    restingLetters: (scope) => (buses.has(scope.planId ?? GLOBAL) ? undefined : lettersAtRest(options, scope)),
    saveAll() {
      clearTimeout(timer);
      for (const [plan, bus] of buses) {
        try {
          // What cannot be written must be told again by the bus: then its snapshot stays the old one, too.
          if (!readOnly) stores.flush({ sync: true, ...(plan === GLOBAL ? {} : { planId: plan }) });
          bus.close();
        } catch (error) {
          // The snapshot only saves time: what was done must not end as a failure.
          options.onProblem(plan === GLOBAL ? undefined : plan, messageOf(error));
        }
      }
    },
  };
}
