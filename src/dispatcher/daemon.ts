import { existsSync, type FSWatcher, rmSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { isoTime } from "../kernel/clock.ts";
import { messageOf, PrloomError } from "../kernel/errors.ts";
import { writeFileAtomic } from "../kernel/files.ts";
import type { OwnerLock } from "../kernel/owner-lock.ts";
import type { PlanRecord } from "../plan/record.ts";
import { runOwnerCommand } from "./commands/table.ts";
import { serveControl, socketPath } from "./control.ts";
import type { InboxScan } from "./inbox.ts";
import { takeInbox, takeWholeInbox } from "./intake.ts";
import { ensureLinks } from "./layout.ts";
import type { Progress } from "./loom.ts";
import { watchMerges } from "./merged.ts";
import { textPath } from "./observe.ts";
import { daemonRunning, type OwnedLoom, openAsOwner } from "./open.ts";
import { homeOf } from "./paths.ts";
import { Scheduler } from "./scheduler.ts";
import { endAllSurvivors } from "./survivors.ts";

const SAFETY_TICK_MS = 30_000;
/** What is due later than this does not keep `--until-idle` waiting. */
const IDLE_HORIZON_MS = 10_000;

export interface DispatchOptions {
  readonly cwd: string;
  readonly version: string;
  readonly untilIdle: boolean;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** Owns the repository and works on its plans until it is told to stop, or until nothing is left to do. */
export async function runDispatcher(options: DispatchOptions): Promise<{ reasons: ReadonlyMap<string, string> }> {
  const owned = await openAsOwner(options);
  if (!owned) throw daemonRunning(options.cwd);
  const { loom, lock } = owned;
  try {
    return await dispatch(loom, lock, options);
  } finally {
    if (lock.held()) leaveCaches(loom);
    loom.close();
    lock.release();
  }
}

async function dispatch(
  loom: OwnedLoom,
  lock: OwnerLock,
  options: DispatchOptions,
): Promise<{ reasons: ReadonlyMap<string, string> }> {
  const stop = Promise.withResolvers<void>();
  options.signal.addEventListener("abort", () => stop.resolve());
  if (options.signal.aborted) stop.resolve();
  const survivors = await endAllSurvivors(loom);
  if (survivors > 0) loom.report({ level: "warn", text: `ended ${survivors} process(es) of an interrupted run` });
  let quiet = (): void => undefined;
  const scheduler = new Scheduler(loom, {
    onQuiet: () => quiet(),
    stillOwner: () => lock.held(),
    onLost: () =>
      stop.reject(
        new PrloomError(
          "lock-lost",
          "The lock file was replaced; another prloom may own the repository.",
          "`prloom status` shows who does.",
        ),
      ),
  });
  const ticker = createTicker(loom, scheduler);
  loom.listen({
    wake: (id) => (id === undefined ? ticker.soon() : scheduler.wake(id)),
    runEnded: (id) => scheduler.runEnded(id),
  });
  const control = await openControl(loom, scheduler, { options, stop: () => stop.resolve() });
  const watching = watchDirs(loom, ticker.soon);
  const safety = setInterval(() => {
    watching.rearm();
    void ticker.full();
  }, SAFETY_TICK_MS);
  await ticker.full();
  wakeAll(loom, scheduler);
  if (options.untilIdle) {
    quiet = () => void whenIdle(loom, scheduler, ticker).then((idle) => idle && stop.resolve());
    quiet();
  }
  try {
    await stop.promise;
  } finally {
    clearInterval(safety);
    watching.close();
    control.close();
    await shutDown(loom, scheduler);
    rmSync(loom.paths.daemonFile, { force: true });
  }
  return { reasons: scheduler.reasons() };
}

/** What the next start and every `prloom status` read instead of the plans, those included that nobody touched today. */
function leaveCaches(loom: OwnedLoom): void {
  for (const record of loom.store.list({}, { limit: Number.MAX_SAFE_INTEGER }).records) {
    if (!record.deleted) loom.texts.facts(textPath(loom, record), record.id);
  }
  loom.saveCaches();
}

/** Ends agents, gracefully first; what they were at is on record, and the next start goes on there. */
async function shutDown(loom: OwnedLoom, scheduler: Scheduler): Promise<void> {
  loom.stopping = true;
  scheduler.stop();
  await Promise.all([...loom.live.values(), ...loom.commandRuns].map((run) => run.stop()));
  await scheduler.settled();
}

interface Ticker {
  /** Looks at the inbox; many calls at once are one look. */
  soon(): void;
  /** Looks at everything: the stat of each record, the inbox, the branches. */
  full(): Promise<void>;
  quiet(): boolean;
}

function createTicker(loom: OwnedLoom, scheduler: Scheduler): Ticker {
  const merges = watchMerges(loom);
  let pending = false;
  const lookAtInbox = (take: (loom: OwnedLoom, scan: InboxScan) => string[]): void => {
    const scan = loom.inbox.scan();
    for (const id of take(loom, scan)) scheduler.wake(id);
    for (const id of scan.changed) if (loom.store.byId(id)) scheduler.wake(id);
  };
  const guarded = async (look: () => Promise<void> | void): Promise<void> => {
    try {
      await look();
    } catch (error) {
      loom.report({ level: "bad", text: `looking for work failed: ${messageOf(error)}` });
    }
  };
  const lookAtMerges = async (): Promise<void> => {
    for (const id of await merges.check()) scheduler.wake(id);
  };
  return {
    soon() {
      if (pending || loom.stopping) return;
      pending = true;
      setTimeout(() => {
        pending = false;
        void guarded(() => {
          lookAtInbox((_loom, scan) => takeInbox(loom, scan, scan.changed));
          wakeQueued(loom, scheduler);
          scheduler.placesChanged();
        }).then(() => guarded(lookAtMerges));
      }, 10);
    },
    async full() {
      await guarded(() => {
        for (const id of loom.store.reload()) scheduler.wake(id);
        lookAtInbox(takeWholeInbox);
      });
      await guarded(lookAtMerges);
    },
    quiet: () => !pending,
  };
}

function wakeAll(loom: OwnedLoom, scheduler: Scheduler): void {
  for (const record of loom.store.list({}, { limit: Number.MAX_SAFE_INTEGER }).records) {
    if (mayHaveWork(loom, record)) scheduler.wake(record.id);
  }
}

/** A draft, or a plan that is done, has work only if somebody spoke to it; thousands of them cost one stat each. */
function mayHaveWork(loom: OwnedLoom, record: PlanRecord): boolean {
  if (record.deleted) return false;
  if (record.status === "done" && record.worktreeReady) return true;
  if (record.status !== "draft" && record.status !== "done") return true;
  return existsSync(join(homeOf(loom.paths, record.id).bus, "events.jsonl"));
}

/** Plans whose dependencies may just have been met. */
function wakeQueued(loom: OwnedLoom, scheduler: Scheduler): void {
  for (const record of loom.store.list({ status: "queued" }, { limit: Number.MAX_SAFE_INTEGER }).records)
    scheduler.wake(record.id);
}

async function whenIdle(loom: OwnedLoom, scheduler: Scheduler, ticker: Ticker): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  const horizon = (): number => loom.clock.now() + IDLE_HORIZON_MS;
  if (loom.stopping || !ticker.quiet() || !scheduler.idle(horizon())) return false;
  // One more look: a file may have been dropped a moment ago, before its event arrived.
  await ticker.full();
  return ticker.quiet() && scheduler.idle(horizon());
}

async function openControl(
  loom: OwnedLoom,
  scheduler: Scheduler,
  daemon: { options: DispatchOptions; stop: () => void },
) {
  const socket = socketPath(loom.paths, loom.environment);
  const control = await serveControl(socket, async (command, args) => {
    if (command === "ping") return { pid: process.pid };
    if (command === "stop") return void setImmediate(daemon.stop);
    const result = await runOwnerCommand(loom, command, args);
    scheduler.placesChanged();
    return result;
  });
  const info = { pid: process.pid, startedAt: isoTime(loom.clock.now()), socket, version: daemon.options.version };
  writeFileAtomic(loom.paths.daemonFile, `${JSON.stringify(info, null, 2)}\n`);
  return control;
}

interface Watching {
  /** Watches again what was replaced since: `git clean -xfd` in the checkout takes the inbox away, and people put it back. */
  rearm(): void;
  close(): void;
}

/** Directories only, never recursive. A watch that cannot be had costs only time: the safety tick finds everything. */
function watchDirs(loom: OwnedLoom, onChange: () => void): Watching {
  const watched = new Map<string, { inode: number; watcher: FSWatcher }>();
  const arm = (dir: string): void => {
    try {
      const inode = statSync(dir).ino;
      if (watched.get(dir)?.inode === inode) return;
      watched.get(dir)?.watcher.close();
      const watcher = watch(dir, onChange);
      watcher.on("error", (error) =>
        loom.report({ level: "warn", text: `watching ${dir} failed: ${messageOf(error)}` }),
      );
      watched.set(dir, { inode, watcher });
    } catch (error) {
      loom.report({ level: "warn", text: `cannot watch ${dir} (${messageOf(error)}); looking every 30 s instead` });
    }
  };
  const rearm = (): void => {
    ensureLinks(loom.paths);
    for (const dir of [loom.paths.inbox, join(loom.paths.commonDir, "refs", "heads")]) arm(dir);
  };
  rearm();
  return {
    rearm,
    close: () => {
      for (const { watcher } of watched.values()) watcher.close();
    },
  };
}
