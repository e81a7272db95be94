import type { LiveRun } from "../agents/port.ts";
import { type Circuits, createCircuits } from "../bridges/circuit.ts";
import type { LoadedBridge } from "../bridges/load.ts";
import type { BridgeServices } from "../bridges/services.ts";
import type { Bus } from "../bus/bus.ts";
import type { DeadLetter } from "../bus/bus-state.ts";
import { createFileLog } from "../bus/file/log.ts";
import { createFilePlanStore, type FilePlanStore } from "../bus/file/plan-store.ts";
import type { Log } from "../bus/ports.ts";
import type { Scope } from "../bus/types.ts";
import type { Config } from "../config/config.ts";
import { localForge } from "../forge/local.ts";
import type { Forge } from "../forge/port.ts";
import type { Repository } from "../git/repository.ts";
import type { LoadedPlugin } from "../hooks/modules/load-plugins.ts";
import type { HookServices } from "../hooks/services.ts";
import type { StateStores } from "../hooks/state/state-stores.ts";
import { type Clock, isoTime } from "../kernel/clock.ts";
import { PrloomError } from "../kernel/errors.ts";
import type { Ids } from "../kernel/ids.ts";
import { type PlanRecord, RECORD_SCHEMA_VERSION } from "../plan/record.ts";
import { type PlanEvent, transition } from "../plan/transition.ts";
import { openBuses } from "./buses/buses.ts";
import { type Extensions, NO_EXTENSIONS } from "./buses/extensions.ts";
import { type Health, openHealth } from "./buses/health.ts";
import { bridgeHostOf, hookHostOf, storesOf } from "./buses/hosts.ts";
import type { PollReport } from "./buses/polling.ts";
import { type Inbox, openInbox } from "./intake/inbox.ts";
import { createLifecycle, type Lifecycle } from "./intake/lifecycle.ts";
import { openTexts, type Texts } from "./intake/plan-texts.ts";
import { statKey } from "./intake/stat-key.ts";
import { homeOf, inboxOf, type Paths } from "./paths.ts";
import { type Desk, openDesk } from "./runs/agent-pool.ts";
import { holdSettings, type Pinned, type Settings } from "./settings/pinned.ts";
import { openStalls, type Stalls } from "./watchdog/stalls.ts";
import type { Watchdog } from "./watchdog/watchdog.ts";
import { UNWATCHED } from "./watchdog/watched-work.ts";

/** Something worth telling a person who watches. */
export interface Progress {
  readonly at: string;
  readonly planId?: string;
  readonly level: "info" | "good" | "warn" | "bad";
  readonly text: string;
}

/** One opened repository: everything that steps and commands work with. */
export interface Loom {
  readonly repo: Repository;
  readonly paths: Paths;
  /** As it was pinned; not what the working tree says. */
  readonly config: Config;
  readonly pinned: Pinned;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: FilePlanStore;
  readonly inbox: Inbox;
  readonly texts: Texts;
  readonly forge: Forge;
  /** Git author and committer; empty when the user has an identity. */
  readonly identity: Readonly<Record<string, string>>;
  /** The parent environment that agents get a part of. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Agents that this process started and that have not ended, by plan id. */
  readonly live: Map<string, LiveRun>;
  /** Checks and initCommands that are running, and whose plan they are. */
  readonly commandRuns: Map<LiveRun, string>;
  /** Runs in a row that ended without an exit though nobody stopped them, by plan id. */
  readonly stranded: Map<string, number>;
  /** Plans whose left-overs could not be dealt with at the start: nothing is started for them. */
  readonly unrecovered: Set<string>;
  /** Set when the dispatcher is asked to stop: no new process is started. */
  stopping: boolean;
  /** Aborted when the dispatcher is asked to stop: calls of hooks and bridges end. */
  readonly stop: AbortController;
  /** Plugins and bridges. Loaded by the dispatcher alone: a command that works without it calls none. */
  extensions: Extensions;
  readonly stores: StateStores;
  readonly circuits: Circuits;
  readonly health: Health;
  readonly desk: Desk;
  readonly hookHost: HookServices;
  readonly bridgeHost: BridgeServices;
  /** Plans in whose worktree a plugin's agent works (1) or is about to (0). */
  readonly hookAgents: Map<string, number>;
  /** Plans with a step under way that may touch their worktree; calling plugins is none. */
  readonly stepping: Set<string>;
  /** Ends the calls of plugins for one plan. */
  readonly planStops: Map<string, AbortController>;
  /** Upserts (action ids) that wait until a plan is between two runs. */
  readonly upsertsWaiting: Map<string, Set<string>>;
  /** Told what is under way, and for which plan; the watchdog names it. */
  watch: Omit<Watchdog, "stop">;
  /** Plans that blocked the dispatcher. */
  readonly stalls: Stalls;
  bus(planId: string): Bus;
  globalBus(): Bus;
  lifecycle(): Lifecycle;
  /** The plugins and bridges that are on for a plan, in order. */
  pluginsOf(record: PlanRecord): readonly LoadedPlugin[];
  bridgesOf(record: PlanRecord): readonly LoadedBridge[];
  /** Polls bridges now; only a dispatcher can. */
  poll: ((bridge: string | undefined) => Promise<PollReport[]>) | undefined;
  /** The plan, or without one the global bus: what was settled goes into the snapshot, so that a kill costs no long replay. */
  rest(planId: string): void;
  isAtRest(planId: string): boolean;
  /** The dead letters of a bus that is at rest; undefined: it is not at rest, open it. */
  restingLetters(planId: string): DeadLetter[] | undefined;
  report(progress: Omit<Progress, "at">): void;
  /** "Look at this plan again"; without a plan: at the inbox and everything. */
  wake(planId?: string): void;
  /** "There may be something new on this bus"; without a plan: on the global one. */
  wakeBus(planId?: string): void;
  /** The agent of this plan has ended. */
  runEnded(planId: string): void;
  /** Ends everything that runs for a plan and resolves when no step of it is under way. */
  quiesce(planId: string): Promise<void>;
  /** Tells, once, what the working tree would change if it were taken over. */
  lookAtTree(): void;
  /** Writes what makes the next start cheap. Worth it for a dispatcher that ends, not for one command. */
  saveCaches(): void;
  close(): void;
}

