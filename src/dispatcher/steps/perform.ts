import type { PlanConfig } from "../../config/presets.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { beginFinish, commitTodo, finishPlan, publishTodo, tickTodo } from "../acceptance/commit-todo.ts";
import { leaveTodo } from "../acceptance/leave-todo.ts";
import { commitResolution, verifyResolution } from "../acceptance/resolve-conflict.ts";
import { verify } from "../acceptance/verify.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import type { Naming, Publishing, Reporting, Stopping, Waking } from "../capabilities.ts";
import { expireGate, giveUpGate } from "../gates/answer-gate.ts";
import type { Gated } from "../gates/gate-store.ts";
import type { Located } from "../paths.ts";
import { activate, clearInbox, restoreWorktree } from "../perform/activate.ts";
import { beginSide, beginTodo, recoverRun } from "../perform/begin.ts";
import { callPlugins } from "../perform/call-plugins.ts";
import { closeOpened } from "../perform/close-opened.ts";
import { cleanWorktree, endFound } from "../perform/end-plan.ts";
import { dropGate, gatePosted, openGate, remindOfGate, tellGate } from "../perform/gates/gate.ts";
import { stopOpened, stopRun } from "../perform/gates/stop-run.ts";
import { continueRebase } from "../perform/rebase.ts";
import { beginReview } from "../perform/review.ts";
import { settleSide } from "../perform/stage-result.ts";
import { catchUp } from "../publishing/catch-up.ts";
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
  Gated &
  Buses &
  Extended &
  Publishing &
  Pooled &
  AtWork &
  Reporting &
  Stopping &
  Waking;

type Doing = Exclude<Step, { kind: "wait" }>;

type Performer<Kind extends Doing["kind"]> = (
  loom: Performing,
  view: PlanView,
  step: Extract<Doing, { kind: Kind }>,
) => Promise<unknown> | unknown;

/** For a step that needs the plan's config, which `decide` has found valid. */
function configured(act: (loom: Performing, record: PlanRecord, config: PlanConfig) => Promise<void>) {
  return (loom: Performing, { record, config }: PlanView) => (config.ok ? act(loom, record, config.config) : undefined);
}

const PERFORMERS: { readonly [Kind in Doing["kind"]]: Performer<Kind> } = {
  block: (loom, { record }, { reason, hint }) => blockPlan(loom, record.id, { reason, hint, cause: "step" }),
  "close-opened": (loom, { record }) => closeOpened(loom, record),
  "call-plugins": (loom, { record }) => callPlugins(loom, record),
  activate: configured(activate),
  "restore-worktree": configured(restoreWorktree),
  "clear-inbox": (loom, { record }) => clearInbox(loom, record.id),
  "open-gate": configured(openGate),
  "tell-gate": (loom, { record }) => tellGate(loom, record),
  "gate-posted": (loom, { record }) => gatePosted(loom, record),
  "give-up-gate": (loom, { record }, refusal) => giveUpGate(loom, record, refusal),
  "drop-gate": (loom, { record }) => dropGate(loom, record),
  "remind-of-gate": (loom, { record }) => remindOfGate(loom, record),
  "expire-gate": (loom, { record }) => expireGate(loom, record),
  "stop-run": (loom, { record }) => stopRun(loom, record),
  "stop-opened": (loom, { record }) => stopOpened(loom, record.id),
  "begin-todo": (loom, { record }, { todo }) => beginTodo(loom, record, todo),
  "begin-side": (loom, { record }, { stage }) =>
    stage === "reviewer" ? beginReview(loom, record) : beginSide(loom, record, stage),
  rebase: (loom, { record }) => continueRebase(loom, record),
  "catch-up": (loom, { record }) => catchUp(loom, record),
  "drop-todo": (loom, { record, config, door }) => {
    const mayCommit = door.kind === "open" && !record.revising;
    return config.ok ? leaveTodo(loom, record, { config: config.config, mayCommit }) : undefined;
  },
  "start-run": configured(startAgentRun),
  "recover-run": (loom, { record }) => recoverRun(loom, record),
  verify: configured((loom, record, config) =>
    record.rebase ? verifyResolution(loom, record, config) : verify(loom, record, config),
  ),
  commit: (loom, { record }) => (record.rebase ? commitResolution(loom, record) : commitTodo(loom, record)),
  tick: (loom, { record }) => tickTodo(loom, record),
  publish: (loom, { record }) => publishTodo(loom, record),
  "settle-side": configured(settleSide),
  finish: (loom, { record }) => beginFinish(loom, record),
  "mark-ready": (loom, { record }) => finishPlan(loom, record),
  reopen: (loom, { record }) => changeStatus(loom, record.id, "todos-added"),
  "end-plan": (loom, { record }, { outcome }) => endFound(loom, record, outcome),
  "clean-worktree": (loom, { record }) => cleanWorktree(loom, record),
};

/**
 * Steps that do no harm when a power loss takes back the record that they follow from: they come again, and find what
 * they did. A tick is not one of them: with a record from before its commit it would be taken for a person's. Activation
 * and the start of an agent sync by themselves, right before what is not to be repeated.
 */
const REPEATED: ReadonlySet<Doing["kind"]> = new Set<Doing["kind"]>([
  "activate",
  "begin-todo",
  "start-run",
  "verify",
  "commit",
  "publish",
  "finish",
]);

/** Does one step. Every step looks before it acts, so doing it again after a kill does it once. */
export async function perform(loom: Performing, view: PlanView, step: Doing): Promise<void> {
  const act = PERFORMERS[step.kind] as Performer<Doing["kind"]>;
  if (!REPEATED.has(step.kind)) loom.store.sync();
  await act(loom, view, step);
}
