import { retryDelay } from "../../bus/limits.ts";
import { actionId, DISPATCHER } from "../../bus/names.ts";
import type { Action } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf } from "../../kernel/errors.ts";
import { Loop } from "../../kernel/loop.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import type { Naming } from "../capabilities.ts";
import { threadOf } from "../gates/posting.ts";
import { changeSeen } from "./change-seen.ts";
import { isToBeReleased, releaseClaim } from "./claims.ts";
import { notePublished, type PublishingAtWork } from "./note-published.ts";
import { publishNext } from "./publish.ts";
import { tellDone } from "./tell-done.ts";

export interface PublisherHooks {
  onQuiet(): void;
  stillOwner(): boolean;
}

/** A call that waits for an answer is not waited for longer than this when the dispatcher stops. */
const LAST_WORDS_MS = 5000;

/** Brings plans to the server beside their steps: each has a loop of its own, and no step waits for one. */
export class Publisher {
  readonly #loom: PublishingAtWork & Buses & Extended & Naming;
  readonly #hooks: PublisherHooks;
  readonly #plans = new Map<string, Loop>();
  /** Plans whose change request was looked at since the start: a person may have merged it meanwhile. */
  readonly #looked = new Set<string>();

  constructor(loom: PublishingAtWork & Buses & Extended & Naming, hooks: PublisherHooks) {
    this.#loom = loom;
    this.#hooks = hooks;
  }

  /** At a start: all that may be behind. */
  begin(): void {
    for (const record of this.#all()) {
      const { id, deleted, status, published, doneFor = [] } = record;
      const isGone = published?.sha === undefined || published.deleted;
      const isOver = deleted || (status === "done" && isGone && doneFor.length === 0);
      if (!isOver || isToBeReleased(this.#loom, record)) this.wake(id);
    }
  }

  /** There may be something to publish. */
  wake(planId: string): void {
    const { forge, stopping, store } = this.#loom;
    const hasWords = (): boolean => (store.byId(planId)?.doneFor?.length ?? 0) > 0;
    if (!stopping && (forge.name !== "local" || hasWords())) this.#loopOf(planId).wake();
  }

  /** Looks at the change request of a plan at the server. */
  refresh(planId: string): void {
    this.#looked.delete(planId);
    if (this.#loom.forge.name !== "local" && !this.#loom.stopping) this.#loopOf(planId).hurry();
  }

  idle(horizon: number): boolean {
    return [...this.#plans.values()].every((loop) => loop.idle(horizon));
  }

  async stop(): Promise<void> {
    for (const loop of this.#plans.values()) loop.stop();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, LAST_WORDS_MS);
    await Promise.race([late.promise, Promise.all([...this.#plans.values()].map((loop) => loop.settled()))]);
    clearTimeout(timer);
  }

  #all() {
    return this.#loom.store.list().records;
  }

  #loopOf(planId: string): Loop {
    const known = this.#plans.get(planId);
    if (known) return known;
    const { clock, config } = this.#loom;
    const loop = new Loop({
      clock,
      pass: () => this.#pass(planId),
      backoffMs: (failures) => retryDelay(failures, { minMs: config.bus.retryMinMs, maxMs: config.bus.retryMaxMs }),
      onFailure: (error) => this.#failed(planId, error),
      onIdle: () => this.#hooks.onQuiet(),
    });
    this.#plans.set(planId, loop);
    return loop;
  }

  async #pass(planId: string): Promise<number | undefined> {
    try {
      await this.#look(planId);
      while (!this.#loom.stopping && this.#hooks.stillOwner() && (await publishNext(this.#loom, planId)));
      await tellDone(this.#loom, planId);
      tellUnqueued(this.#loom, planId);
      await releaseClaim(this.#loom, planId);
    } catch (error) {
      const { retryAfterMs } = error as { retryAfterMs?: unknown };
      if (typeof retryAfterMs !== "number") throw error;
      this.#failed(planId, error);
      return this.#loom.clock.now() + retryAfterMs;
    }
    this.#tell(planId, undefined);
    return undefined;
  }

  async #look(planId: string): Promise<void> {
    const { forge, store } = this.#loom;
    const record = store.byId(planId);
    const change = record?.changeRequest;
    if (forge.name === "local" || this.#looked.has(planId)) return;
    if (change?.state === "open" && record?.status !== "done") {
      const seen = await (await forge.server()).look(change.ref);
      if (seen === "gone") throw new Error(`the change request ${change.ref} is gone`);
      changeSeen(this.#loom, planId, seen);
    }
    this.#looked.add(planId);
  }

  #failed(planId: string, error: unknown): void {
    const trouble = messageOf(error);
    this.#loom.report({ planId, level: "warn", text: `not yet published: ${trouble}` });
    this.#tell(planId, trouble);
  }

  #tell(planId: string, trouble: string | undefined): void {
    const record = this.#loom.stopping ? undefined : this.#loom.store.byId(planId);
    if (record && !record.deleted && record.published?.trouble !== trouble)
      notePublished(this.#loom, planId, { trouble });
  }
}

/** Says at the change request that it is not going to be merged by the server, which was asked to: the one who asked waits for that. */
function tellUnqueued(loom: PublishingAtWork & Buses & Extended, planId: string): void {
  const record = loom.store.byId(planId);
  const { unqueued } = record?.published ?? {};
  if (!record || unqueued === undefined || loom.stopping) return;
  const { id, uid, deleted, status, changeRequest } = record;
  if (!deleted && status !== "done") {
    // Told again after a kill, it is the same.
    const recordId = `unqueued-${uid}-${unqueued.at}`;
    const { address: target } = threadOf(loom, { ...record, source: undefined });
    const message = `Not merged: ${unqueued.sha.slice(0, 12)} is no longer in the merge queue, and GitHub's page tells why. When that is settled, ask for the merge again, or run \`prloom merge ${id}\`.`;
    const action: Action = {
      ...{
        id: actionId({ scope: { planId: id }, recordId, handler: DISPATCHER, ordinal: 0 }),
        type: "respond",
        target,
      },
      payload: { type: "comment", message },
    };
    const marks = { closed: true, about: "event" } as const;
    loom.bus(id).settle({ record: recordId, handler: DISPATCHER, outcome: "handled", actions: [action], marks });
    const text = `is no longer in the merge queue, and not merged: ${changeRequest?.url}`;
    loom.report({ planId: id, level: "bad", text });
    crashPoint("server:unqueued");
  }
  notePublished(loom, id, { unqueued: undefined });
  loom.wakeBus(id);
}