export interface LoomOptions {
  readonly repo: Repository;
  readonly paths: Paths;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly identity: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly readOnly?: boolean;
  readonly onProgress?: (progress: Progress) => void;
}

/** Who listens to wake-ups; a command that works alone leaves them unheard. */
export interface Listener {
  wake(planId?: string): void;
  wakeBus(planId?: string): void;
  runEnded(planId: string): void;
  settled(planId: string): Promise<void>;
}

export function openLoom(options: LoomOptions): Loom & { listen(listener: Listener): void } {
  const { paths, clock } = options;
  const pinned = holdSettings({ root: paths.root, path: options.environment.PATH }, options.settings);
  const readOnly = options.readOnly === true;
  const root = (scope: Scope): string => (scope.planId === undefined ? paths.bus : homeOf(paths, scope.planId).bus);
  const log = createFileLog({ root, clock, readOnly });
  const stores = storesOf(paths, (text) => loom.report({ level: "bad", text }));
  const onProblem = (planId: string | undefined, message: string): void => {
    const whose = planId === undefined ? {} : { planId };
    loom.report({ ...whose, level: "warn", text: `a bus could not be saved: ${message}` });
  };
  const buses = openBuses({ paths, log, clock, stores, readOnly, onProblem, limits: () => pinned.config.bus });
  let listener: Listener | undefined;
  let lifecycle: Lifecycle | undefined;
  const store = createFilePlanStore({ plansDir: paths.plans, clock });
  const identityOf = (id: string): string => store.byId(id)?.uid ?? statKey(inboxOf(paths, id).text) ?? "";
  const loom = {
    ...options,
    pinned,
    log,
    store,
    stalls: openStalls(paths.stallsFile, identityOf),
    inbox: openInbox(paths.inbox, paths.inboxCacheFile),
    texts: openTexts(paths.cacheFile),
    forge: localForge({ fileOf: (planId) => homeOf(paths, planId).changeRequest, clock }),
    ...nothingUnderWay(options),
    stores,
    hookHost: undefined as unknown as HookServices,
    bridgeHost: undefined as unknown as BridgeServices,
    ...buses,
    lifecycle(): Lifecycle {
      lifecycle ??= createLifecycle(loom, loom.globalBus());
      return lifecycle;
    },
    pluginsOf: (record: PlanRecord) => loom.extensions.pluginsOf(record),
    bridgesOf: (record: PlanRecord) => loom.extensions.bridgesOf(record),
    report: (progress: Omit<Progress, "at">) => options.onProgress?.({ ...progress, at: isoTime(clock.now()) }),
    listen(next: Listener): void {
      listener = next;
    },
    wake: (planId?: string): void => listener?.wake(planId),
    wakeBus: (planId?: string): void => listener?.wakeBus(planId),
    runEnded: (planId: string): void => listener?.runEnded(planId),
    async quiesce(planId: string): Promise<void> {
      loom.planStops.get(planId)?.abort();
      const commands = [...loom.commandRuns].filter(([, id]) => id === planId).map(([run]) => run);
      await Promise.all([loom.live.get(planId), ...commands].map((run) => run?.stop()));
      await listener?.settled(planId);
    },
    get config(): Config {
      return pinned.config;
    },
    lookAtTree(): void {
      const told = pinned.look();
      if (told) loom.report(told);
    },
    saveCaches(): void {
      loom.store.saveIndex();
      loom.texts.save();
      loom.inbox.save();
    },
    close(): void {
      buses.saveAll();
      log.close();
    },
  };
  loom.hookHost = hookHostOf(loom);
  loom.bridgeHost = bridgeHostOf(loom);
  return loom;
}

