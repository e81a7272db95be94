import { takeTurns } from "../../kernel/turns.ts";
import type {
  AgentEvent,
  AgentMessage,
  AgentRequest,
  AgentRun,
  LiveRun,
  Overseer,
  Permission,
  Permit,
  TalkingRun,
  ToldAnswer,
} from "../port.ts";
import { endSurvivors, startRun } from "../runner/runner.ts";
import { CUT } from "../shim/output.ts";
import type { AdapterStyle, Ask, Dialogue, Heard, Tell } from "./dialogue.ts";
import { permission, usualPermit } from "./permit.ts";

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
    ...(request.wrapper === undefined ? {} : { wrapper: request.wrapper }),
    ...(request.shims === undefined ? {} : { shims: request.shims }),
    onFullDisk: () => request.onFullDisk?.(),
  });
  const { overseer } = request;
  const permit = overseer?.permit ?? request.permit ?? usualPermit(request.sandboxed ?? false);
  const talk: Talk = { live, dialogue, permit, overseer };
  const events = eventsOfRun(talk, request);
  return { send: (message) => send(talk, message), [Symbol.asyncIterator]: () => events };
}

interface Talk {
  readonly live: TalkingRun;
  readonly dialogue: Dialogue;
  readonly permit: Permit;
  readonly overseer: Overseer | undefined;
}

function send({ live, dialogue }: Talk, message: AgentMessage): boolean {
  const lines = dialogue.send?.(message);
  if (lines === undefined) return false;
  live.write(lines);
  return true;
}

/** Stops the run when the request is aborted; `settled` then waits until all of it is gone. */
function stopOnAbort(live: LiveRun, signal: AbortSignal): { settled(): Promise<void> } {
  let stopping: Promise<void> | undefined;
  const stop = (): void => {
    stopping = live.stop();
    // The consumer gets the failure from `settled`; until then it must not count as unhandled.
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
      for await (const line of live.lines()) {
        // Lines that are there already come without a pause, as many as the program likes.
        await takeTurns();
        yield* obey(talk, line === CUT ? CUT_OFF : dialogue.read(line));
      }
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

const CUT_OFF: Heard = {
  events: [
    { type: "error", kind: "other", message: "The program printed more than limits.maxOutput; the rest is not kept." },
  ],
};

async function* obey(talk: Talk, { write, end, policyEnd, events, ask, tell }: Heard): AsyncGenerator<AgentEvent> {
  if (write) talk.live.write(write);
  if (end) talk.live.end();
  if (policyEnd !== undefined) talk.live.endByPolicy(policyEnd);
  for (const event of events) {
    // One line may tell of thousands.
    await takeTurns();
    if (isLongWait(event)) talk.live.endRefused();
    yield event;
  }
  if (ask) yield* obey(talk, await permitOrNot(talk, ask));
  if (tell) yield* obey(talk, await told(talk, tell));
}

/** A program that waits for longer holds up what else could run: prloom waits in its place. */
const MAX_WAIT_MS = 120_000;

function isLongWait(event: AgentEvent): boolean {
  return event.type === "error" && event.retrying === true && (event.retryAfterMs ?? 0) > MAX_WAIT_MS;
}

async function permitOrNot({ live, permit }: Talk, { request, answer }: Ask): Promise<Heard> {
  // A run that has ended needs no answer, and its end must not wait for one.
  const over = live.ended.then((): Permission => ({ allow: false, reason: "The run has ended." }));
  const given = await Promise.race([permission(permit, request), over]);
  if (!given.allow && given.endRun) live.endByPolicy(given.reason);
  return answer(given);
}

const NO_ANSWER: ToldAnswer = {};

async function told({ live, overseer }: Talk, { told, answer }: Tell): Promise<Heard> {
  const over = live.ended.then(() => NO_ANSWER);
  const heard = overseer?.tell(told).catch(() => NO_ANSWER) ?? NO_ANSWER;
  return answer(await Promise.race([heard, over]));
}
