import { setTimeout as sleep } from "node:timers/promises";
import { liveDaemon } from "../../dispatcher/commands/live-daemon.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { hasBus, homeOf, pathsOf } from "../../dispatcher/paths.ts";
import { askOthers, type OutsideAnswers, readStatus, type StatusReport } from "../../dispatcher/report/read.ts";
import { awaitedRun } from "../../dispatcher/runs/run-record.ts";
import { openRepository, type Repository } from "../../git/repository.ts";
import type { Call } from "../output.ts";
import { reading } from "../plans.ts";
import { changesAsData, changesAsLines } from "./changed-plans.ts";
import { FolderWatch } from "./folder-watch.ts";
import type { StatusOptions, StatusView } from "./status-lines.ts";

/** Agents write many lines a second; people read fewer. */
const LEAST_PAUSE_MS = 200;
/** Looking takes a fifth of the time at most, however many plans there are. */
const PAUSES_PER_LOOK = 4;
/** That an agent has become silent is told by no event. */
const LOOK_ANYWAY_MS = 30_000;

/** Shows all plans, and what changes as it happens, until interrupted. */
export async function watchStatus(call: Call, options: StatusOptions): Promise<number> {
  const repo = await openRepository(call.cwd);
  const interrupted = Promise.withResolvers<void>();
  let isOver = false;
  let news = Promise.withResolvers<void>();
  const stop = (): void => {
    isOver = true;
    interrupted.resolve();
    news.resolve();
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  const watch = new FolderWatch(() => news.resolve());
  const view = await viewOf(call, options);
  try {
    const asked = await askOthers(pathsOf(repo));
    while (!isOver) {
      const began = performance.now();
      const { report, folders, now } = await look({ ...call, repo }, asked.machine);
      view.show(report, now);
      if (watch.follow(folders)) continue;
      const took = performance.now() - began;
      const anyway = setTimeout(() => news.resolve(), LOOK_ANYWAY_MS);
      await news.promise;
      clearTimeout(anyway);
      const pause = sleep(Math.max(LEAST_PAUSE_MS, PAUSES_PER_LOOK * took), undefined, { ref: false });
      await Promise.race([pause, interrupted.promise]);
      news = Promise.withResolvers<void>();
    }
  } finally {
    watch.close();
    view.close();
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
  return 0;
}

async function viewOf(call: Call, options: StatusOptions): Promise<StatusView> {
  if (call.output.json) return changesAsData();
  // What draws in a terminal takes long to load.
  return call.output.terminal
    ? (await import("./status-screen.ts")).statusScreen(call.output, options)
    : changesAsLines(call.output, options);
}

interface Seen {
  readonly report: StatusReport;
  readonly now: number;
  /** Where the next change will show. */
  readonly folders: readonly string[];
}

/** Opens everything anew: only a fresh look at the buses tells what waits on them. */
async function look(call: Call & { readonly repo: Repository }, machine: OutsideAnswers["machine"]): Promise<Seen> {
  const daemon = await liveDaemon(pathsOf(call.repo));
  return reading(call, async (loom) => ({
    report: await readStatus(loom, { daemon, machine }),
    now: loom.clock.now(),
    folders: foldersOf(loom),
  }));
}

function foldersOf(loom: Loom): string[] {
  const { paths, store } = loom;
  // The others lie in the inbox.
  const { records } = store.list({ status: ["active", "review", "queued"] });
  const ofPlans = records.flatMap((record) => {
    const home = homeOf(paths, record.id);
    const run = awaitedRun(record);
    return [home.home, ...(hasBus(loom, record.id) ? [home.bus] : []), ...(run === undefined ? [] : [home.run(run)])];
  });
  return [paths.authority, paths.plans, paths.inbox, ...ofPlans];
}
