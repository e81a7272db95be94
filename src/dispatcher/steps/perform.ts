import type { PlanConfig } from "../../config/presets.ts";
import { beginFinish, commitTodo, publishTodo, tickTodo } from "../acceptance/commit-todo.ts";
import { verify } from "../acceptance/verify.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import type { Naming, Publishing, Reporting, Stopping, Waking } from "../capabilities.ts";
import type { Located } from "../paths.ts";
import { activate, clearInbox, restoreWorktree } from "../perform/activate.ts";
import { beginSide, beginTodo, discardWork, recoverRun } from "../perform/begin.ts";
import { callPlugins } from "../perform/call-plugins.ts";
import { closeOpened } from "../perform/close-opened.ts";
import { cleanWorktree, endPlan } from "../perform/end-plan.ts";
import { beginReview } from "../perform/review.ts";
import { settleSide } from "../perform/stage-result.ts";
import { blockPlan, changeStatus, type Records } from "../records.ts";
import type { Pooled } from "../runs/agent-pool.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { startAgentRun } from "../runs/start-run.ts";
import type { Configured } from "../settings/pinned.ts";
import type { PlanView, Step } from "./step.ts";

/** What the steps of a plan take, all together. */
export type Performing = Located &
  Naming &
  Configured &
  Records &
  Buses &
  Extended &
  Publishing &
  Pooled &
  AtWork &
  Reporting &
  Stopping &
  Waking;

type Doing = Exclude<Step, { kind: "wait" }>;

/** Does one step. Every step looks before it acts, so doing it again after a kill does it once. */
export async function perform(loom: Performing, view: PlanView, step: Doing): Promise<void> {
  const { record } = view;
  switch (step.kind) {
    case "block":
      return blockPlan(loom, record.id, { reason: step.reason, hint: step.hint, cause: "step" });
    case "close-opened":
      return closeOpened(loom, record);
    case "call-plugins":
      return callPlugins(loom, record);
    case "clear-inbox":
      return clearInbox(loom, record.id);
    case "begin-todo":
      return beginTodo(loom, record, step.todo);
    case "begin-side":
      return step.stage === "reviewer" ? beginReview(loom, record) : beginSide(loom, record, step.stage);
    case "drop-todo":
      return discardWork(loom, record);
    case "recover-run":
      return recoverRun(loom, record);
    case "commit":
      return commitTodo(loom, record);
    case "tick":
      return tickTodo(loom, record);
    case "publish":
      return publishTodo(loom, record);
    case "finish":
      return beginFinish(loom, record);
    case "reopen":
      changeStatus(loom, record.id, "todos-added");
      return;
    case "end-plan":
      return void endPlan(loom, record, step.outcome);
    case "clean-worktree":
      return cleanWorktree(loom, record);
    default:
      return performConfigured(loom, view, step.kind);
  }
}

/** Steps that need the plan's config, which `decide` has found valid. */
async function performConfigured(
  loom: Located & Naming & Configured & Records & Buses & Extended & Pooled & AtWork & Reporting & Stopping & Waking,
  view: PlanView,
  kind: "activate" | "restore-worktree" | "start-run" | "verify" | "settle-side",
): Promise<void> {
  if (!view.config.ok) return;
  const config: PlanConfig = view.config.config;
  switch (kind) {
    case "activate":
      return activate(loom, view.record, config);
    case "restore-worktree":
      return restoreWorktree(loom, view.record, config);
    case "start-run":
      return startAgentRun(loom, view.record, config);
    case "verify":
      return verify(loom, view.record, config);
    case "settle-side":
      return settleSide(loom, view.record, config);
  }
}