/** What no file knows, in a process that has not begun anything yet. */
function nothingUnderWay({ paths, clock, readOnly }: LoomOptions) {
  return {
    health: openHealth(paths, clock),
    desk: openDesk(paths, clock, readOnly === true),
    live: new Map<string, LiveRun>(),
    commandRuns: new Map<LiveRun, string>(),
    stranded: new Map<string, number>(),
    unrecovered: new Set<string>(),
    hookAgents: new Map<string, number>(),
    stepping: new Set<string>(),
    planStops: new Map<string, AbortController>(),
    upsertsWaiting: new Map<string, Set<string>>(),
    stopping: false,
    stop: new AbortController(),
    extensions: NO_EXTENSIONS,
    circuits: createCircuits(),
    watch: UNWATCHED,
    poll: undefined,
  };
}

/** The record of a plan, or an error that tells how to find the right name. */
export function requireRecord(loom: Loom, id: string): PlanRecord {
  const record = loom.store.byId(id);
  if (record && !record.deleted) return record;
  throw new PrloomError("plan-not-found", `There is no plan "${id}".`, "`prloom status` lists all plans.");
}

/** Throws while processes of an earlier run may be alive: nobody else gets into that worktree. */
export function refuseUnrecovered(loom: Loom, id: string): void {
  if (!loom.unrecovered.has(id)) return;
  const hint = `\`prloom unblock ${id}\` tries again; \`prloom show ${id}\` tells what failed.`;
  throw new PrloomError("recovery-failed", `What an interrupted run of ${id} left could not be dealt with.`, hint);
}

/**
 * The one setter of a record. Reading, changing and writing happen without a pause in between, so what a command wrote
 * is never overwritten by a step that looked earlier.
 */
export function updateRecord(loom: Loom, id: string, change: (record: PlanRecord) => Partial<PlanRecord>): PlanRecord {
  const record = requireRecord(loom, id);
  const updatedAt = isoTime(loom.clock.now());
  const next: PlanRecord = { ...record, ...change(record), schemaVersion: RECORD_SCHEMA_VERSION, updatedAt };
  return loom.store.put(record.uid, next, record.revision);
}

/** The one setter of a status: what the table of transitions does not allow fails here, whoever asks. */
export function changeStatus(loom: Loom, id: string, event: PlanEvent, also: Partial<PlanRecord> = {}): PlanRecord {
  return updateRecord(loom, id, ({ status }) => {
    // A person may hide or pause a plan in the middle of a step; the step still ends.
    const next = transition({ status, hidden: false, paused: false, blocked: false }, event);
    if (!next.ok) throw new PrloomError("plan-state", `${id}: ${next.why}`, `\`prloom show ${id}\` tells more.`);
    return { ...also, status: next.status };
  });
}

export interface Block {
  readonly reason: string;
  readonly hint: string;
  readonly cause: NonNullable<NonNullable<PlanRecord["blocked"]>["cause"]>;
}

/** Blocks a plan with a reason that people read and a hint they can type; `also` changes in the same write. */
export function blockPlan(
  loom: Loom,
  id: string,
  blocked: Block,
  also?: (record: PlanRecord) => Partial<PlanRecord>,
): void {
  const at = isoTime(loom.clock.now());
  updateRecord(loom, id, (record) => ({ ...also?.(record), blocked: { ...blocked, at } }));
  loom.report({ planId: id, level: "bad", text: `blocked: ${blocked.reason}` });
}
