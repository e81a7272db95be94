import { type GateKind, isShown } from "../../gate/gate-record.ts";
import { messageOf } from "../../kernel/errors.ts";
import { titleOf } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Gated } from "../gates/gate-store.ts";
import { phaseAt } from "../intake/phases.ts";
import type { Located } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";

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
  /** Nothing keeps agents from writing before an answer. */
  readonly advisory: boolean;
  /** Plans whose gates cannot be read, and why. */
  readonly problems: readonly string[];
}

/** All gates that wait for an answer, oldest first. One that cannot be read keeps no other from being listed. */
export function readGates(loom: Located & Configured & Records & Gated): GatesReport {
  const { records } = loom.store.list({ status: "active" });
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
  const { approvers, advisory } = loom.config.gates;
  return { gates, approvers, advisory, problems };
}

/** None where gates were switched off since, or where the plan is about to be shown again. */
function openGateOf(loom: Located & Configured & Records & Gated, record: PlanRecord): OpenGate[] {
  const waits = phaseAt(loom, record).gate;
  const gate = waits && loom.gates.get(waits.gateId);
  if (!gate || !isShown(gate)) return [];
  const { gateId, kind, digest, openedAt, expiresAt, shown, text } = gate;
  return [{ plan: record.id, title: titleOf(text, record.id), gateId, kind, digest, openedAt, expiresAt, shown }];
}
