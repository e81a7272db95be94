import type { AgentEvent, AgentMessage, AgentRequest, AgentRun, LiveRun, TalkingRun } from "../port.ts";
import { outputLines } from "../runner/output-lines.ts";
import { endSurvivors, startRun } from "../runner/runner.ts";
import { CUT, THINNED } from "../runner/shim-output.ts";
import type { AdapterStyle, Dialogue, Heard } from "./dialogue.ts";

const NO_RUN: AgentRun = {
  send: () => false,
  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent> {
    yield* [];
  },
};

/** The common part of all adapters: starts the run at once, tells what it prints, and leaves nothing of it alive. */
export function runAdapter(request: AgentRequest, style: AdapterStyle): AgentRun {
  if (request.signal.aborted) return NO_RUN;
  const { dialogue } = style;
  const live = startRun({
    runDir: request.runDir,
    runId: request.runId,
    cwd: request.cwd,
    invocation: style.invocation,
    stdin: style.stdin ?? request.prompt,
    env: { ...request.env, ...style.env },
    limits: request.limits,
    ...(dialogue.opening === undefined ? {} : { opening: dialogue.opening }),
    ...(dialogue.rpc ? { rpc: true } : {}),
    ...(request.wrapper === undefined ? {} : { wrapper: request.wrapper }),
  });
  const talk: Talk = { live, dialogue, cut: false };
  const events = eventsOfRun(talk, request);
  return { send: (message) => send(talk, message), [Symbol.asyncIterator]: () => events };
}

interface Talk {
  readonly live: TalkingRun;
  readonly dialogue: Dialogue;
  /** Its output is not kept any more, so nobody would learn what it answers. */
  cut: boolean;
}

function send({ live, dialogue, cut }: Talk, message: AgentMessage): boolean {
  const lines = cut ? undefined : dialogue.send?.(message);
  if (lines === undefined) return false;
  live.write(lines);
  return true;
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

function eventsOfRun(talk: Talk, request: AgentRequest): AsyncGenerator<AgentEvent> {
  const { live, dialogue } = talk;
  // Not in the generator: an abort before the first event must stop the run as well.
  const abort = stopOnAbort(live, request.signal);
  let over = false;
  async function* events(): AsyncGenerator<AgentEvent> {
    try {
      for await (const line of outputLines(live.runDir, live.ended)) yield* hear(talk, line);
      yield* dialogue.close?.() ?? [];
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

function hear(talk: Talk, line: string): readonly AgentEvent[] {
  const { live, dialogue } = talk;
  if (line === CUT) talk.cut = true;
  const heard: Heard = line === CUT || line === THINNED ? cutOff(talk) : dialogue.read(line);
  if (heard.write) live.write(heard.write);
  if (heard.end) live.end();
  return heard.events;
}

/** A program that talks and of which nothing is heard any more will never be understood: it is told that this was all. */
function cutOff({ dialogue, cut }: Talk): Heard {
  const message = "The program printed more than limits.maxOutput; the rest is not kept.";
  return { events: [{ type: "error", kind: "other", message }], end: cut && dialogue.opening !== undefined };
}
