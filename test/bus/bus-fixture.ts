import { join } from "node:path";
import { describe } from "node:test";
import { type Bus, openBus } from "../../src/bus/bus.ts";
import type { BusState } from "../../src/bus/bus-state.ts";
import { createFileLog } from "../../src/bus/file/log.ts";
import { createLedger } from "../../src/bus/ledger/ledger.ts";
import type { BusOptions } from "../../src/bus/parts.ts";
import type { Envelope, Log, LogAddress, LogName } from "../../src/bus/ports.ts";
import type { Action, BusEvent, Scope } from "../../src/bus/types.ts";
import { manualClock } from "../testing/contracts/bus-contract.ts";
import { createMemoryLog } from "../testing/memory/log.ts";
import { inTemporary } from "./temporary.ts";

export const LIMITS = { maxAttempts: 3, retryMinMs: 1000, retryMaxMs: 300_000 };
export const event = (id: string): BusEvent => ({
  id,
  source: "test",
  type: "note",
  severity: "info",
  title: id,
  body: "",
});
export const action = (id: string): Action => ({
  id,
  type: "respond",
  target: { target: "local" },
  payload: { type: "comment", message: id },
});
export const done = { moveCursor: true };
export const eventIds = (bus: Bus, limit = 99): string =>
  bus
    .newEvents(limit)
    .map((one) => one.event.id)
    .join();
export const emit = (bus: Bus, ...ids: string[]): void =>
  void bus.settle({ record: `for-${ids.join()}`, handler: "h", outcome: "handled", actions: ids.map(action) });
export const fresh = (bus: Bus, isWanted = (_id: string) => true, limit = 99): string =>
  bus
    .freshActions(limit, isWanted)
    .map((one) => one.action.id)
    .join();
export const events = (count: number): BusEvent[] => Array.from({ length: count }, (_, n) => event(`e${n}`));

/** The state after one more record of the settled log. */
export function foldSettlement(state: BusState, record: Envelope): BusState {
  const ledger = createLedger(state);
  ledger.apply(record, state.settledOffset);
  return ledger.snapshot();
}

export interface Bench {
  readonly clock: ReturnType<typeof manualClock>;
  readonly log: Log;
  readonly address: (log: LogName) => LogAddress;
  open(more?: Partial<BusOptions>): Bus;
}

type UseBench = (test: (bench: Bench) => void) => Promise<void>;

async function inMemory(scope: Scope, test: (bench: Bench) => void): Promise<void> {
  const clock = manualClock();
  const log = createMemoryLog({ clock });
  const open = (more?: Partial<BusOptions>): Bus =>
    openBus({ log, scope, stateFile: undefined, clock, limits: LIMITS, ...more });
  test({ clock, log, address: (name) => ({ scope, log: name }), open });
}

function onFiles(scope: Scope, saves: boolean, test: (bench: Bench) => void): Promise<void> {
  return inTemporary((dir) => {
    const clock = manualClock();
    const stateFile = join(dir, "state", "dispatcher.json");
    const newLog = () => createFileLog({ root: () => dir, clock, fsync: false, segmentBytes: 600 });
    let last: Bus | undefined;
    const open = (more?: Partial<BusOptions>): Bus => {
      if (saves) last?.save();
      last = openBus({ log: newLog(), scope, stateFile, clock, limits: LIMITS, ...more });
      return last;
    };
    test({ clock, log: newLog(), address: (name) => ({ scope, log: name }), open });
  });
}

/** Declares the same tests for every engine and for both scopes. */
export function onEveryBus(what: string, behaviours: (bench: UseBench) => void): void {
  for (const scope of [{}, { planId: "p" }] as const) {
    const whose = "plan" in scope ? "a plan" : "the repository";
    const name = (engine: string): string => `${what}: the bus of ${whose} over ${engine}`;
    describe(name("memory"), () => behaviours((test) => inMemory(scope, test)));
    describe(name("files, saved before each opening"), () => behaviours((test) => onFiles(scope, true, test)));
    describe(name("files, without snapshots"), () => behaviours((test) => onFiles(scope, false, test)));
  }
}
