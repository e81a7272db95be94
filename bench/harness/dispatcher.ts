import { setTimeout as sleep } from "node:timers/promises";
import type { PollResult } from "../../src/bridges/contract.ts";
import type { BusEvent } from "../../src/bus/types.ts";
import { callDaemon, readDaemonInfo } from "../../src/dispatcher/commands/control.ts";
import { runDispatcher } from "../../src/dispatcher/daemon.ts";
import type { Project, ProjectOptions } from "./project.ts";

/** How the plugins and bridges of a project, which are loaded as modules, talk to the benchmark around them. */
export interface Channel {
  /** What the bridge `bench` brings with its next poll. */
  poll(): PollResult;
  /** A plugin was called with an event. */
  heard(event: BusEvent): void;
}

const CHANNEL = "prloomBench";

/** A global bridge and a plugin in each scope that leave everything to the channel. */
export const CHANNEL_MODULES: ProjectOptions = {
  config: {
    globalBridges: { bench: { module: "./prloom/bridge.mjs", pollEvery: "1h" } },
    globalPlugins: { listener: { module: "./prloom/global.mjs" } },
    plugins: { planListener: { module: "./prloom/plan.mjs" } },
  },
  modules: {
    bridge: `export default { name: "bench", events: () => globalThis.${CHANNEL}.poll() };\n`,
    global: `export default () => ({ onGlobalEvent(event) { globalThis.${CHANNEL}.heard(event); } });\n`,
    plan: `export default () => ({
  onEvent(event, ctx) {
    globalThis.${CHANNEL}.heard(event);
    ctx.markEventHandled(event.id);
  },
});\n`,
  },
};

/** A dispatcher at work in this process. */
export interface Running {
  /** Sends it a command through its socket, as the CLI does. */
  send(command: string, args: Record<string, unknown>): Promise<void>;
}

/** Lets a dispatcher see the plans for the first time, and end: the next one starts with nothing to write down. */
export async function letDispatcherSee(project: Project, channel: Channel): Promise<void> {
  const shared = globalThis as Record<string, unknown>;
  shared[CHANNEL] = channel;
  const { signal } = new AbortController();
  await runDispatcher({ cwd: project.root, version: "bench", untilIdle: true, signal });
  delete shared[CHANNEL];
}

/** Runs a dispatcher over the project while `work` goes on. */
export async function withDispatcher<T>(
  project: Project,
  channel: Channel,
  work: (running: Running) => Promise<T>,
): Promise<T> {
  const shared = globalThis as Record<string, unknown>;
  const stop = new AbortController();
  const failed = Promise.withResolvers<never>();
  shared[CHANNEL] = channel;
  const running = runDispatcher({
    cwd: project.root,
    version: "bench",
    untilIdle: false,
    signal: stop.signal,
    // Nothing in a benchmark is meant to go wrong, and a benchmark that waits for it would wait forever.
    onProgress: ({ level, text }) => {
      if (level === "bad" || level === "warn") failed.reject(new Error(`the dispatcher of a benchmark: ${text}`));
    },
  });
  const ended = running.then(() => {
    throw new Error("the dispatcher of a benchmark ended by itself");
  });
  const trouble = Promise.race([failed.promise, ended]);
  try {
    const info = await Promise.race([trouble, isUp(project)]);
    const send = async (command: string, args: Record<string, unknown>): Promise<void> => {
      if ((await callDaemon(info, { command, args })) === "no-dispatcher") throw new Error("no dispatcher answered");
    };
    return await Promise.race([trouble, work({ send })]);
  } finally {
    trouble.catch(() => undefined);
    stop.abort();
    await running;
    delete shared[CHANNEL];
  }
}

async function isUp({ paths }: Project): Promise<NonNullable<ReturnType<typeof readDaemonInfo>>> {
  for (;;) {
    const info = readDaemonInfo(paths);
    if (info) return info;
    await sleep(5);
  }
}
