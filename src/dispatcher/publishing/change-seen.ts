import type { ServerChange } from "../../forge/port.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Stopping, Waking } from "../capabilities.ts";
import { type Records, updateRecord } from "../records.ts";

/** What the server tells of a plan's change request: merged, closed, ready, or that a person pushed to it. Wakes the plan. */
export function changeSeen(loom: Records & Waking & Stopping, planId: string, change: ServerChange): void {
  const record = loom.store.byId(planId);
  // Each start looks at all that are open.
  if (loom.stopping || !record || record.deleted || record.status === "done") return;
  const { head, needs, unqueued = false, base: _there, mergeSha: _onBase, ...state } = change;
  if (change.state === "closed" && (record.stack || record.behind?.why === "stack")) {
    updateRecord(loom, planId, ({ published }) => ({ published: { ...published, closed: true } }));
    loom.wake(planId);
    return;
  }
  updateRecord(loom, planId, (now) => ({
    changeRequest: { forge: "github", ...state },
    published: {
      ...now.published,
      ...(isTheirs(now, change) ? { theirs: head } : {}),
      ...(change.state === "merged" ? { merged: head } : {}),
      ...(unqueued && now.published?.queued ? { queued: undefined, unqueued: now.published.queued } : {}),
    },
    ...behindAfter(now, head, needs),
  }));
  crashPoint("server:seen");
  loom.wake(planId);
}

/** Of another commit than what we pushed last, what the server says is old, or a person's. A merge that is under way goes on. */
function behindAfter(
  { published, behind, stack }: PlanRecord,
  head: string,
  needs: ServerChange["needs"],
): Pick<PlanRecord, "behind"> {
  // What a stacked plan stands on is known without the server.
  if (needs === undefined || stack || head !== published?.sha || behind?.merge || behind?.why === "stack") return {};
  return { behind: needs === "nothing" ? undefined : { why: needs } };
}

/** Neither what we pushed nor what we were about to. */
function isTheirs({ published }: PlanRecord, { state, head }: ServerChange): boolean {
  return state === "open" && published?.sha !== undefined && head !== published.sha && head !== published.pushing;
}
