import { ShimPool } from "../agents/shim/pool.ts";
import { createCircuits } from "../bridges/circuit.ts";
import type { BridgeServices } from "../bridges/services.ts";
import { createFileLog } from "../bus/file/log.ts";
import { createFilePlanStore, type FilePlanStore } from "../bus/file/plan-store.ts";
import { type Scope, scopeOf } from "../bus/types.ts";
import { localForge } from "../forge/local.ts";
import type { HookServices } from "../hooks/services.ts";
import { isoTime } from "../kernel/clock.ts";
import { reachGitHub } from "./at-github/reach-github.ts";
import type { PollReport } from "./buses/bridging.ts";
import { type OpenBuses, openBuses } from "./buses/buses.ts";
import { type Extended, holdExtensions } from "./buses/extensions.ts";
import { openHealth } from "./buses/health.ts";
import { bridgeServicesOf, hookServicesOf, storesOf } from "./buses/services.ts";
import type { Naming, Progress, Publishing, Reporting, Timing } from "./capabilities.ts";
import { openGates } from "./gates/gate-store.ts";
import { openInbox } from "./intake/inbox.ts";
import { createLifecycle, type Lifecycle } from "./intake/lifecycle.ts";
import { openTexts } from "./intake/plan-texts.ts";
import { statKey } from "./intake/stat-key.ts";
import type { Loom } from "./loom.ts";
import { homeOf, inboxOf, type Located } from "./paths.ts";
import { openAgentPool } from "./runs/agent-pool.ts";
import { Occupancy } from "./runs/occupancy.ts";
import { type Configured, holdSettings, type Settings } from "./settings/pinned.ts";
import { openStalls } from "./watchdog/stalls.ts";
import { holdWatch } from "./watchdog/watched-work.ts";

export interface LoomOptions extends Located, Timing, Naming, Pick<Configured, "identity" | "signer" | "environment"> {
  readonly settings: Settings;
  readonly readOnly?: boolean;
  readonly onProgress?: (progress: Progress) => void;
}

/** The loops of a dispatcher, which hear wake-ups. */
export interface Listener {
  wake(planId?: string): void;
  wakeBus(planId?: string): void;
  runEnded(planId: string): void;
  /** Resolves when no step of the plan is under way. */
  settled(planId: string): Promise<void>;
  poll(bridge: string | undefined): Promise<PollReport[]>;
}

/** A loom that a dispatcher can drive. */
export interface OwnedLoom extends Loom {
  listen(listener: Listener): void;
  /** From now on nothing is begun, and calls of hooks and bridges end. */
  beginStop(): void;
}

/** Opens everything of one repository. The only place where its parts are put together. */
export function openLoom(options: LoomOptions): OwnedLoom {
  const { repo, paths, clock, ids, identity, signer, environment, readOnly = false } = options;
  const pinned = holdSettings({ root: paths.root, path: environment.PATH }, options.settings);
  const report: Reporting["report"] = (progress) => options.onProgress?.({ ...progress, at: isoTime(clock.now()) });
  const stores = storesOf(paths, (text) => report({ level: "bad", text }));
  const { saveAll, ...buses } = busesOf(options, { pinned, stores, report });
  const store = createFilePlanStore({ plansDir: paths.plans, clock });
  const stop = new AbortController();
  let listener: Listener | undefined;
  let lifecycle: Lifecycle | undefined;
  let hookServices: HookServices | undefined;
  let bridgeServices: BridgeServices | undefined;
  const loom: OwnedLoom = {
    ...{ repo, paths, clock, ids, identity, signer, environment, pinned, report, store, stores, ...buses },
    occupancy: new Occupancy({
      openedBy: (planId) => store.byId(planId)?.opened,
      stepsOver: async (planId) => listener?.settled(planId),
    }),
    stranded: new Map(),
    unrecovered: new Set(),
    shims: new ShimPool(paths.authority),
    get config() {
      return pinned.config;
    },
    get stopping() {
      return stop.signal.aborted;
    },
    stopSignal: stop.signal,
    beginStop: () => stop.abort(),
    get isDispatching() {
      return listener !== undefined;
    },
    listen(next) {
      listener = next;
    },
    wake: (planId) => listener?.wake(planId),
    wakeBus: (planId) => listener?.wakeBus(planId),
    runEnded: (planId) => listener?.runEnded(planId),
    poll: (bridge) => listener?.poll(bridge),
    texts: openTexts(paths.cacheFile, (path, text) => writeText(store, path, text)),
    gates: openGates(paths.gates),
    inbox: openInbox(paths.inbox, paths.inboxCacheFile),
    lifecycle() {
      lifecycle ??= createLifecycle(loom, loom.globalBus());
      return lifecycle;
    },
    extensions: holdExtensions(),
    get hookServices() {
      hookServices ??= hookServicesOf(loom);
      return hookServices;
    },
    get bridgeServices() {
      bridgeServices ??= bridgeServicesOf(loom);
      return bridgeServices;
    },
    circuits: createCircuits(),
    health: openHealth(paths, clock),
    ...{ upsertsWaiting: new Map<string, Set<string>>() },
    ...forgeOf(options, { pinned, store }),
    pool: openAgentPool(paths, clock, readOnly),
    watch: holdWatch(),
    stalls: openStalls(paths.stallsFile, (id) => store.byId(id)?.uid ?? statKey(inboxOf(paths, id).text) ?? ""),
    saveCaches() {
      for (const cached of [loom.texts, loom.inbox]) cached.save();
      loom.store.saveIndex();
    },
    close() {
      saveAll();
      loom.log.close();
    },
  };
  return loom;
}

/** In the order of the records, so that a power loss leaves of both the newest. */
function writeText(store: FilePlanStore, path: string, data: string): void {
  store.together((files) => files.push({ path, data }));
  store.sync();
}

/** The files of the local one are the plans', and are synced with their records. */
function forgeOf(
  options: LoomOptions,
  { pinned, store }: Pick<Configured, "pinned"> & { store: FilePlanStore },
): Publishing {
  const { paths, clock } = options;
  const { github, forge } = pinned.config;
  const reached = github && reachGitHub({ ...options, github });
  const local = localForge({
    clock,
    fileOf: (planId) => homeOf(paths, planId).changeRequest,
    write: (path, data) => void store.together((files) => files.push({ path, data })),
  });
  return { forge: forge === "github" && reached ? reached.forge : local, github: reached?.reach, claiming: new Map() };
}

interface AroundBuses extends Pick<Configured, "pinned">, Pick<Extended, "stores">, Reporting {}

function busesOf({ paths, clock, readOnly = false }: LoomOptions, { pinned, stores, report }: AroundBuses): OpenBuses {
  const root = (scope: Scope): string => (scope.planId === undefined ? paths.bus : homeOf(paths, scope.planId).bus);
  const log = createFileLog({ root, clock, readOnly });
  const onProblem = (planId: string | undefined, message: string): void =>
    report({ ...scopeOf(planId), level: "warn", text: `a bus could not be saved: ${message}` });
  return openBuses({ paths, log, clock, stores, readOnly, onProblem, limits: () => pinned.config.bus });
}
