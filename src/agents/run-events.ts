import { outputLines } from "./output-lines.ts";
import type { AgentEvent, AgentRequest, Invocation, LiveRun } from "./port.ts";
import { endSurvivors, startRun } from "./runner.ts";

/** What is particular to one kind of agent program. */
export interface AdapterStyle {
  readonly invocation: Invocation;
  /** What the program reads; the prompt when absent. */
  readonly stdin?: string;
  /** Added to the environment that the request gives. */
  readonly env?: Readonly<Record<string, string>>;
  /** What one line of output tells. */
  eventsOf(line: string): readonly AgentEvent[];
}

async function* noEvents(): AsyncGenerator<AgentEvent> {
  yield* [];
}

/** The common part of all adapters: starts the run at once, tells what it prints, and leaves nothing of it alive. */
export function runAdapter(request: AgentRequest, style: AdapterStyle): AsyncIterable<AgentEvent> {
  if (request.signal.aborted) return noEvents();
  const live = startRun({
    runDir: request.runDir,
    runId: request.runId,
    cwd: request.cwd,
    invocation: style.invocation,
    stdin: style.stdin ?? request.prompt,
    env: { ...request.env, ...style.env },
    limits: request.limits,
    ...(request.pidNamespace === undefined ? {} : { pidNamespace: request.pidNamespace }),
  });
  return eventsOfRun(live, request, style);
}

/** Stops the run when the request is aborted; `settled` then waits until all of it is gone. */
function stopOnAbort(live: LiveRun, signal: AbortSignal): { settled(): Promise<void> } {
  let stopping: Promise<void> | undefined;
  const stop = (): void => {
    stopping = live.stop();
    // Whoever iterates gets the failure from `settled`; until then it must not count as unhandled.
    stopping.catch(() => undefined);
  };
  signal.addEventListener("abort", stop, { once: true });
  return {
    settled: async () => {
      signal.removeEventListener("abort", stop);
      await stopping;
    },
  };
}

function eventsOfRun(live: LiveRun, request: AgentRequest, style: AdapterStyle): AsyncGenerator<AgentEvent> {
  const abort = stopOnAbort(live, request.signal);
  let over = false;
  async function* events(): AsyncGenerator<AgentEvent> {
    try {
      for await (const line of outputLines(live.runDir, live.ended)) yield* style.eventsOf(line);
      const exit = await live.ended;
      await abort.settled();
      if (exit === "interrupted") await endSurvivors(live.runDir, { graceMs: request.limits.graceMs });
      over = true;
      if (exit !== "interrupted") yield { type: "done", exit };
    } finally {
      await abort.settled();
      if (!over) await live.stop();
    }
  }
  return events();
}
