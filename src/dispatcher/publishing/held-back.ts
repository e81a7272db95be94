import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { doorsAt, isAsked } from "../gates/doors.ts";
import { gateOf } from "../gates/plan-gate.ts";
import { planText } from "../records.ts";
import { changeSeen } from "./change-seen.ts";
import { notePublished, type PublishingAtWork } from "./note-published.ts";

/** Whether a person took back what the server would merge, or has to be asked about it again. */
export function isHeldBack(loom: PublishingAtWork, record: PlanRecord): boolean {
  const config = { gated: isAsked(loom, record, "plan"), prGated: isAsked(loom, record, "pr") };
  const { door, prDoor } = doorsAt(loom, record, { text: planText(loom, record), config });
  const isWithdrawn = config.gated && gateOf(loom, record)?.state === "withdrawn";
  return isWithdrawn || door.kind === "closed" || prDoor.kind !== "open";
}

/** Only what we marked ready. In the middle of a rebase the branch is not what it is going to be. */
export function isToBeTakenBack(loom: PublishingAtWork, record: PlanRecord): boolean {
  const { id, published, changeRequest, rebase } = record;
  if (!published?.ready || changeRequest?.state !== "open") return false;
  return !rebase && !loom.occupancy.whoIsIn(id).has("merge") && isHeldBack(loom, record);
}

/** Makes the change request a draft again. Where there are no drafts, people are told what that means; asking again would not help. */
export async function backToDraft(
  loom: PublishingAtWork,
  { id, changeRequest }: PlanRecord,
): Promise<{ readonly refused?: string }> {
  if (loom.forge.name === "local") return {};
  const outcome = await (await loom.forge.server()).takeBack(changeRequest?.ref ?? "");
  crashPoint("server:taken-back");
  if (loom.stopping) return {};
  notePublished(loom, id, { ready: undefined, queued: undefined });
  if ("refused" in outcome) {
    const text = `its change request stays ready (${outcome.refused}), so it can be merged there: ${changeRequest?.url}`;
    loom.report({ planId: id, level: "bad", text });
    return outcome;
  }
  changeSeen(loom, id, outcome);
  loom.report({ planId: id, level: "info", text: "its change request is a draft again" });
  return {};
}
