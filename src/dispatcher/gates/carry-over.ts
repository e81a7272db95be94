import { approvedScope, type GateRecord } from "../../gate/gate-record.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Located } from "../paths.ts";
import { changeStatus, planText, type Records, requireRecord, updateRecord } from "../records.ts";
import type { Gated } from "./gate-store.ts";
import { gateOf } from "./plan-gate.ts";
import { whatChangeSays } from "./pr-gate.ts";

/** A branch that was brought onto its base. */
interface Rebased {
  readonly from: string;
  readonly to: string;
  /** The commit of base that it is on now. */
  readonly onto: string;
  /** Its commits say and change what they did before. */
  readonly isSame: boolean;
  /** Its commits were reviewed one by one, and are not what was. */
  readonly reviewAgain?: boolean;
}

/**
 * Records a rebase. An approval of the change, and what the reviewer said of the branch, is for its commits as they were: it holds on
 * where they change the same; else both are asked again, and a plan in review goes back to work for that.
 */
export function settleRebased(loom: Located & Records & Gated, id: string, rebased: Rebased): void {
  const record = requireRecord(loom, id);
  const gate = rebased.isSame ? approvedAgain(loom, record, rebased) : undefined;
  const { side, status } = record;
  const reviewed = rebased.reviewAgain ? { head: "", rounds: 0, again: true as const } : record.reviewedEnd;
  const isReviewed = reviewed !== undefined && rebased.isSame && reviewed.head === rebased.from;
  const changes = {
    baseSha: rebased.onto,
    rebase: undefined,
    kept: undefined,
    ...(side ? { side: { ...side, baseSha: rebased.to } } : {}),
    ...(reviewed ? { reviewedEnd: { ...reviewed, head: isReviewed ? rebased.to : "" } } : {}),
  };
  loom.store.together((files) => {
    if (gate) files.push(loom.gates.file(gate));
    if (reviewed && !isReviewed && status === "review") changeStatus(loom, id, "todos-added", changes);
    else updateRecord(loom, id, () => changes);
  });
  loom.store.sync();
}

function approvedAgain(
  loom: Located & Records & Gated,
  record: PlanRecord,
  { from, to }: Rebased,
): GateRecord | undefined {
  const gate = gateOf(loom, record, "pr");
  const text = planText(loom, record);
  if (!text || gate?.state !== "approved" || approvedScope(gate) !== whatChangeSays(record, text, from).scope)
    return undefined;
  const { scope } = whatChangeSays(record, text, to);
  const by = [`rebase from ${from} to ${to}, no patch changed`];
  const amendment = { at: isoTime(loom.clock.now()), by, scope, head: to };
  return { ...gate, amendments: [...gate.amendments, amendment] };
}
