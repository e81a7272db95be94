import { PrloomError } from "../../kernel/errors.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Records } from "../records.ts";

/** Into the branch of another plan nothing is merged, and what stands on one is not merged elsewhere: its commits would come along. */
export function refuseStacked({ store }: Records, { id, stack, behind, baseBranch }: PlanRecord): void {
  const lower = stack && store.get(stack.on);
  if (lower && lower.status !== "done" && !lower.deleted) {
    const hint = `Run \`prloom merge ${lower.id}\` first; then \`prloom start\` brings ${id} onto ${lower.baseBranch}.`;
    throw new PrloomError("plan-state", `${id} is stacked on ${lower.id}, which is not merged.`, hint);
  }
  if (!stack && behind?.why !== "stack") return;
  const onto = lower?.baseBranch ?? baseBranch;
  const hint = `\`prloom start --until-idle\` brings it there; then run \`prloom merge ${id}\` again.`;
  throw new PrloomError(
    "plan-state",
    `${id} is to be brought onto ${onto} first, without the commits of another plan.`,
    hint,
  );
}
