import { rmSync } from "node:fs";
import { openForReading } from "../../dispatcher/commands/open-for-reading.ts";
import { runDispatcher } from "../../dispatcher/daemon.ts";
import { type Paths, pathsOf } from "../../dispatcher/paths.ts";
import { type PlanDetail, readPlanDetail } from "../../dispatcher/report/read.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { Output } from "../output.ts";
import { version } from "../setup/version.ts";
import { passGate } from "./demo-gate.ts";
import { DEMO_PLAN, makeDemoRepository } from "./demo-repository.ts";
import { type DemoResult, demoJson, succeeded, summaryLines } from "./demo-summary.ts";
import { openDemoView } from "./demo-view.ts";

export interface DemoOptions {
  /** Where to make the repository; must be new or empty. Without it: a folder among the temporary ones. */
  readonly dir?: string;
  /** False: the repository is removed at the end. */
  readonly keep: boolean;
  /** Stops at the plan, and goes on when a person says yes. */
  readonly gate: boolean;
  readonly json: boolean;
  readonly out: Output;
}

/** Makes a throw-away repository, lets the demo agent work through a real plan in it, and tells what came of it. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const { out } = options;
  const began = systemClock.now();
  const repo = await makeDemoRepository(options.dir, options.gate);
  const dir = repo.root;
  out.line(`${out.paint("bold", "A new repository with a small program and a plan for it:")} ${dir}`);
  out.line();
  const paths = pathsOf(repo);
  await watchDispatch(paths, options);
  const read = (): Promise<PlanDetail> => readDetail(dir);
  if (options.gate && (await passGate({ paths, out, read }))) await watchDispatch(paths, options);
  const detail = await read();
  const result: DemoResult = { dir, kept: options.keep, detail, durationMs: systemClock.now() - began };
  out.data(demoJson(result));
  for (const line of summaryLines(result, out.paint)) out.line(line);
  if (!options.keep) rmSync(dir, { recursive: true, force: true });
  return succeeded(detail) ? 0 : 1;
}

async function watchDispatch(paths: Paths, { json, out }: DemoOptions): Promise<void> {
  const quiet = { progress: () => undefined, close: () => undefined };
  const view = json ? quiet : openDemoView({ paths, out, now: systemClock.now });
  try {
    await dispatch(paths.root, view.progress);
  } finally {
    view.close();
  }
}

/** Works until nothing is left to do. A signal ends it in order, and what is done so far is told. */
async function dispatch(cwd: string, onProgress: Parameters<typeof runDispatcher>[0]["onProgress"]): Promise<void> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  try {
    await runDispatcher({
      cwd,
      version: version(),
      untilIdle: true,
      signal: stop.signal,
      ...(onProgress ? { onProgress } : {}),
    });
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

async function readDetail(cwd: string): Promise<PlanDetail> {
  const loom = await openForReading({ cwd });
  try {
    return await readPlanDetail(loom, DEMO_PLAN);
  } finally {
    loom.close();
  }
}
