import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting, Stopping, Waking } from "../capabilities.ts";
import type { Gated } from "../gates/gate-store.ts";
import { endGates } from "../gates/plan-gate.ts";
import { blockPlan, type Records, requireRecord, updateRecord } from "../records.ts";

/**
 * The issue of a plan is not where it was: people cannot be asked there, and what they say is not heard. The plan is blocked once, and
 * goes on without the issue if a person wants that: from here on its place is its change request, or the local thread. `how` ends "its issue …".
 */
export function issueGone(
  loom: Records & Gated & Reporting & Waking & Stopping,
  source: NonNullable<PlanRecord["source"]>,
  how: string,
): void {
  const record = loom.store.bySource(source);
  if (loom.stopping || !record || record.deleted || record.issueGone !== undefined) return;
  const { id } = record;
  // What was shown there is shown again. First: a kill leaves a plan that is shown where it was, and found to be gone again.
  endGates(loom, record, `its issue ${how}`);
  crashPoint("server:issue-gone");
  const { status, blocked } = requireRecord(loom, id);
  if (blocked || status === "done") {
    updateRecord(loom, id, () => ({ issueGone: how }));
    loom.report({ planId: id, level: "warn", text: `its issue ${how}` });
  } else {
    const reason = `Its issue ${how}: no one can be asked or heard there.`;
    const hint = `\`prloom unblock ${id}\` goes on without it, and shows and asks at its pull request or here what it would there; \`prloom delete ${id}\` gives the plan up.`;
    blockPlan(loom, id, { reason, hint, cause: "step" }, () => ({ issueGone: how }));
  }
  loom.wake(id);
}
