import { nextTodo } from "../plan/markdown.ts";
import type { PlanView, Step } from "./step.ts";

/**
 * The table of DESIGN section 7 in code: what to do next with one plan. Pure and total. It is asked again after every
 * step and every wake-up, so it never needs to remember anything.
 */
export function decide(view: PlanView, now: number): Step {
  const { record } = view;
  if (record.deleted) return { kind: "wait", why: "deleted" };
  if (view.retryAt !== undefined && view.retryAt > now) {
    return { kind: "wait", why: "the last step failed, trying again", until: view.retryAt };
  }
  if (record.status === "done") return decideDone(view, now);
  if (record.status === "active" && record.inInbox) return { kind: "clear-inbox" };
  if (view.run === "live") return { kind: "wait", why: "an agent is working" };
  if (record.blocked) return waits("blocked");
  if (!view.config.ok) return { kind: "block", reason: view.config.reason, hint: fixConfigHint(record.id) };
  if (record.status === "draft" || record.status === "queued") return decideInbox(view);
  return decideOpen(view);
}

function waits(why: string): Step {
  return { kind: "wait", why };
}

function fixConfigHint(id: string): string {
  return `Fix it in prloom/config.json or in the plan's metadata, then run \`prloom unblock ${id}\`.`;
}

function decideDone(view: PlanView, now: number): Step {
  if (!view.record.worktreeReady) return waits("done");
  const finished = Date.parse(view.record.finishedAt ?? view.record.updatedAt);
  const cleanAt = finished + view.cleanAfterMs;
  return now >= cleanAt ? { kind: "clean-worktree" } : { kind: "wait", why: "done", until: cleanAt };
}

function decideInbox(view: PlanView): Step {
  const { record, dependencies } = view;
  if (record.status === "draft") return waits("a draft: `prloom queue` starts it");
  if (record.hidden) return waits("hidden");
  if (record.paused) return waits("paused");
  // A record without text is unfinished: somebody is about to write it.
  if (!view.doc) return waits("no plan text yet");
  if (dependencies.kind === "failed") {
    return {
      kind: "block",
      reason: dependencies.reason,
      hint: `Change \`dependsOn\` in prloom/.local/inbox/${record.id}.json or \`## Depends on\` in the plan, then run \`prloom unblock ${record.id}\`.`,
    };
  }
  if (dependencies.kind === "waiting") return waits(`${dependencies.for.join(", ")} must be merged first`);
  if (!view.slots.open) return { kind: "wait", why: "waits for a place (limits.maxOpenPlans)", slot: "open" };
  return { kind: "activate" };
}

function decideOpen(view: PlanView): Step {
  const { record } = view;
  if (!record.worktreeReady) return { kind: "restore-worktree" };
  if (view.worktree !== "ok") {
    return {
      kind: "block",
      reason: `Its worktree is ${view.worktree}: ${record.worktree ?? "unknown path"}`,
      hint: `\`prloom unblock ${record.id}\` makes it again from branch ${record.branch}; work that was not committed is gone.`,
    };
  }
  if (!view.doc) {
    return {
      kind: "block",
      reason: "Its plan.md is missing or unreadable.",
      hint: `Write it again with \`prloom edit ${record.id} --file plan.md\`, then run \`prloom unblock ${record.id}\`.`,
    };
  }
  if (view.change === "merged" || view.change === "closed") {
    if (!record.current && !record.side) return { kind: "end-plan", outcome: view.change };
  }
  // What it leaves is put aside first: else it would be taken for a part of the plan's own work.
  if (view.hookAgent) return waits("an agent of a plugin is at work");
  if (record.hook && !(record.hook.point === "beforeTodo" && isHeld(view))) return { kind: "call-plugins" };
  // What was said is looked at before anything new begins: it may change what comes next.
  if (view.bus.fresh > 0) return waits("plugins look at what was said");
  if (record.current) return decideCurrent(view);
  if (record.side) return decideSide(view);
  if (record.hidden) return waits("hidden");
  if (record.paused) return waits("paused");
  if (view.bus.pending.length > 0) return { kind: "begin-side", stage: "triage" };
  return decideNext(view);
}

function isHeld({ record }: PlanView): boolean {
  return record.hidden || record.paused;
}

function decideCurrent(view: PlanView): Step {
  switch (view.record.current?.stage) {
    case "running":
      if (view.run === "none" && !isStillOpen(view)) return { kind: "drop-todo" };
      return decideRun(view, { kind: "verify" });
    case "ended":
      return { kind: "verify" };
    case "verified":
      return { kind: "commit" };
    case "committed":
      return { kind: "tick" };
    default:
      return { kind: "publish" };
  }
}

/** A person may have reworded, removed or ticked the TODO between two attempts. */
function isStillOpen(view: PlanView): boolean {
  return view.doc?.todos.some((todo) => todo.id === view.record.current?.todoId && todo.state === "open") ?? false;
}

function decideSide(view: PlanView): Step {
  return decideRun(view, { kind: "settle-side" });
}

function decideRun(view: PlanView, whenEnded: Step): Step {
  if (view.run === "ended") return whenEnded;
  if (view.run === "interrupted") return { kind: "recover-run" };
  // hidden and paused let what runs end, and start nothing.
  if (view.record.hidden) return waits("hidden");
  if (view.record.paused) return waits("paused");
  if (!view.slots.agent) return { kind: "wait", why: "waits for an agent (limits.maxRunningAgents)", slot: "agent" };
  return { kind: "start-run" };
}

function decideNext(view: PlanView): Step {
  const { record, doc } = view;
  const next = doc ? nextTodo(doc) : { kind: "none" as const };
  switch (next.kind) {
    case "none":
      return record.status === "review" ? waits("in review") : { kind: "begin-side", stage: "designer" };
    case "blocked":
      return {
        kind: "block",
        reason: next.reason,
        hint: `Answer it with \`prloom edit ${record.id}\` (set the item to \`[ ]\`), then run \`prloom unblock ${record.id}\`.`,
      };
    case "all-done":
      return record.status === "review" ? waits("in review") : { kind: "finish" };
    case "todo":
      return record.status === "review" ? { kind: "reopen" } : { kind: "begin-todo", todo: next.todo };
  }
}
