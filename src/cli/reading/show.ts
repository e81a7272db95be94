import { existsSync } from "node:fs";
import type { BusEvent } from "../../bus/types.ts";
import { liveDaemon } from "../../dispatcher/commands/live-daemon.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { AGENT_MESSAGE, type MessageState, readMessages } from "../../dispatcher/messages/messages.ts";
import { homeOf } from "../../dispatcher/paths.ts";
import { type PlanDetail, readPlanDetail } from "../../dispatcher/report/read.ts";
import { portRange } from "../../dispatcher/worktree/ports.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { sha256 } from "../../kernel/ids.ts";
import type { Call } from "../output.ts";
import { reading, suggesting } from "../plans.ts";
import { showDetail, type Words } from "../render/detail.ts";

/** Shows everything about one plan. */
export async function show(call: Call, plan: string): Promise<number> {
  const { detail, ...around } = await suggesting(call, plan, () =>
    reading(call, async (loom) => ({
      detail: await readPlanDetail(loom, plan),
      home: homeOf(loom.paths, plan).home,
      now: loom.clock.now(),
      ...(await wordsOf(loom, plan)),
    })),
  );
  const { messages, unreadable } = around;
  const told = unreadable === undefined ? detail : { ...detail, problems: [...detail.problems, unreadable] };
  call.output.data({ ...dataOf(told, around.home), messages });
  if (!call.output.json) showDetail(call.output, told, around);
  return 0;
}

interface AllWords {
  readonly unread: readonly Words[];
  /** Those to its agent, and where they are. */
  readonly messages: readonly MessageState[];
  /** Why that cannot be told of all of them. */
  readonly unreadable?: string;
}

async function wordsOf(loom: Loom, plan: string): Promise<AllWords> {
  const events = unreadEvents(loom, plan);
  const [sent, said] = [events.filter(isMessage), events.filter((event) => !isMessage(event))];
  const fresh = sent.map(
    (event): MessageState => ({
      id: event.id,
      author: authorOf(event),
      text: event.body,
      state: "waits",
    }),
  );
  const unread = said.map((event) => ({ author: authorOf(event), body: event.body }));
  const isDispatched = (await liveDaemon(loom.paths)) !== undefined;
  try {
    return { unread, messages: [...readMessages(loom, plan, isDispatched), ...fresh] };
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
    return { unread, messages: fresh, unreadable: `${error.message} ${error.hint}` };
  }
}

/** More messages than wait for one run. */
const MAX_UNREAD = 1000;

/** What people said that no dispatcher has looked at yet, or that waits for triage. */
function unreadEvents(loom: Loom, plan: string): BusEvent[] {
  if (!existsSync(homeOf(loom.paths, plan).bus)) return [];
  const bus = loom.bus(plan);
  const fresh = bus.newEvents(MAX_UNREAD).map(({ event }) => event);
  return [...new Map([...bus.pendingTriage(), ...fresh].map((event) => [event.id, event])).values()];
}

function isMessage({ type }: BusEvent): boolean {
  return type === AGENT_MESSAGE;
}

function authorOf({ context }: BusEvent): string {
  return context?.author?.login ?? "you";
}

function dataOf(detail: PlanDetail, home: string): Record<string, unknown> {
  const { summary, record, text } = detail;
  return {
    ...summary,
    uid: record.uid,
    baseBranch: record.baseBranch,
    baseSha: record.baseSha,
    worktree: record.worktreeReady ? record.worktree : undefined,
    ports: record.firstPort === undefined ? undefined : portRange(record.firstPort),
    outcome: record.outcome,
    metadata: record.metadata,
    planFile: detail.planFile,
    home,
    text,
    sha256: text === undefined ? undefined : sha256(text),
    todos: detail.todos.map(({ id, index, state, text: words, context }) => ({
      number: index + 1,
      id,
      state,
      text: words,
      context,
    })),
    problems: detail.problems,
    backsOff: detail.backsOff,
    runs: detail.runs,
    ...(detail.activity === undefined ? {} : { activity: detail.activity }),
    ...(record.spent === undefined ? {} : { spent: record.spent }),
    budget: detail.budget,
    commits: detail.commits,
    diff: detail.diff,
    gates: detail.gates,
    thread: detail.thread.map(({ author, body, at }) => ({ author, body, at })),
    ignored: record.ignored ?? { count: 0, newest: [] },
    ...(detail.aside.length === 0 ? {} : { aside: detail.aside }),
    ...(detail.proposal === undefined ? {} : { proposal: detail.proposal }),
  };
}
