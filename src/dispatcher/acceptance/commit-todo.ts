import type { ChangeRequestDraft, ChangeRequestState, LocalForge } from "../../forge/port.ts";
import { commitStep, findStepCommit } from "../../git/commits/commit.ts";
import { readTip } from "../../git/refs.ts";
import { clearLeftovers } from "../../git/worktree/settle-head.ts";
import { safeBody } from "../../github/outgoing.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { setTodoState } from "../../plan/edit-plan.ts";
import { progressOf, titleOf, todoTitle } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { applyClaims } from "../../plan/todos/claims.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import type { Naming, Publishing, Reporting } from "../capabilities.ts";
import { claimsOf } from "../enclosure/run-copy.ts";
import type { Gated } from "../gates/gate-store.ts";
import { settleMessages } from "../messages/messages.ts";
import { homeOf, type Located, textPath, worktreeOf } from "../paths.ts";
import { passesPrGate } from "../perform/gates/pr-gate.ts";
import { hookDue } from "../perform/hook-due.ts";
import { doneFor } from "../publishing/tell-done.ts";
import { changeStatus, currentTodo, planText, type Records, updateRecord } from "../records.ts";
import { sessionsAfterTodo } from "../runs/count-run.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";
import { hookedMessage, signoffOf, stepMessage } from "./commit-hooks.ts";

/** One commit per TODO. The trailer answers "is it committed?", so a kill after the commit makes no second one. */
export async function commitTodo(loom: Located & Configured & Records & Reporting, record: PlanRecord): Promise<void> {
  const { current } = record;
  if (!current) return;
  const worktree = worktreeOf(loom, record);
  const trailer = { uid: record.uid, todoId: current.todoId, attempt: current.attempt };
  // A git that was killed while it staged or committed left its locks.
  await clearLeftovers(worktree, record.branch ?? "");
  // Nothing was committed since the TODO began, or the trailer tells whether it was this.
  const atBase = readTip(worktree.commonDir, record.branch ?? "") === current.baseSha;
  const { baseSha, tree } = current;
  const step = { ...trailer, baseSha, tree, branch: record.branch ?? "" };
  const done = atBase ? undefined : await findStepCommit(worktree, step);
  const todo = currentTodo(loom, record);
  // Changed since this step was decided: the next look puts the work aside.
  if (!done && !todo) return;
  let newest = done;
  if (!done) {
    const hooked = hookedMessage(loom, record);
    newest = await commitStep(worktree, {
      message: hooked ?? stepMessage(loom, record, todo),
      hooked: hooked !== undefined,
      // A commit closes issues, calls people and skips checks as a comment does.
      said: loom.config.forge === "github" ? safeBody : undefined,
      trailer,
      branch: record.branch ?? "",
      signoff: signoffOf(loom),
      identity: loom.identity,
      allowEmpty: true,
      tree,
      parent: baseSha,
    });
    loom.report({ planId: record.id, level: "info", text: `committed ${newest.slice(0, 8)}` });
  }
  crashPoint("commit:made");
  updateRecord(loom, record.id, (now) =>
    now.current ? { current: { ...now.current, stage: "committed" }, newest } : {},
  );
}

/**
 * The authoritative tick, after the commit. The tick and what the agent appended to the logs are one write: when the
 * tick is there already, so is everything else.
 */
export function tickTodo(loom: Located & Configured & Records & AtWork & Reporting, record: PlanRecord): void {
  const { current } = record;
  const text = planText(loom, record);
  const todo = currentTodo(loom, record);
  if (!current || !text) return;
  const isOpen = todo !== undefined && todo.state !== "done";
  loom.store.together((files) => {
    if (isOpen) {
      const claims = claimsOf(loom, record, homeOf(loom.paths, record.id).run(current.run));
      const data = setTodoState(applyClaims(text.text, claims), todo.id, "done");
      files.push({ path: textPath(loom, record), data, onWritten: () => crashPoint("tick:written") });
    }
    updateRecord(loom, record.id, (now) => (now.current ? { current: { ...now.current, stage: "ticked" } } : {}));
  });
  if (isOpen)
    loom.report({ planId: record.id, level: "good", text: `TODO ${todo.index + 1} done: ${todoTitle(todo)}` });
  // What people said for this TODO has been heard by the agent that did it; the tick may be changed by people from here on.
  settleMessages(loom, record.id);
}

/** Makes the branch visible and opens the change request after the first commit. Ends the TODO, which waits for no server. */
export async function publishTodo(
  loom: Located & Configured & Records & Buses & Publishing,
  record: PlanRecord,
): Promise<void> {
  const todo = currentTodo(loom, record);
  const opened = await inLocalForge(loom, (forge) => forge.open(draftOf(loom, record)));
  crashPoint("publish:opened");
  updateRecord(loom, record.id, (now) => ({
    ...{ ...sessionsAfterTodo(loom, now), ...doneFor(loom, now, todo), ...opened },
    current: undefined,
  }));
}

export type Finishing = Located & Naming & Configured & Records & Gated & Extended & Publishing & Reporting;

/** Everything is ticked: plugins may look first, then the change request is ready for a person. */
export async function beginFinish(loom: Finishing, record: PlanRecord): Promise<void> {
  const due = hookDue(loom, record, "beforeFinish");
  if (!due.hook) return finishPlan(loom, record);
  updateRecord(loom, record.id, (now) => hookDue(loom, now, "beforeFinish"));
}

/** The change request is ready for a person, once one has approved it where that is asked for. */
export async function finishPlan(loom: Finishing, record: PlanRecord): Promise<void> {
  if (!(await passesPrGate(loom, record))) {
    // Plugins have looked; what they looked at is what is shown.
    if (record.hook) updateRecord(loom, record.id, () => ({ hook: undefined }));
    return;
  }
  const marked = await inLocalForge(loom, (forge) => forge.markReady(record.id, draftOf(loom, record)));
  crashPoint("finish:ready");
  changeStatus(loom, record.id, "finish", { ...marked, hook: undefined, ...hookDue(loom, record, "afterFinish") });
  loom.report({ planId: record.id, level: "good", text: `in review: \`prloom show ${record.id}\`` });
}

/** With a forge on a server the publisher does it, beside the steps. */
async function inLocalForge(
  { forge }: Publishing,
  act: (forge: LocalForge) => Promise<ChangeRequestState>,
): Promise<Pick<PlanRecord, "changeRequest">> {
  return forge.name === "local" ? { changeRequest: { forge: forge.name, ...(await act(forge)) } } : {};
}

/** What the change request of a plan says. */
export function draftOf(loom: Located & Records, record: PlanRecord): ChangeRequestDraft {
  const text = planText(loom, record);
  const progress = text ? progressOf(text.doc) : { total: 0, completed: 0 };
  return {
    planId: record.id,
    head: record.branch ?? "",
    base: record.baseBranch ?? "",
    title: titleOf(text?.text ?? "", record.id),
    body: `${text?.text ?? ""}\n\n---\n${progress.completed} of ${progress.total} TODOs done. Made by prloom from the plan ${record.id}.\n`,
  };
}
