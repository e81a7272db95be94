import { rmSync } from "node:fs";
import { join } from "node:path";
import { probeSandbox } from "../agents/sandbox/probe.ts";
import type { BuiltinBridge } from "../bridges/contract.ts";
import { localBridge } from "../bridges/local/bridge.ts";
import { notifyBridge } from "../bridges/notify/bridge.ts";
import { boardsIn } from "../config/schema/trigger-schema.ts";
import { describeThrown } from "../hooks/calls/thrown.ts";
import { runStartupHooks } from "../hooks/plan-hooks.ts";
import { crashPoint } from "../kernel/crash-point.ts";
import { messageOf } from "../kernel/errors.ts";
import { listDir } from "../kernel/files.ts";
import { hasForeignCode } from "../kernel/foreign-code.ts";
import { checkOwn } from "../kernel/own-file.ts";
import { tellingUsage } from "./at-github/github-usage.ts";
import { issueGone } from "./at-github/issue-gone.ts";
import type { Bridging } from "./buses/bridging.ts";
import type { BusesAtWork } from "./buses/bus-loop.ts";
import type { Buses } from "./buses/buses.ts";
import { type Extended, loadExtensions, withHook } from "./buses/extensions.ts";
import { healthFile } from "./buses/health.ts";
import { hookScopeGlobal } from "./buses/hook-scope.ts";
import { coreBridge } from "./buses/routing.ts";
import type { Publishing, Reporting } from "./capabilities.ts";
import type { Located } from "./paths.ts";
import { changeSeen } from "./publishing/change-seen.ts";
import { closeForBridge, mergeForBridge } from "./publishing/forge-actions.ts";
import { blockPlan, type Records } from "./records.ts";
import type { Pooled } from "./runs/agent-pool.ts";
import { keepPin } from "./settings/keep-pin.ts";
import type { Configured } from "./settings/pinned.ts";
import { stallWords, type Watched } from "./watchdog/stalls.ts";
import { blockerOf, clearNote, readNote, startWatchdog, type Watchdog } from "./watchdog/watchdog.ts";

/** Writes down how agents are enclosed on this machine, for `prloom status`; nothing waits for that. */
export async function tellEnclosure(loom: Configured & Pooled & Reporting): Promise<void> {
  // A machine that has no process left for the question is asked again by the first run.
  const probe = await probeSandbox().catch(() => undefined);
  if (probe === undefined) return;
  if (probe.works) loom.pool.enclosed("sandbox");
  else loom.pool.enclosed("none", probe.why);
  const isOpen = Object.values(loom.config.agents).some(({ sandbox }) => sandbox === "auto");
  if (!probe.works && isOpen) {
    const text = `agents run with your rights, there is no sandbox: ${probe.why} (\`prloom doctor\` says what to do)`;
    loom.report({ level: "warn", text });
  }
}

/** Loads plugins and bridges, brings their memory up to date, and calls onStartup. Whatever fails here stops the start. */
export async function startExtensions(loom: BusesAtWork & Publishing): Promise<void> {
  const builtin = [
    coreBridge(loom, hookScopeGlobal(loom)),
    localBridge({
      log: loom.log,
      hasPlan: (planId) => loom.store.byId(planId) !== undefined,
      merge: (planId, method, sha) => mergeForBridge(loom, planId, { method, sha }),
      close: (planId) => closeForBridge(loom, planId),
      authors: () => loom.config.authors,
    }),
    notifyBridge({
      notify: loom.config.notify,
      environment: loom.environment,
      report: (progress) => loom.report(progress),
      clock: loom.clock,
    }),
    ...(await githubOf(loom)),
  ];
  loom.extensions.take(await loadExtensions(loom.repo.root, loom.config, builtin));
  keepPin(loom);
  const plugins = withHook(loom.extensions.globalPlugins, "onStartup");
  if (plugins.length === 0) return;
  const record = `startup-${loom.ids.ulid(loom.clock.now())}`;
  await runStartupHooks(loom.hookServices, hookScopeGlobal(loom), { plugins, record });
}

