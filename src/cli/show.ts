import { existsSync } from "node:fs";
import type { Loom } from "../dispatcher/loom.ts";
import { homeOf } from "../dispatcher/paths.ts";
import { type PlanDetail, readPlanDetail } from "../dispatcher/read.ts";
import { sha256 } from "../kernel/ids.ts";
import type { Call } from "./output.ts";
import { reading, suggesting } from "./plans.ts";
import { showDetail, type Words } from "./render/detail.ts";

/** Shows everything about one plan. */
export async function show(call: Call, plan: string): Promise<number> {
  const { detail, ...around } = await suggesting(call, plan, () =>
    reading(call, async (loom) => ({
      detail: await readPlanDetail(loom, plan),
      home: homeOf(loom.paths, plan).home,
      now: loom.clock.now(),
      unread: unreadWords(loom, plan),
    })),
  );
  call.output.data(dataOf(detail, around.home));
  if (!call.output.json) showDetail(call.output, detail, around);
  return 0;
}

/** More than anybody writes before somebody reads. */
const MOST_UNREAD = 1000;

/** What people said that no dispatcher has looked at yet, or that waits for triage. */
function unreadWords(loom: Loom, plan: string): Words[] {
  if (!existsSync(homeOf(loom.paths, plan).bus)) return [];
  const bus = loom.bus(plan);
  const fresh = bus.newEvents(MOST_UNREAD).map(({ event }) => event);
  const events = new Map([...bus.pendingTriage(), ...fresh].map((event) => [event.id, event]));
  return [...events.values()].map(({ context, body }) => ({ author: context?.author?.login ?? "you", body }));
}

function dataOf(detail: PlanDetail, home: string): Record<string, unknown> {
  const { summary, record, text } = detail;
  return {
    ...summary,
    uid: record.uid,
    baseBranch: record.baseBranch,
    baseSha: record.baseSha,
    worktree: record.worktreeReady ? record.worktree : undefined,
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
    runs: detail.runs,
    ...(detail.activity === undefined ? {} : { activity: detail.activity }),
    ...(record.spent === undefined ? {} : { spent: record.spent }),
    budget: detail.budget,
    commits: detail.commits,
    diff: detail.diff,
    thread: detail.thread.map(({ author, body, at }) => ({ author, body, at })),
    ...(detail.proposal === undefined ? {} : { proposal: detail.proposal }),
  };
}
