import type { Action, ReplyAddress } from "../../bus/types.ts";
import { unstopped, waitInWords } from "../wording.ts";
import { Fifo } from "./fifo.ts";
import type { OutboxOptions } from "./outbox.ts";
import { addressKey, type Item } from "./outbox-item.ts";
import { buryAction, isHeld, parkAction } from "./settle-action.ts";

/**
 * The actions of one outbox, and what is to be written about them. Everything that writes is a job; jobs are done in
 * order. A job first writes and then changes what is in memory, so one that failed can be done again.
 */
export class OutboxMemory {
  readonly options: OutboxOptions;
  readonly items = new Map<string, Item>();
  /** Those that the cursor cannot pass yet, oldest first. */
  readonly unparked = new Set<Item>();
  readonly jobs = new Fifo<() => void>();
  /** Asks for another turn of the loop. */
  readonly schedule: () => void;
  stopped = false;

  constructor(options: OutboxOptions, schedule: () => void) {
    this.options = options;
    this.schedule = schedule;
  }

  now(): number {
    return this.options.services.clock.now();
  }

  /** Takes up an action; undefined when it is here already. */
  take(action: Action, since: number | undefined): Item | undefined {
    if (this.items.has(action.id)) return undefined;
    const parked = since !== undefined;
    const item: Item = { action, parked, since, target: action.target, queue: undefined, origin: undefined };
    this.items.set(action.id, item);
    if (!parked) this.unparked.add(item);
    return item;
  }

  forget(item: Item): void {
    this.items.delete(item.action.id);
    this.unparked.delete(item);
  }

  /** Has it put off, once: later reasons to wait are not written. */
  park(item: Item, reason: string, until: number | undefined): void {
    if (item.parked) return;
    this.jobs.push(() => {
      if (item.parked || !this.items.has(item.action.id)) return;
      parkAction(this.options.bus, item.action.id, { reason, until });
      this.isParked(item);
    });
  }

  /** Somebody put it off. */
  isParked(item: Item): void {
    item.parked = true;
    item.since ??= this.now();
    this.unparked.delete(item);
  }

  /** The answers of hooks end their waits: without a wait of our own, a kill after them would lose the action. */
  hold(item: Item, until: number | undefined): void {
    const { bus } = this.options;
    const { id } = item.action;
    if (!isHeld(bus, id)) parkAction(bus, id, { reason: "waits for beforeRoute", until });
    this.isParked(item);
  }

  bury(item: Item, handler: string, reason: string): void {
    buryAction(this.options.bus, item.action.id, { handler, reason });
    this.tellDead(item, handler, reason);
  }

  tellDead(item: Item, handler: string, reason: string): void {
    this.tell("bad", `${handler} gave up on ${nameOf(item)}: ${unstopped(reason)} (prloom retry ${item.action.id})`);
  }

  /** `until`: when it is tried again; undefined: at the next start. */
  tellWaits(item: Item, handler: string, { reason, until }: { reason: string; until: number | undefined }): void {
    const next =
      until === undefined ? "tried again at the next start" : `next try in ${waitInWords(until - this.now())}`;
    this.tell("warn", `${handler}: ${nameOf(item)} waits: ${unstopped(reason)}; ${next}`);
  }

  tell(level: "info" | "warn" | "bad", text: string): void {
    const { services, scope } = this.options;
    services.report({ ...scope, level, text });
  }

  /** What a target that nobody delivers to is told. */
  noBridge(target: string): string {
    const known = this.options.targets?.() ?? [];
    const list = known.length === 0 ? "" : `; configured targets: ${known.join(", ")}`;
    return `no bridge has the target ${target}${list}`;
  }

  /** The name of an address: order is kept among the actions that have the same. */
  keyOf(action: Action, target: ReplyAddress): string {
    return JSON.stringify([target.target, (this.options.addressKey ?? addressKey)(action, target)]);
  }
}

const MOST_OF_TOKEN = 60;

/** What it is and where it goes, for people. */
function nameOf({ action, target }: Item): string {
  const { token = "" } = target;
  const shown = token.length > MOST_OF_TOKEN ? `${token.slice(0, MOST_OF_TOKEN)}…` : token;
  return `${action.payload.type} to ${target.target}${shown === "" ? "" : `/${shown}`}`;
}
