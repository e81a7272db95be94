import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentAdapter, AgentEvent, AgentRequest, RunLimits } from "../../../src/agents/port.ts";
import { processesOfRun } from "../../../src/kernel/system/process-tree.ts";
import { type Model, startModel } from "../model/model.ts";
import type { Script } from "../model/script.ts";
import type { ProgramName } from "./programs.ts";
import { isolatedHome } from "./programs-home.ts";

/** A repository, a home and a model of its own for the real program of one test. */
export interface RealBench {
  readonly model: Model;
  readonly home: string;
  readonly cwd: string;
  request(more?: Partial<AgentRequest>): AgentRequest;
  close(): Promise<void>;
}

const LIMITS: RunLimits = { deadlineMs: 90_000, silenceMs: 90_000, maxOutputBytes: 16 * 1024 ** 2, graceMs: 3000 };

let runs = 0;

/** Prepares all that a run of a real program needs, outside of prloom's own folders. */
export async function realBench(program: ProgramName, script: Script): Promise<RealBench> {
  const root = mkdtempSync(join(tmpdir(), `prloom-real-${program}-`));
  const model = await startModel(script);
  const cwd = join(root, "work");
  mkdirSync(cwd);
  execFileSync("git", ["init", "-q", "-b", "main", cwd]);
  const { home, env, config } = isolatedHome(program, model.url, join(root, "home"));
  return {
    model,
    home,
    cwd,
    request({ env: extra = {}, ...more } = {}) {
      runs += 1;
      return {
        stage: "worker",
        prompt: "Do it.",
        cwd,
        runDir: join(root, `run-${runs}`),
        runId: `real-${program}-${process.pid}-${runs}`,
        env: { ...env, ...extra },
        limits: LIMITS,
        sandboxed: true,
        signal: new AbortController().signal,
        ...(config.model === undefined ? {} : { model: config.model }),
        ...more,
      };
    },
    async close() {
      await model.close();
      // Something that just ended may still be writing there.
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** All events of a run, and what is left of it: nothing. `watch` may act on an event when it comes. */
export async function runToEnd(
  adapter: AgentAdapter,
  request: AgentRequest,
  watch: (event: AgentEvent, send: (id: string, text: string) => boolean) => void = () => undefined,
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  const run = adapter.start(request);
  for await (const event of run) {
    events.push(event);
    watch(event, (id, text) => run.send({ id, text }));
  }
  const left = processesOfRun(request.runId, []);
  if (left.length > 0) throw new Error(`${left.length} processes of the run still live`);
  return events;
}

/** The events of one type. */
export function only<T extends AgentEvent["type"]>(
  events: readonly AgentEvent[],
  type: T,
): Extract<AgentEvent, { type: T }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
}

/** What a run told that it spent, in sum. */
export function spent(events: readonly AgentEvent[]): { input: number; output: number; cached: number; usd: number } {
  const sum = { input: 0, output: 0, cached: 0, usd: 0 };
  for (const { input, output, cached = 0, costUsd = 0 } of only(events, "usage")) {
    sum.input += input;
    sum.output += output;
    sum.cached += cached;
    sum.usd += costUsd;
  }
  return sum;
}
