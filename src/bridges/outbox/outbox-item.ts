import type { Action, ReplyAddress } from "../../bus/types.ts";
import type { Fifo } from "./fifo.ts";

/** One action on its way out. */
export interface Item {
  readonly action: Action;
  /** Somebody put it off: the cursor may have passed it, and the bus has it among what waits. */
  parked: boolean;
  /** When it was first put off. */
  since: number | undefined;
  /** Where it goes; known after beforeRoute. */
  target: ReplyAddress;
  queue: Queue | undefined;
  origin: Origin | undefined;
}

/** The actions for one address, in the order of the log. Only the first is worked on. */
export interface Queue {
  readonly key: string;
  readonly bridge: string;
  readonly items: Fifo<Item>;
  /** ready: in the lane of its bridge; running: its first is being delivered; waiting: not before a time. */
  state: "ready" | "running" | "waiting";
}

/** Actions that cannot be routed before the first of them, which was written for the same address, is. */
export interface Origin {
  readonly key: string;
  readonly items: Fifo<Item>;
  until: number;
}

/** Something is put off, for this reason and until this time, if one is known. */
export type Park = (item: Item, reason: string, until: number | undefined) => void;

/** Which address it is: order holds among the actions for one. */
export function addressKey(action: Action, target: ReplyAddress): string {
  const { payload } = action;
  if (target.target !== "prloom-core" || payload.type !== "upsert_plan") return target.token ?? "";
  const { system, kind, id } = payload.source;
  return JSON.stringify([system, kind, id]);
}
