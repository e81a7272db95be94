import { PrloomError } from "../../../kernel/errors.ts";
import type { PlanRecord } from "../../../plan/record.ts";
import { doorsAt, isAsked } from "../../gates/doors.ts";
import type { Gated } from "../../gates/gate-store.ts";
import { gateOf } from "../../gates/plan-gate.ts";
import { headSeen, whyClosed } from "../../gates/pr-gate.ts";
import type { Located } from "../../paths.ts";
import { planText, type Records } from "../../records.ts";
import type { Configured } from "../../settings/pinned.ts";

type Seeing = Located & Configured & Records & Gated;

/** Refuses to merge what waits for an answer, or of which another commit or plan was approved. Not to be forced: approving it is as easy. */
export function refuseUnapproved(loom: Seeing, record: PlanRecord, head = headSeen(loom, record)): void {
  const config = { gated: isAsked(loom, record, "plan"), prGated: isAsked(loom, record, "pr") };
  const { door, prDoor } = doorsAt(loom, record, { text: planText(loom, record), config, head });
  const { id, status } = record;
  const isFree = door.kind !== "closed" && !record.blocked;
  if (status === "active" && config.prGated && prDoor.kind === "open" && isFree) {
    const hint = `\`prloom start --until-idle\` marks it ready; then \`prloom merge ${id}\` merges it.`;
    throw new PrloomError("plan-state", `The change of ${id} is approved, and not marked ready yet.`, hint);
  }
  for (const [one, what] of [
    [door, "it is not merged before its plan is approved"],
    [prDoor, "its change is not merged before it is approved"],
  ] as const)
    if (one.kind === "closed") {
      const message = `${id} waits for an answer (gate ${one.gate.gateId}): ${what}.`;
      const hint = `\`prloom show ${id}\` shows it; \`prloom approve ${id}\` approves it.`;
      throw new PrloomError("plan-state", message, hint);
    }
  // One that is still worked on is not shown yet; that it is not in review is what there is to say.
  if (prDoor.kind === "open" || status !== "review") return;
  const message = `The change of ${id} is not approved: ${whyClosed(gateOf(loom, record, "pr"), head)}.`;
  const hint = `\`prloom start\` shows it again; then \`prloom approve ${id}\` approves it.`;
  throw new PrloomError("plan-state", message, hint);
}
