import type { GateRecord } from "../../gate/gate-record.ts";
import { listed } from "../../kernel/text/words.ts";
import { type BlockCause, nextTodo, type PlanDoc, type Todo } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { hasProvenance } from "../../plan/todos/provenance.ts";
import { isReviewed } from "./is-reviewed.ts";
import type { PlanView, Step } from "./step.ts";
import { withoutWorktree } from "./without-worktree.ts";

/** Closing it wakes the plan; only a process that was killed says nothing. Longer than `--until-idle` waits for. */
const OPENED_LOOK_MS = 15_000;

/**
 * What to do next with one plan. Pure and total. It is asked again after every step and every wake-up, so it never needs
 * to remember anything.
 */
export function decide(view: PlanView, now: number): Step {
  const { record } = view;
  if (record.deleted) return { kind: "wait", why: "deleted" };
  if (view.unrecovered) return waits("blocked");
  if (view.merging) return waits("it is being merged");
  if (view.opened === "held") {
    if (record.opened?.implements && view.door.kind !== "open") return { kind: "stop-opened" };
    const why = `a person has it open (prloom open, pid ${record.opened?.pid})`;
    return { kind: "wait", why, until: now + OPENED_LOOK_MS };
  }
  if (view.retryAt !== undefined && view.retryAt > now) {
    return { kind: "wait", why: "the last step failed, trying again", until: view.retryAt };
  }
  if (view.opened === "left") return { kind: "close-opened" };
  // Also of one that its answer has blocked.
  if (view.untold) return { kind: "tell-gate" };
  if (view.unasked) return { kind: "drop-gate" };
  if (view.posting?.kind === "posted") return { kind: "gate-posted" };
  if (record.status === "done") return decideDone(view, now);
  if (record.status === "active" && record.inInbox) return { kind: "clear-inbox" };
  // What a run may do does not change under it: with the door closed it ends.
  if (view.implementing && view.door.kind !== "open") return { kind: "stop-run" };
  if (view.run === "live") {
    return view.withdrawn && record.current ? { kind: "stop-run" } : { kind: "wait", why: "an agent is working" };
  }
  if (record.blocked) return waits("blocked");
  if (!view.config.ok) return { kind: "block", reason: view.config.reason, hint: fixConfigHint(record.id) };
  if (record.status === "draft" || record.status === "queued") return decideInbox(view);
  return decideOpen(view, now);
}

const waits = (why: string): Step => ({ kind: "wait", why });

function fixConfigHint(id: string): string {
  return `Fix it in prloom/config.json (\`prloom reload\` takes that over) or in the plan's metadata, then run \`prloom unblock ${id}\`.`;
}

function tooLarge(id: string, reason: string): Step {
  const hint = `Change it (\`prloom edit ${id}\`), or split one that is too large into several plans; then run \`prloom unblock ${id}\`.`;
  return { kind: "block", reason, hint };
}

function decideDone(view: PlanView, now: number): Step {
  if (!view.record.worktreeReady) return waits("done");
  const cleanAt = Date.parse(view.record.finishedAt ?? view.record.updatedAt) + view.cleanAfterMs;
  return now >= cleanAt ? { kind: "clean-worktree" } : { kind: "wait", why: "done", until: cleanAt };
}

function decideInbox(view: PlanView): Step {
  const { record, dependencies } = view;
  if (record.status === "draft") return waits("a draft: `prloom queue` starts it");
  if (record.hidden) return waits("hidden");
  if (record.paused) return waits("paused");
  // A record without text is unfinished: its author is about to write it.
  if (!view.doc) return waits("no plan text yet");
  if (view.doc.tooLarge !== undefined) return tooLarge(record.id, view.doc.tooLarge);
  if (dependencies.kind === "failed") {
    return {
      kind: "block",
      reason: dependencies.reason,
      hint: `Change \`dependsOn\` or \`stack\` in prloom/.local/inbox/${record.id}.json or \`## Depends on\` in the plan, then run \`prloom unblock ${record.id}\`.`,
    };
  }
  if (dependencies.kind === "waiting")
    return waits(`${listed(dependencies.for)} must be ${dependencies.until ?? "merged"} first`);
  if (!view.slots.open) return { kind: "wait", why: "waits for a place (limits.maxOpenPlans)", slot: "open" };
  return { kind: "activate" };
}

