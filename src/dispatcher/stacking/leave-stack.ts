import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { blockPlan, type Records, updateRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { standingOf } from "./lower-plan.ts";

/**
 * A plan whose lower one has ended gets that one's base. Its branch still stands on commits of the lower one, which is on record (`behind`)
 * until it is rebased: only its own commits come along. Undefined: a person has to decide first.
 */
export function leaveStack(loom: Configured & Records & Reporting, record: PlanRecord): PlanRecord | undefined {
  const { id, stack } = record;
  const standing = stack ? standingOf(record, loom.store.get(stack.on)) : undefined;
  if (!standing || standing.kind === "stands" || standing.kind === "moved") return record;
  const { lower } = standing;
  const baseBranch = lower?.baseBranch ?? loom.config.baseBranch ?? "main";
  const left = { baseBranch, stack: lower?.stack, behind: { why: "stack" } } as const;
  if (standing.kind === "merged") {
    const next = updateRecord(loom, id, () => left);
    loom.store.sync();
    crashPoint("server:unstacked");
    return next;
  }
  const reason = `It is stacked on ${lower?.id ?? "a plan"}, which was ${standing.why}.`;
  const hint = `\`prloom unblock ${id}\` brings its own commits onto ${baseBranch}, without those of ${lower?.id ?? "that plan"}, and an agent resolves what conflicts; \`prloom delete ${id}\` drops it.`;
  blockPlan(loom, id, { reason, hint, cause: "step" }, () => left);
  return undefined;
}
