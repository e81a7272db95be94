import type { PlanConfig } from "../../config/presets.ts";
import { type GateKind, type GateRecord, isShown } from "../../gate/gate-record.ts";
import { messageOf } from "../../kernel/errors.ts";
import { titleOf } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Gated } from "../gates/gate-store.ts";
import { doorAt } from "../gates/plan-gate.ts";
import { headSeen, prDoorAt } from "../gates/pr-gate.ts";
import type { Located } from "../paths.ts";
import { planText, type Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";

export interface OpenGate {
  readonly plan: string;
  readonly title: string;
  readonly gateId: string;
  readonly kind: GateKind;
  readonly digest: string;
  readonly openedAt: string;
  readonly expiresAt?: string | undefined;
  readonly shown: string;
}

export interface GatesReport {
  readonly gates: readonly OpenGate[];
  /** Who may answer, where that is not everyone with write permission. */
  readonly approvers: readonly string[] | undefined;
  /** Plans whose gates cannot be read, and why. */
  readonly problems: readonly string[];
}

/** All gates that wait for an answer, oldest first. One that cannot be read keeps no other from being listed. */
export function readGates(loom: Located & Configured & Records & Gated): GatesReport {
  const { records } = loom.store.list({ status: "active" }, { limit: Number.MAX_SAFE_INTEGER });
  const problems: string[] = [];
  const open = records.flatMap((record) => {
    try {
      return record.deleted ? [] : openGateOf(loom, record);
    } catch (error) {
      problems.push(`${record.id}: ${messageOf(error)}`);
      return [];
    }
  });
  const gates = open.sort((a, b) => a.openedAt.localeCompare(b.openedAt));
  return { gates, approvers: loom.config.gates.approvers, problems };
}

/** None where gates were switched off since, or where the plan is about to be shown again. */
function openGateOf(loom: Located & Configured & Records & Gated, record: PlanRecord): OpenGate[] {
  const config = planConfig(loom, record);
  const gate = config.ok ? closedGate(loom, record, config.config) : undefined;
  if (!gate || !isShown(gate)) return [];
  const { gateId, kind, digest, openedAt, expiresAt, shown, text } = gate;
  return [{ plan: record.id, title: titleOf(text, record.id), gateId, kind, digest, openedAt, expiresAt, shown }];
}

/** The gate that the plan waits at, as it is now. */
function closedGate(
  loom: Located & Records & Gated,
  record: PlanRecord,
  config: Pick<PlanConfig, "gated" | "prGated">,
): GateRecord | undefined {
  const text = planText(loom, record);
  const door = doorAt(loom, record, text, config);
  if (door.kind === "closed" || !config.prGated) return door.kind === "closed" ? door.gate : undefined;
  const prDoor = prDoorAt(loom, record, { text, config, head: headSeen(loom, record) });
  return prDoor.kind === "closed" ? prDoor.gate : undefined;
}
