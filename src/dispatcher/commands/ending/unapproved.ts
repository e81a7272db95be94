import { PrloomError } from "../../../kernel/errors.ts";
import type { PlanRecord } from "../../../plan/record.ts";
import type { Gated } from "../../gates/gate-store.ts";
import { gateOf } from "../../gates/plan-gate.ts";
import { headSeen, prDoorAt, whyClosed } from "../../gates/pr-gate.ts";
import type { Located } from "../../paths.ts";
import { planText, type Records } from "../../records.ts";
import type { Configured } from "../../settings/pinned.ts";
import { planConfig } from "../../settings/plan-config.ts";

type Seeing = Located & Configured & Records & Gated;

/** Refuses to merge a change that waits for an answer, or of which another commit or plan was approved. Not to be forced: approving it is as easy. */
export function refuseUnapproved(loom: Seeing, record: PlanRecord, head = headSeen(loom, record)): void {
  const wished = planConfig(loom, record);
  // What a broken config would have said is not known: the file's own word counts, and that it was asked for before.
  const config = wished.ok ? wished.config : { prGated: loom.config.gates.pr || record.prGate !== undefined };
  const door = prDoorAt(loom, record, { text: planText(loom, record), config, head });
  const { id, status } = record;
  if (door.kind === "open") return;
  if (door.kind === "closed") {
    const message = `${id} waits for an answer (gate ${door.gate.gateId}): its change is not merged before it is approved.`;
    throw new PrloomError(
      "plan-state",
      message,
      `\`prloom show ${id}\` shows it; \`prloom approve ${id}\` approves it.`,
    );
  }
  // One that is still worked on is not shown yet; that it is not in review is what there is to say.
  if (status !== "review") return;
  const message = `The change of ${id} is not approved: ${whyClosed(gateOf(loom, record, "pr"), head)}.`;
  const hint = `\`prloom start\` shows it again; then \`prloom approve ${id}\` approves it.`;
  throw new PrloomError("plan-state", message, hint);
}
