import type { PlanConfig } from "../../config/presets.ts";
import type { Door, GateKind } from "../../gate/gate-record.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { PlanText } from "../intake/plan-texts.ts";
import type { Located } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";
import type { Gated } from "./gate-store.ts";
import { doorAt } from "./plan-gate.ts";
import { headSeen, prDoorAt } from "./pr-gate.ts";

export interface Doors {
  /** Whether the plan may be implemented. */
  readonly door: Door;
  /** Whether its change request may be marked ready, and merged. */
  readonly prDoor: Door;
}

interface Seen {
  readonly text: PlanText | undefined;
  readonly config: Pick<PlanConfig, "gated" | "prGated">;
  /** The tip of the plan's branch, where git was asked. */
  readonly head?: string | undefined;
}

/** What stands in the way of a plan as it is now: what is decided, listed, told and refused because of gates comes from here. */
export function doorsAt(loom: Located & Gated, record: PlanRecord, { text, config, head }: Seen): Doors {
  const tip = (): string | undefined => head ?? (config.prGated ? headSeen(loom, record) : undefined);
  return {
    door: doorAt(loom, record, text, config),
    prDoor: prDoorAt(loom, record, { text, config, head: tip() }),
  };
}

/** Whether a person is asked. What a broken config would have said is not known: its file's own word counts, and that it was asked before. */
export function isAsked(loom: Configured, record: PlanRecord, kind: GateKind): boolean {
  const wished = planConfig(loom, record);
  if (wished.ok) return kind === "plan" ? wished.config.gated : wished.config.prGated;
  return loom.config.gates[kind] || (kind === "plan" ? record.gate : record.prGate) !== undefined;
}
