import type { PlanConfig } from "../../config/presets.ts";
import { approvedHead, type Door, doorOf, type GateRecord } from "../../gate/gate-record.ts";
import { readTip } from "../../git/refs.ts";
import { changeDigest } from "../../plan/digest.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { PlanText } from "../intake/plan-texts.ts";
import type { Located } from "../paths.ts";
import type { Gated } from "./gate-store.ts";
import { gateOf, type PlanSays, whatPlanSays } from "./plan-gate.ts";

/** What a change is, as far as an approval is for it: its commit and its plan. */
export function whatChangeSays(record: PlanRecord, text: PlanText, head: string): PlanSays {
  const { scope, digest } = whatPlanSays(record, text);
  return { scope: changeDigest(head, scope), digest: changeDigest(head, digest) };
}

interface SeenChange {
  readonly text: PlanText | undefined;
  readonly config: Pick<PlanConfig, "prGated">;
  /** The tip of the plan's branch; undefined if it has none. */
  readonly head: string | undefined;
}

/** Whether the change request may be marked ready, and merged, as it is now. */
export function prDoorAt(loom: Gated, record: PlanRecord, { text, config, head }: SeenChange): Door {
  if (!config.prGated) return { kind: "open" };
  if (!text || head === undefined) return { kind: "due" };
  return doorOf({ isWanted: true, gate: gateOf(loom, record, "pr"), ...whatChangeSays(record, text, head) });
}

/**
 * Where the branch stands, without asking git. Where only git can tell, the commit that was shown is taken: before it is marked ready or
 * merged git is asked.
 */
export function headSeen(loom: Located & Gated, record: PlanRecord): string | undefined {
  const tip = record.branch === undefined ? "absent" : readTip(loom.paths.commonDir, record.branch);
  if (tip !== undefined) return tip === "absent" ? undefined : tip;
  const gate = gateOf(loom, record, "pr");
  return gate && approvedHead(gate);
}

/** Why the change may not be merged, as a clause; for a door that is not open. */
export function whyClosed(gate: GateRecord | undefined, head: string | undefined): string {
  if (!gate) return "it was not shown to anyone yet";
  if (gate.state === "withdrawn") return "its approval was withdrawn";
  if (gate.state !== "approved") return `gate ${gate.gateId} is ${gate.state}`;
  const approved = approvedHead(gate);
  if (approved === head) return `the plan changed after gate ${gate.gateId}`;
  return `gate ${gate.gateId} is for commit ${approved?.slice(0, 8)}, and the branch is at ${head?.slice(0, 8)}`;
}
