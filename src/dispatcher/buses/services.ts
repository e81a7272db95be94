import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { BridgeServices } from "../../bridges/services.ts";
import type { HookServices } from "../../hooks/services.ts";
import { openStores, type StateRef, type StateStores } from "../../hooks/state/state-stores.ts";
import { isoTime } from "../../kernel/clock.ts";
import { appendOwn } from "../../kernel/own-file.ts";
import type { Naming, Reporting, Stopping, Waking } from "../capabilities.ts";
import type { Gated } from "../gates/gate-store.ts";
import { listPlans, readPlan } from "../intake/plan-reading.ts";
import { homeOf, type Located, type Paths } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Pooled } from "../runs/agent-pool.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Watched } from "../watchdog/stalls.ts";
import type { WorkEntry } from "../watchdog/watched-work.ts";
import type { Buses } from "./buses.ts";
import type { Extended } from "./extensions.ts";

/** The memory of plugins and bridges, a file for each. */
export function storesOf(paths: Paths, onProblem: (text: string) => void): StateStores {
  return openStores({
    fileOf: (ref) => stateFile(paths, ref),
    pendingDir: join(paths.pluginState, ".pending"),
    onProblem: ({ path, keptAs, message }) => onProblem(`${path} cannot be read and was kept as ${keptAs}: ${message}`),
  });
}

function stateFile(paths: Paths, ref: StateRef): string {
  if (ref.kind === "global") return join(paths.pluginState, `${ref.plugin}.json`);
  if (ref.kind === "plan") return join(homeOf(paths, ref.planId).pluginState, `${ref.plugin}.json`);
  const bus = ref.planId === undefined ? paths.bus : homeOf(paths, ref.planId).bus;
  return join(bus, "state", `bridge.${ref.name}.json`);
}

type ServicesAtWork = Located &
  Configured &
  Records &
  Gated &
  Buses &
  Pick<Extended, "stores"> &
  Watched &
  Reporting &
  Stopping;

/** What hooks and bridges both get of the program around them. */
function surroundings(loom: ServicesAtWork) {
  return {
    repoRoot: loom.repo.root,
    clock: loom.clock,
    stores: loom.stores,
    stopSignal: loom.stopSignal,
    readPlan: async (planId: string) => readPlan(loom, planId),
    listPlans: async (query?: Parameters<typeof listPlans>[1]) => listPlans(loom, query),
    report: (line: Parameters<Reporting["report"]>[0]) => loom.report(line),
    keepStack: (what: string, error: unknown) => keepStack(loom, what, error),
    entering: (label: string) => loom.watch.entering(label),
    left: (token: unknown) => loom.watch.left(token as WorkEntry),
  };
}

/** The abilities that plugins have beyond their event. */
export function hookServicesOf(loom: ServicesAtWork & Naming & Pooled & AtWork & Waking): HookServices {
  return {
    ...surroundings(loom),
    timeoutMs: () => loom.config.bus.hookTimeoutMs,
    async runAgent(planId, prompt, { signal, ...options }) {
      // A command that only reads opens the same repository, and is quick because it loads nothing that starts agents.
      const { runPluginAgent } = await import("../runs/plugin-agent.ts");
      return runPluginAgent(loom, planId, { prompt, options, signal });
    },
  };
}

/** The same for bridges. */
export function bridgeServicesOf(loom: ServicesAtWork & Configured & Waking): BridgeServices {
  return {
    ...surroundings(loom),
    bridgeTimeoutMs: () => loom.config.bus.bridgeTimeoutMs,
    maxAgeMs: () => loom.config.bus.maxAgeMs,
    retryLimits: () => ({ minMs: loom.config.bus.retryMinMs, maxMs: loom.config.bus.retryMaxMs }),
    findPlan(name) {
      const record = "id" in name ? loom.store.byId(name.id) : loom.store.bySource(name.source);
      return record?.deleted ? undefined : record?.id;
    },
    planBus: (planId) => loom.bus(planId),
    wakePlan: (planId) => loom.wakeBus(planId),
    planFacts(planId) {
      const record = loom.store.byId(planId);
      return {
        ...(record?.worktreeReady && record.worktree !== undefined ? { worktree: record.worktree } : {}),
        ...(record?.changeRequest ? { changeRequestRef: record.changeRequest.ref } : {}),
      };
    },
  };
}

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_STACK = 10_000;

/** Writes down where a plugin or a bridge threw; a file that has grown long starts anew. Never throws itself. */
function keepStack(
  { paths, clock }: Located & Pick<Records, "clock">,
  what: string,
  error: unknown,
): string | undefined {
  const file = paths.pluginErrors;
  try {
    const stack = error instanceof Error ? error.stack : undefined;
    if (typeof stack !== "string") return undefined;
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_FILE_BYTES) rmSync(file);
    appendOwn(file, `${isoTime(clock.now())} ${what}\n${stack.slice(0, MAX_STACK)}\n\n`);
    return file;
  } catch {
    // What is told of the error does not depend on it.
    return undefined;
  }
}