function decideOpen(view: PlanView, now: number): Step {
  const { record, change } = view;
  // Its worktree may be gone already: it is not needed any more.
  if ((change === "merged" || change === "closed") && !record.current && !record.side && !record.rebase)
    return { kind: "end-plan", outcome: change };
  if (!record.worktreeReady) return { kind: "restore-worktree" };
  if (view.worktree !== "ok") return withoutWorktree(record, view.worktree);
  if (!view.doc) {
    return {
      kind: "block",
      reason: "Its plan.md is missing or unreadable, or has no text.",
      hint: `Write it again with \`prloom edit ${record.id} --file plan.md\`, then run \`prloom unblock ${record.id}\`.`,
    };
  }
  if (view.doc.tooLarge !== undefined) return tooLarge(record.id, view.doc.tooLarge);
  // What it leaves is put aside first: else it would be taken for a part of the plan's own work.
  if (view.hookAgent) return waits("an agent of a plugin is at work");
  if (record.hook && !(record.hook.point === "beforeTodo" && isHeld(view))) return { kind: "call-plugins" };
  // What was said is looked at before anything new begins: it may change what comes next.
  if (view.bus.fresh > 0) return waits("plugins look at what was said");
  const held = heldAtGate(view, view.doc, now);
  if (held && view.run !== "interrupted") return held;
  // Else what was ended just now, a check for instance, would begin again.
  if (record.paused && record.halted && view.run !== "interrupted") return waits("paused");
  if (record.current) return decideCurrent(view);
  if (record.side) return decideSide(view);
  if (record.rebase?.ended) return { kind: "rebase" };
  if (record.hidden) return waits("hidden");
  if (record.paused) return waits("paused");
  // Words that came before the design reach the designer: TODOs of theirs alone would pass for the whole plan.
  if (isDesignDue(record, view.doc)) return { kind: "begin-side", stage: "designer" };
  if (record.rebase) return { kind: "rebase" };
  if (view.behind) return { kind: "catch-up" };
  const { gatherUntil: until = 0, pending } = view.bus;
  if (until > now) return { kind: "wait", why: "more of the review may come", until };
  if (pending.length > 0) return { kind: "begin-side", stage: "triage" };
  return decideNext(view, now);
}

/** What a plan does in place of being implemented. The designer, and what ended before the door was closed, are not held. */
function heldAtGate(view: PlanView, doc: PlanDoc, now: number): Step | undefined {
  const { record, door } = view;
  if (door.kind === "open") return undefined;
  if (isDesignDue(record, doc)) return isUncommitted(record) ? { kind: "drop-todo" } : undefined;
  if (record.side && (record.side.stage === "designer" || view.run === "ended")) return undefined;
  // With nothing left to do there is nothing to approve, unless a person took back what is done already.
  const isAsked = door.kind === "closed" || view.withdrawn === true;
  if (!record.current && nextTodo(doc).kind !== "todo" && !isAsked) return undefined;
  if (record.hidden) return waits("hidden");
  if (record.paused) return waits("paused");
  if (record.status === "review") return { kind: "reopen" };
  return door.kind === "due" ? { kind: "open-gate" } : waitAtGate(view, door.gate, now);
}

function waitAtGate({ record, remindAfterMs, posting }: PlanView, gate: GateRecord, now: number): Step {
  if (posting?.kind === "dead") return { ...posting, kind: "give-up-gate" };
  if (posting?.kind === "awaits-change")
    return waits("its change request is to be opened first; it is shown there, and then it waits for your answer");
  if (posting?.kind === "under-way")
    return waits(`it is being posted (${posting.target}); then it waits for your answer`);
  const { openedAt, remindedAt = openedAt, expiresAt } = gate;
  const expiry = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
  if (now >= expiry) return { kind: "expire-gate" };
  const reminder = Date.parse(remindedAt) + remindAfterMs;
  if (now >= reminder) return { kind: "remind-of-gate" };
  return {
    kind: "wait",
    why: `your answer: \`prloom approve ${record.id}\``,
    until: Math.min(expiry, reminder),
  };
}

/** Work on a TODO that another design may drop or reword: with the door closed it is neither gone on with nor committed. */
function isUncommitted({ current }: PlanRecord): boolean {
  return current !== undefined && ["running", "ended", "verified"].includes(current.stage);
}

/**
 * What a plan itself asks for becomes TODOs before anything is added to them. One that was designed has lost all of its
 * TODOs when a person or its source took them out: then the text that is there now asks for a design.
 */
export function isDesignDue(record: PlanRecord, doc: PlanDoc): boolean {
  if (record.status !== "active") return false;
  if (record.revising) return true;
  return record.designed ? doc.todos.length === 0 : doc.todos.every(hasProvenance);
}

function isHeld({ record, door }: PlanView): boolean {
  return record.hidden || record.paused || door.kind !== "open";
}

function decideCurrent(view: PlanView): Step {
  switch (view.record.current?.stage) {
    case "running":
      if (view.run === "none" && currentState(view) !== "open") return { kind: "drop-todo" };
      return decideRun(view, { kind: "verify" });
    case "ended":
      return { kind: "verify" };
    case "verified":
      return decideVerified(view);
    case "committed":
      return { kind: "tick" };
    default:
      return { kind: "publish" };
  }
}

