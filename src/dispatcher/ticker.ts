import { messageOf } from "../kernel/errors.ts";
import type { PlanRecord } from "../plan/record.ts";
import type { InboxScan } from "./inbox.ts";
import { takeInbox, takeWholeInbox } from "./intake.ts";
import type { Loom } from "./loom.ts";
import { watchMerges } from "./merged.ts";
import { hasBus } from "./paths.ts";
import type { Scheduler } from "./scheduler.ts";

export interface TickerHooks {
  stillOwner(): boolean;
  /** A look that was asked for is over, whether or not it woke anybody. */
  onQuiet(): void;
  /** Something became of plans, and the global bus tells it. */
  onNews(): void;
}

export interface Ticker {
  /** Looks at the inbox; many calls at once are one look. */
  soon(): void;
  /** Looks at everything: the stat of each record, the inbox, the branches. */
  full(): Promise<void>;
  /** What nobody told us: plans that wait for others are looked at once more, too. */
  safety(): Promise<void>;
  quiet(): boolean;
}

export function createTicker(loom: Loom, scheduler: Scheduler, hooks: TickerHooks): Ticker {
  const merges = watchMerges(loom);
  let pending = false;
  const lookAtInbox = (take: (loom: Loom, scan: InboxScan) => string[]): void => {
    const scan = loom.inbox.scan();
    for (const id of take(loom, scan)) scheduler.wake(id);
    for (const id of scan.changed) if (loom.store.byId(id)) scheduler.wake(id);
  };
  const guarded = async (look: () => Promise<void> | void): Promise<void> => {
    if (loom.stopping || !hooks.stillOwner()) return;
    try {
      await look();
    } catch (error) {
      loom.report({ level: "bad", text: `looking for work failed: ${messageOf(error)}` });
    }
  };
  const lookAtMerges = async (): Promise<void> => {
    for (const id of await merges.check()) scheduler.wake(id);
  };
  const full = async (): Promise<void> => {
    await guarded(() => {
      loom.reloadConfig();
      for (const id of loom.store.reload()) scheduler.wake(id);
      lookAtInbox(takeWholeInbox);
      if (loom.lifecycle().lookAll().length > 0) hooks.onNews();
    });
    await guarded(lookAtMerges);
  };
  return {
    full,
    async safety() {
      await full();
      await guarded(() => wakeQueued(loom, scheduler));
    },
    soon() {
      if (pending || loom.stopping) return;
      pending = true;
      setTimeout(() => {
        pending = false;
        void guarded(() => {
          lookAtInbox((_loom, scan) => takeInbox(loom, scan, scan.changed));
          wakeQueued(loom, scheduler);
          scheduler.placesChanged();
        })
          .then(() => guarded(lookAtMerges))
          .then(() => hooks.onQuiet());
      }, 10);
    },
    quiet: () => !pending,
  };
}

/** At a start: everything that may have something to do; returns the plans. */
export function wakeAll(loom: Loom, scheduler: Scheduler): string[] {
  const { records } = loom.store.list({}, { limit: Number.MAX_SAFE_INTEGER });
  const ids = records.filter((record) => mayHaveWork(loom, record)).map((record) => record.id);
  for (const id of ids) scheduler.wake(id);
  return ids;
}

/** A draft, or a plan that is done, has work only if something waits on its bus; thousands of them cost one stat each. */
function mayHaveWork(loom: Loom, record: PlanRecord): boolean {
  if (record.deleted) return false;
  if (record.status === "done" && record.worktreeReady) return true;
  if (record.status !== "draft" && record.status !== "done") return true;
  return hasBus(loom, record.id) && !loom.isAtRest(record.id);
}

/** Plans whose dependencies may just have been met. */
function wakeQueued(loom: Loom, scheduler: Scheduler): void {
  for (const record of loom.store.list({ status: "queued" }, { limit: Number.MAX_SAFE_INTEGER }).records)
    scheduler.wake(record.id);
}
