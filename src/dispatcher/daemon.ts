import { rmSync } from "node:fs";
import { delegateGit, endDelegate } from "../git/delegate/delegate.ts";
import type { Repository } from "../git/repository.ts";
import { sealModules } from "../hooks/modules/pinned-modules.ts";
import { isoTime } from "../kernel/clock.ts";
import { errnoOf, messageOf, PrloomError } from "../kernel/errors.ts";
import { writeFileAtomic } from "../kernel/files.ts";
import { lockLost, type OwnerLock } from "../kernel/owner-lock.ts";
import { identityOf } from "../kernel/system/process-tree.ts";
import { keepYoungGeneration } from "../kernel/system/young-generation.ts";
import type { PlanRecord } from "../plan/record.ts";
import { BusLoops } from "./buses/bus-loops.ts";
import { healthFile } from "./buses/health.ts";
import { isBusy } from "./buses/upsert.ts";
import type { Progress } from "./capabilities.ts";
import { type DaemonInfo, serveControl, socketPath } from "./commands/control.ts";
import { daemonRunning, openAsOwner } from "./commands/open-as-owner.ts";
import { runOwnerCommand } from "./commands/table.ts";
import type { OwnedLoom } from "./compose.ts";
import { requireEnforcedGates } from "./gates/enforced.ts";
import { tellPhase } from "./intake/phases.ts";
import { tellBlocked } from "./intake/tell-blocked.ts";
import { createTicker, type Ticker, wakeAll } from "./intake/ticker.ts";
import { type Watching, watchDirs } from "./intake/watching.ts";
import { writeBack } from "./intake/write-back.ts";
import { textPath } from "./paths.ts";
import { endUnapproved } from "./perform/gates/stop-run.ts";
import { Publisher } from "./publishing/publisher.ts";
import { recoverPlans, removeDeleted } from "./runs/survivors.ts";
import { lookAtTree } from "./settings/pinned.ts";
import { ownFiles } from "./settings/pinning.ts";
import { outliveStrays, restoreMemory, startExtensions, startOnWatch, tellEnclosure } from "./starting.ts";
import { Scheduler, type SchedulerHooks } from "./steps/scheduler.ts";

const SAFETY_TICK_MS = 30_000;
/** What is due later than this does not keep `--until-idle` waiting. */
const IDLE_HORIZON_MS = 10_000;

