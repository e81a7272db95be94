import type { Bus } from "../../src/bus/bus.ts";
import type { Action, BusEvent } from "../../src/bus/types.ts";

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
export const actionIds = (bus: Bus, limit = 99): string =>
  bus
    .dueActions(limit)
    .map((one) => one.action.id)
    .join();