/** With `review: todo` another agent reads the work before it is committed. */
function decideVerified(view: PlanView): Step {
  const { record } = view;
  const isDue = wantsReview(view, "todo") && !record.current?.reviewed;
  // Checks, plugins and reviews take their time, in which a person may have changed the TODO under the work.
  if (!record.side && !isDue) return { kind: currentState(view) ? "commit" : "drop-todo" };
  if (view.run === "interrupted") return { kind: "recover-run" };
  if (currentState(view) !== "open") return { kind: "drop-todo" };
  return record.side ? decideSide(view) : { kind: "begin-side", stage: "reviewer" };
}

function wantsReview({ config, record }: PlanView, when: "todo" | "end"): boolean {
  return config.ok && isReviewed(config.config.review, when, record);
}

/** With `review: end` the whole branch is read once all is done, and again when it has moved since. */
function isEndReviewDue(view: PlanView): boolean {
  if (!wantsReview(view, "end")) return false;
  const reviewed = view.record.reviewedEnd?.head ?? "";
  return reviewed === "" || (view.head !== undefined && view.head !== reviewed);
}

/** A person may have reworded or removed the TODO that is under way (then undefined), or ticked it. */
function currentState({ doc, record }: PlanView): Todo["state"] | undefined {
  // The conflict of a commit: its TODO is done.
  if (record.rebase) return "open";
  return doc?.todos.find(({ id }) => id === record.current?.todoId)?.state;
}

function decideSide(view: PlanView): Step {
  const { side, current } = view.record;
  // Switching the reviewer off need not wait for it: settling it then means calling it off.
  const isCalledOff = side?.stage === "reviewer" && !wantsReview(view, current ? "todo" : "end");
  if (isCalledOff && view.run === "none") return { kind: "settle-side" };
  return decideRun(view, { kind: "settle-side" });
}

function decideRun(view: PlanView, whenEnded: Step): Step {
  if (view.run === "ended") return whenEnded;
  if (view.run === "interrupted") return { kind: "recover-run" };
  // hidden and paused let what runs end, and start nothing.
  if (view.record.hidden) return waits("hidden");
  if (view.record.paused) return waits("paused");
  if (!view.slots.agent) return { kind: "wait", why: "waits for an agent (limits.maxRunningAgents)", slot: "agent" };
  return decideAgent(view);
}

function decideAgent({ agent, record }: PlanView): Step {
  switch (agent.kind) {
    case "free":
      return { kind: "start-run" };
    case "busy":
      return {
        kind: "wait",
        why: agent.why,
        slot: "agent",
        ...(agent.until === undefined ? {} : { until: agent.until }),
      };
    case "away":
      return { kind: "wait", why: agent.why, until: agent.until };
    case "budget-spent":
      return {
        kind: "block",
        reason: `Its budget is spent: ${agent.reason}.`,
        hint: `Raise \`limits.budget\` in prloom/config.json and run \`prloom reload\`, then \`prloom unblock ${record.id}\`; \`prloom show ${record.id}\` tells what it was spent on.`,
      };
  }
}

function decideNext(view: PlanView, now: number): Step {
  const { record, doc } = view;
  const next = doc ? nextTodo(doc) : { kind: "none" as const };
  switch (next.kind) {
    case "none":
      return waits("in review");
    case "blocked":
      return {
        kind: "block",
        reason: next.reason,
        hint: `${HOW_TO_UNBLOCK[next.cause](record.id)}, then run \`prloom unblock ${record.id}\`.`,
      };
    case "all-done":
      return decideDoneTodos(view, now);
    case "todo":
      return record.status === "review" ? { kind: "reopen" } : { kind: "begin-todo", todo: next.todo };
  }
}

/** Reviewed, looked at by plugins, approved, ready. What changes afterwards goes the same way again. */
function decideDoneTodos(view: PlanView, now: number): Step {
  const { record, config, prDoor } = view;
  if (record.status === "review") return prDoor.kind === "open" ? waits("in review") : { kind: "reopen" };
  if (isEndReviewDue(view)) return { kind: "begin-side", stage: "reviewer" };
  if (prDoor.kind === "closed") return waitAtGate(view, prDoor.gate, now);
  // With such a gate plugins have looked already: what they looked at is what was approved.
  return { kind: config.ok && config.config.prGated && prDoor.kind === "open" ? "mark-ready" : "finish" };
}

const HOW_TO_UNBLOCK: Readonly<Record<BlockCause, (id: string) => string>> = {
  marked: (id) => `Answer it with \`prloom edit ${id}\` (set the item to \`[ ]\`)`,
  empty: (id) => `Write what is to be done with \`prloom edit ${id}\``,
  order: (id) => `Change its \`after:\` line with \`prloom edit ${id}\``,
};