export interface DispatchOptions {
  readonly cwd: string;
  readonly repo?: Repository;
  readonly version: string;
  readonly untilIdle: boolean;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** Owns the repository and works on its plans until it is told to stop, or until nothing is left to do. */
export async function runDispatcher(options: DispatchOptions): Promise<{ reasons: ReadonlyMap<string, string> }> {
  const owned = await openAsOwner({ ...options, settings: "start" });
  if (!owned) throw daemonRunning(options.cwd);
  const { loom, lock } = owned;
  keepYoungGeneration();
  try {
    return await dispatch(loom, lock, options);
  } finally {
    sealModules(undefined);
    try {
      await loom.store.syncAtOnce();
      if (lock.held()) leaveCaches(loom);
      loom.close();
    } finally {
      lock.release();
    }
  }
}

/** The parts that work side by side while a dispatcher lives. */
interface DaemonParts {
  readonly scheduler: Scheduler;
  readonly busLoops: BusLoops;
  readonly publisher: Publisher;
  readonly ticker: Ticker;
  readonly leftovers: Leftovers;
}

/** What deleted plans left is removed in the background; only the end of `--until-idle` waits for it. */
interface Leftovers {
  isGone: boolean;
}

async function dispatch(
  loom: OwnedLoom,
  lock: OwnerLock,
  options: DispatchOptions,
): Promise<{ reasons: ReadonlyMap<string, string> }> {
  const stop = stopSignal(options.signal);
  loom.store.syncLater((error) => loom.report({ level: "bad", text: `records cannot be synced: ${messageOf(error)}` }));
  const survivors = await recoverPlans(loom);
  if (survivors > 0)
    loom.report({
      level: "warn",
      text: `ended ${survivors} ${survivors === 1 ? "process" : "processes"} of an interrupted run`,
    });
  // From a checkout a branch could bring another program of ours.
  if (ownFiles({ root: loom.paths.root, path: loom.environment.PATH }).length === 0) delegateGit();
  restoreMemory(loom);
  const watchdog = startOnWatch(loom);
  let quiet = (): void => undefined;
  let forgetStrays = quiet;
  const stillOwner = (): boolean => {
    if (lock.held()) return true;
    stop.reject(lockLost());
    return false;
  };
  try {
    void tellEnclosure(loom);
    await requireEnforcedGates(loom.config);
    await startExtensions(loom);
    forgetStrays = outliveStrays(loom);
    let watching: Watching | undefined;
    const parts = connect(loom, { stillOwner, onQuiet: () => quiet(), onLook: (record) => watching?.follow(record) });
    const control = await openControl(loom, parts, { version: options.version, stop: stop.resolve, stillOwner });
    watching = watchDirs(loom, {
      changed: parts.ticker.soon,
      treeChanged: soonAfter(() => lookAtTree(loom)),
      planChanged: (id) => parts.scheduler.wake(id),
    });
    const safety = setInterval(() => {
      watching?.rearm();
      void parts.ticker.safety();
    }, SAFETY_TICK_MS);
    try {
      void removeDeleted(loom).finally(() => {
        parts.leftovers.isGone = true;
        quiet();
      });
      await begin(loom, parts);
      watching.rearm();
      if (options.untilIdle) {
        quiet = () => void whenIdle(loom, parts).then((idle) => idle && stop.resolve());
        quiet();
      }
      await stop.promise;
    } finally {
      clearInterval(safety);
      watching.close();
      await control.close();
      await shutDown(loom, parts);
      // Another owner has written its own by now, if the lock was lost.
      if (lock.held())
        for (const file of [loom.paths.daemonFile, healthFile(loom.paths)]) rmSync(file, { force: true });
    }
    return { reasons: parts.scheduler.reasons() };
  } finally {
    forgetStrays();
    watchdog.stop();
  }
}

/** An editor writes a file in several steps; the first of them is not the one to look at. */
const WRITTEN_MS = 100;

function soonAfter(act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, WRITTEN_MS).unref();
  };
}

interface Looked {
  /** A plan is about to be looked at. */
  onLook(record: PlanRecord): void;
}

/** Lets the parts hear of each other. */
function connect(loom: OwnedLoom, hooks: Pick<SchedulerHooks, "stillOwner" | "onQuiet"> & Looked): DaemonParts {
  const lifecycle = loom.lifecycle();
  const scheduler = new Scheduler(loom, {
    ...hooks,
    onLook(record) {
      hooks.onLook(record);
      const told = lifecycle.look(record.id) + tellPhase(loom, record.id) + tellBlocked(loom, record.id);
      if (told > 0) busLoops.wake();
      if (writeBack(loom, record.id)) busLoops.wake(record.id);
      busLoops.follow(record);
      return !letUpsertsGoFirst(loom, busLoops, record.id);
    },
    onWake: (id) => endUnapproved(loom, id),
    onStep: (id) => {
      for (const part of [busLoops, publisher]) part.wake(id);
    },
  });
  const busLoops = new BusLoops(loom, { onPlan: (id) => scheduler.wake(id), onQuiet: hooks.onQuiet });
  const publisher = new Publisher(loom, hooks);
  const ticker = createTicker(loom, scheduler, { ...hooks, onNews: () => busLoops.wake() });
  loom.listen({
    wake(id) {
      if (id === undefined) return ticker.soon();
      for (const part of [busLoops, scheduler, publisher]) part.wake(id);
    },
    wakeBus: (id) => busLoops.wake(id),
    runEnded: (id) => scheduler.runEnded(id),
    settled: async (id) => {
      await scheduler.planSettled(id);
    },
    poll: (bridge) => busLoops.poll(bridge),
  });
  return { scheduler, busLoops, publisher, ticker, leftovers: { isGone: false } };
}

