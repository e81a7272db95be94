import { rmSync } from "node:fs";
import { isoTime } from "../kernel/clock.ts";
import { writeFileAtomic } from "../kernel/files.ts";
import { lockLost, type OwnerLock } from "../kernel/owner-lock.ts";
import { runOwnerCommand } from "./commands/table.ts";
import { serveControl, socketPath } from "./control.ts";
import type { Progress } from "./loom.ts";
import { textPath } from "./observe.ts";
import { daemonRunning, type OwnedLoom, openAsOwner } from "./open.ts";
import { Scheduler } from "./scheduler.ts";
import { endAllSurvivors } from "./survivors.ts";
import { createTicker, type Ticker, wakeAll } from "./ticker.ts";
import { watchDirs } from "./watching.ts";

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
  const stop = stopSignal(options.signal);
  const survivors = await endAllSurvivors(loom);
  if (survivors > 0) loom.report({ level: "warn", text: `ended ${survivors} process(es) of an interrupted run` });
  let quiet = (): void => undefined;
  const stillOwner = (): boolean => {
    if (lock.held()) return true;
    stop.reject(lockLost());
    return false;
  };
  const scheduler = new Scheduler(loom, { onQuiet: () => quiet(), stillOwner });
  const ticker = createTicker(loom, scheduler, { stillOwner, onQuiet: () => quiet() });
  loom.listen({
    wake: (id) => (id === undefined ? ticker.soon() : scheduler.wake(id)),
    runEnded: (id) => scheduler.runEnded(id),
    settled: (id) => scheduler.planSettled(id),
  });
  const control = await openControl(loom, scheduler, { version: options.version, stop: stop.resolve, stillOwner });
  const watching = watchDirs(loom, ticker.soon);
  const safety = setInterval(() => {
    watching.rearm();
    void ticker.safety();
  }, SAFETY_TICK_MS);
  try {
    await ticker.full();
    wakeAll(loom, scheduler);
    if (options.untilIdle) {
      quiet = () => void whenIdle(loom, scheduler, ticker).then((idle) => idle && stop.resolve());
      quiet();
    }
    await stop.promise;
  } finally {
    clearInterval(safety);
    watching.close();
    await control.close();
    await shutDown(loom, scheduler);
    // Another owner has written its own by now, if the lock was lost.
    if (lock.held()) rmSync(loom.paths.daemonFile, { force: true });
  }
  return { reasons: scheduler.reasons() };
}

function stopSignal(signal: AbortSignal): PromiseWithResolvers<void> {
  const stop = Promise.withResolvers<void>();
  // It may be rejected before anybody waits for it.
  stop.promise.catch(() => undefined);
  signal.addEventListener("abort", () => stop.resolve());
  if (signal.aborted) stop.resolve();
  return stop;
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
  await Promise.all([...loom.live.values(), ...loom.commandRuns.keys()].map((run) => run.stop()));
  await scheduler.settled();
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
  daemon: { version: string; stop: () => void; stillOwner: () => boolean },
) {
  const socket = socketPath(loom.paths, loom.environment);
  const control = await serveControl(socket, async (command, args) => {
    if (command === "ping") return { pid: process.pid };
    if (command === "stop") return void setImmediate(daemon.stop);
    if (!daemon.stillOwner()) throw lockLost();
    const result = await runOwnerCommand(loom, command, args);
    scheduler.placesChanged();
    return result;
  });
  const info = { pid: process.pid, startedAt: isoTime(loom.clock.now()), socket, version: daemon.version };
  writeFileAtomic(loom.paths.daemonFile, `${JSON.stringify(info, null, 2)}\n`);
  return control;
}