/** Only where the config names a repository there: loading it takes time. */
async function githubOf(loom: BusesAtWork & Publishing): Promise<BuiltinBridge[]> {
  const { config, github, clock } = loom;
  if (!github) return [];
  const { githubBridge } = await import("../github/bridge/bridge.ts");
  const { boardBridge } = await import("../github/board/bridge.ts");
  const { usageOf } = await import("../github/usage.ts");
  const access = await github();
  const bridge = githubBridge(access, {
    ...{ clock, hasPulls: config.forge === "github", rerun: config.github?.rerun ?? false },
    ...(config.github ? { shownAfterMs: config.github.shownAfterMs } : {}),
    writesBodies: () => loom.config.writeback.body,
    merge: (planId, asked) => mergeForBridge(loom, planId, asked),
    close: (planId) => closeForBridge(loom, planId),
    onPull: (planId, change) => changeSeen(loom, planId, change),
    isQueued: (planId) => loom.store.byId(planId)?.published?.queued !== undefined,
    onGone: (source, how) => issueGone(loom, source, how),
  });
  const boards = boardsIn(config.triggers).map((board) =>
    boardBridge(access, { board, clock, trustBoard: config.github?.trustBoard ?? false }),
  );
  return [bridge, ...boards].map((one) => tellingUsage(loom, one, (now) => usageOf(access, now)));
}

/**
 * What plugins wrote into the global memory from the buses of plans right before a kill is in those buses. Done before
 * the watchdog comes: reading a million records takes a while, and no plan is to blame for it.
 */
export function restoreMemory(loom: Buses & Extended & Located & Reporting): void {
  checkGlobalFiles(loom);
  loom.globalBus();
  for (const planId of loom.stores.pendingPlans()) {
    try {
      loom.bus(planId);
    } catch (error) {
      // Its loop tells it, and what it knows is asked for again at the next start.
      loom.report({ planId, level: "bad", text: `its bus cannot be read: ${messageOf(error)}` });
      loom.stores.markPending(planId);
    }
  }
  loom.stores.flush({ sync: true });
}

/** Every plan needs the global bus, what plugins keep for all and the sum of what was spent, and would be blocked for a file of those: it stops the start. */
function checkGlobalFiles({ paths }: Located): void {
  for (const dir of [paths.bus, join(paths.bus, "state"), paths.pluginState, join(paths.authority, "spending")])
    for (const name of listDir(dir)) if (/\.jsonl?$/.test(name)) checkOwn(join(dir, name));
}

/**
 * A promise that a plugin did not wait for, or a timer that it left, fails outside of any call. That is the plugin's
 * fault and must not end the work of the others; without plugins or bridges it is ours, and ends the process as usual.
 */
export function outliveStrays(loom: Reporting): () => void {
  if (!hasForeignCode()) return () => undefined;
  const before = process.listeners("uncaughtException");
  const tell = (error: unknown): void =>
    loom.report({ level: "bad", text: `a plugin or bridge failed outside of its call: ${describeThrown(error)}` });
  process.removeAllListeners("uncaughtException").on("uncaughtException", tell);
  return () => {
    process.off("uncaughtException", tell);
    for (const listener of before) process.on("uncaughtException", listener);
  };
}

/** A loop that is blocked is ended from outside; what the last one was ended for is told once. */
export function startOnWatch(loom: Located & Records & Bridging & Watched & Reporting): Watchdog {
  const noteFile = join(loom.paths.authority, "watchdog.json");
  const note = readNote(noteFile);
  if (note) {
    const seconds = Math.round(note.blockedMs / 1000);
    const text = `the last dispatcher was ended by its watchdog: ${blockerOf(note)} blocked it for ${seconds} s`;
    loom.report({ level: "bad", text });
    const [, bridge] = /^poll:(.+)$/.exec(note.label) ?? [];
    // Polls are not counted, so it would end every dispatcher.
    if (bridge !== undefined) loom.health.blocked(bridge);
    else loom.stalls.count(note);
    crashPoint("watchdog:counted");
    clearNote(noteFile);
  }
  for (const [planId, stall] of loom.stalls.held()) {
    const record = loom.store.byId(planId);
    if (!record || record.deleted || record.blocked) continue;
    try {
      blockPlan(loom, planId, { ...stallWords(planId, stall), cause: "step" });
    } catch (error) {
      // It is left alone all the same, and the others have nothing to do with it.
      loom.report({ planId, level: "bad", text: `could not be blocked: ${messageOf(error)}` });
    }
  }
  // What an earlier dispatcher knew about its bridges is no longer true.
  rmSync(healthFile(loom.paths), { force: true });
  const watchdog = startWatchdog({ noteFile });
  loom.watch.watchWith(watchdog);
  return watchdog;
}
