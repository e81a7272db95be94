import { messageOf } from "../../kernel/errors.ts";
import { Loop } from "../../kernel/loop.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import type { Naming, Publishing, Reporting, Stopping } from "../capabilities.ts";
import { hasBus, type Located } from "../paths.ts";
import type { Records } from "../records.ts";
import { type Configured, lookAtTree } from "../settings/pinned.ts";
import type { Scheduler } from "../steps/scheduler.ts";
import { watchMerges } from "../steps/watch-merges.ts";
import type { Watched } from "../watchdog/stalls.ts";
import type { Intake } from "./intake.ts";
import { lookAtInbox, lookAtPlans, tellAll } from "./take-changes.ts";
import { isEndUntold } from "./write-back.ts";

export interface TickerHooks {
  stillOwner(): boolean;
  /** A look that was asked for is over, whether or not it woke a plan. */
  onQuiet(): void;
  /** Plans changed, and the global bus tells it. */
  onNews(): void;
}

export interface Ticker {
  /** Looks at one plan in the inbox, or at all of it and the branches; many calls at once are one look. */
  soon(planId?: string): void;
  /** Looks at everything: the stat of each record, the inbox, the branches. */
  full(): Promise<void>;
  /** What no event told us: plans that wait for others are looked at once more, too. */
  safety(): Promise<void>;
  quiet(): boolean;
}

/** More plans than this at once are found by looking at all; the kernel may have left some out. */
const MAX_NAMED = 100;
/** A file that is written tells so several times. */
const GATHER_MS = 10;

export function createTicker(
  loom: Located & Naming & Configured & Records & Intake & Publishing & Watched & Reporting & Stopping,
  scheduler: Scheduler,
  hooks: TickerHooks,
): Ticker {
  const merges = watchMerges(loom);
  let wanted: Set<string> | "all" = new Set();
  let looks = 0;
  const mayGoOn = (): boolean => !loom.stopping && hooks.stillOwner();
  const guarded = async (look: () => Promise<void> | void): Promise<void> => {
    if (!mayGoOn()) return;
    looks += 1;
    try {
      await look();
    } catch (error) {
      loom.report({ level: "bad", text: `looking for work failed: ${messageOf(error)}` });
    } finally {
      looks -= 1;
    }
  };
  const lookAtMerges = async (): Promise<void> => {
    for (const id of await merges.check()) scheduler.wake(id);
  };
  const full = async (): Promise<void> => {
    await guarded(async () => {
      lookAtTree(loom);
      for (const id of loom.store.reload()) scheduler.wake(id);
      await lookAtInbox(loom, scheduler, { whole: true, mayGoOn });
      if (await tellAll(loom, mayGoOn)) hooks.onNews();
    });
    await guarded(lookAtMerges);
  };
  const lookAt = async (what: ReadonlySet<string> | "all"): Promise<void> => {
    if (what !== "all" && what.size <= MAX_NAMED) {
      return guarded(() => {
        if (lookAtPlans(loom, scheduler, what)) wakeWaiting(loom, scheduler);
      });
    }
    await guarded(async () => {
      await lookAtInbox(loom, scheduler, { whole: false, mayGoOn });
      wakeWaiting(loom, scheduler);
    });
    await guarded(lookAtMerges);
  };
  const loop = new Loop({
    clock: loom.clock,
    gatherMs: GATHER_MS,
    async pass() {
      const what = wanted;
      wanted = new Set();
      await lookAt(what);
      return undefined;
    },
    // A look that fails tells it; the next one is asked for as ever.
    backoffMs: () => 0,
    onFailure: (error) => loom.report({ level: "bad", text: `looking for work failed: ${messageOf(error)}` }),
    onIdle: hooks.onQuiet,
  });
  return {
    full,
    async safety() {
      await full();
      await guarded(() => wakeQueued(loom, scheduler));
      // What asked meanwhile was told to wait.
      hooks.onQuiet();
    },
    soon(planId) {
      if (loom.stopping) return;
      if (planId === undefined || wanted === "all") wanted = "all";
      else wanted.add(planId);
      loop.wake();
    },
    quiet: () => loop.idle() && looks === 0,
  };
}

/** At a start: everything that may have something to do; returns the plans. */
export function wakeAll(loom: Located & Records & Buses & Extended & Reporting, scheduler: Scheduler): string[] {
  const { records } = loom.store.list();
  const ids = records.filter((record) => mayHaveWork(loom, record)).map((record) => record.id);
  for (const id of ids) scheduler.wake(id);
  return ids;
}

/** A draft, or a plan that is done and whose source knows it, has work only if something waits on its bus; thousands of them cost one stat each. */
function mayHaveWork(loom: Located & Buses & Extended & Reporting, record: PlanRecord): boolean {
  if (record.deleted) return false;
  if (record.status === "done" && (record.worktreeReady || isEndUntold(loom, record))) return true;
  if (record.status !== "draft" && record.status !== "done") return true;
  return hasBus(loom, record.id) && !isAtRest(loom, record.id);
}

/** One whose bus cannot be read is looked at: that tells what is wrong with it. */
function isAtRest(loom: Buses & Reporting, id: string): boolean {
  try {
    return loom.isAtRest(id);
  } catch (error) {
    loom.report({ planId: id, level: "bad", text: `its bus cannot be read: ${messageOf(error)}` });
    return false;
  }
}

/** Plans that may go on now: a dependency is met, a place is free. */
function wakeWaiting(loom: Records, scheduler: Scheduler): void {
  wakeQueued(loom, scheduler);
  scheduler.placesChanged();
}

/** Plans whose dependencies may just have been met. */
function wakeQueued(loom: Records, scheduler: Scheduler): void {
  for (const record of loom.store.list({ status: "queued" }).records) scheduler.wake(record.id);
}