/** An upsert that came during a run is merged before the next one: the plan waits these few milliseconds. */
function letUpsertsGoFirst(loom: OwnedLoom, busLoops: BusLoops, id: string): boolean {
  const waiting = loom.upsertsWaiting.get(id);
  const record = loom.store.byId(id);
  if (!waiting || !record || isBusy(loom, record)) return false;
  for (const action of waiting) {
    // One whose wait is not written down yet is hurried when it is: that wakes the plan once more.
    if (busLoops.hurry(action)) waiting.delete(action);
  }
  if (waiting.size === 0) loom.upsertsWaiting.delete(id);
  return true;
}

/** The global tick first, then the plans. */
async function begin(loom: OwnedLoom, { scheduler, busLoops, publisher, ticker }: DaemonParts): Promise<void> {
  await ticker.full();
  busLoops.wake();
  await busLoops.globalFirst();
  for (const id of wakeAll(loom, scheduler)) busLoops.wake(id);
  publisher.begin();
}

function stopSignal(signal: AbortSignal): PromiseWithResolvers<void> {
  const stop = Promise.withResolvers<void>();
  // It may be rejected before it is waited for.
  stop.promise.catch(() => undefined);
  signal.addEventListener("abort", () => stop.resolve());
  if (signal.aborted) stop.resolve();
  return stop;
}

/** What the next start and every `prloom status` read instead of the plans, those included that were not touched today. */
function leaveCaches(loom: OwnedLoom): void {
  for (const record of loom.store.list().records) {
    if (record.deleted || loom.stalls.isHeld(record.id)) continue;
    const read = () => loom.texts.facts(textPath(loom, record), record.id);
    orNothing(() => loom.watch.about(record.id, "reading its text", read));
  }
  orNothing(() => loom.saveCaches());
}

/** Caches only save time: what cannot be read for them, or written, has been told where it matters. */
function orNothing(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (errnoOf(error) === undefined && !(error instanceof PrloomError)) throw error;
  }
}

/** Ends agents, gracefully first; what they were at is on record, and the next start goes on there. */
async function shutDown(loom: OwnedLoom, { scheduler, busLoops, publisher }: DaemonParts): Promise<void> {
  loom.beginStop();
  scheduler.stop();
  await loom.occupancy.stopAll();
  await Promise.all([scheduler.settled(), publisher.stop()]);
  await Promise.all([loom.shims.close(), endDelegate()]);
  // Calls that were told to end still have their last word written down.
  await busLoops.settled();
  busLoops.stop();
}

async function whenIdle(
  loom: OwnedLoom,
  { scheduler, busLoops, publisher, ticker, leftovers }: DaemonParts,
): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  const horizon = (): number => loom.clock.now() + IDLE_HORIZON_MS;
  const idle = (): boolean =>
    leftovers.isGone && ticker.quiet() && [scheduler, busLoops, publisher].every((part) => part.idle(horizon()));
  if (loom.stopping || !idle()) return false;
  // One more look: a file may have been dropped a moment ago, before its event arrived.
  await ticker.full();
  return idle();
}

async function openControl(
  loom: OwnedLoom,
  { scheduler }: DaemonParts,
  daemon: { version: string; stop: () => void; stillOwner: () => boolean },
) {
  const socket = socketPath(loom.paths, loom.environment);
  const control = await serveControl(socket, async (command, args) => {
    if (command === "ping") return { pid: process.pid, waits: scheduler.waits() };
    if (command === "stop") return void setImmediate(daemon.stop);
    if (!daemon.stillOwner()) throw lockLost();
    const result = await runOwnerCommand(loom, command, args);
    // A person who was told that it is done relies on it.
    loom.store.sync();
    scheduler.placesChanged();
    return result;
  });
  const { pid } = process;
  const startedAt = isoTime(loom.clock.now());
  const info: DaemonInfo = { pid, startedAt, socket, version: daemon.version, identity: identityOf(pid) };
  writeFileAtomic(loom.paths.daemonFile, `${JSON.stringify(info, null, 2)}\n`);
  return control;
}
