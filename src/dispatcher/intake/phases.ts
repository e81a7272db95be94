import type { BusEvent } from "../../bus/types.ts";
import type { EventContexts } from "../../hooks/contexts/event-types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { phaseOf, phasesSince } from "../../plan/phase.ts";
import type { Phase } from "../../plan/plan-types.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { SummaryExtras } from "../../plan/summary.ts";
import type { Buses } from "../buses/buses.ts";
import { doorsAt } from "../gates/doors.ts";
import type { Gated } from "../gates/gate-store.ts";
import { type Located, textPath } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";
import { isDesignDue } from "../steps/decide.ts";

/** The phase of a plan that is worked on, and the gate at which it waits. */
export function phaseAt(
  loom: Located & Configured & Records & Gated,
  record: PlanRecord,
): Pick<SummaryExtras, "phase" | "gate"> {
  const due = record.status === "active" ? designDue(loom, record) : undefined;
  if (due === undefined) return {};
  const wished = planConfig(loom, record);
  const config = wished.ok && !due && (wished.config.gated || wished.config.prGated) ? wished.config : UNGATED;
  // The text is opened only where there may be a gate: lists are long.
  const text = config === UNGATED ? undefined : loom.texts.read(textPath(loom, record));
  const { door, prDoor } = doorsAt(loom, record, { text, config });
  const phase = phaseOf(record, { isDesignDue: due, door: door.kind, prDoor: prDoor.kind });
  const at = phase === "plan_gate" ? door : phase === "pr_gate" ? prDoor : undefined;
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(at?.kind === "closed" ? { gate: { gateId: at.gate.gateId, openedAt: at.gate.openedAt } } : {}),
  };
}

const UNGATED = { gated: false, prGated: false };

/** Undefined for a plan without a text. */
function designDue(loom: Located & Records, record: PlanRecord): boolean | undefined {
  const path = textPath(loom, record);
  const total = loom.texts.facts(path, record.id)?.total;
  if (total === undefined) return undefined;
  if (record.designed && !record.revising) return total === 0;
  const text = loom.texts.read(path);
  return text && isDesignDue(record, text.doc);
}

/**
 * Tells on the global bus that a plan has come to another phase; returns how many events that took. Ids have the phase in
 * them: what a kill cut off is told again under the same id, or was told and is followed by what is true by now.
 */
export function tellPhase(loom: Located & Configured & Records & Gated & Buses, planId: string): number {
  const record = loom.store.byId(planId);
  const now = record && !record.deleted ? phaseAt(loom, record).phase : undefined;
  if (!record || now === undefined) return 0;
  const { phase: told, seq = 0 } = record.toldPhase ?? {};
  const phases = phasesSince(told, now);
  if (phases.length === 0) return 0;
  loom.globalBus().appendEvents(phases.map((phase, at) => phaseEvent(record, phases[at - 1] ?? told, phase, seq + at)));
  crashPoint("phase:told");
  const toldPhase = { phase: now, seq: seq + phases.length };
  // By itself and not by `updateRecord`: nothing about the plan changed.
  loom.store.put(record.uid, { ...record, toldPhase }, record.revision);
  return phases.length;
}

function phaseEvent(record: PlanRecord, before: Phase | undefined, phase: Phase, seq: number): BusEvent {
  const { id: planId, uid, source } = record;
  const context: EventContexts["plan_phase_changed"] = {
    planId,
    ...(source ? { source } : {}),
    ...(before === undefined ? {} : { oldPhase: before }),
    newPhase: phase,
  };
  return {
    id: `plan_phase_changed-${uid}-${seq + 1}-${phase}`,
    source: "prloom",
    type: "plan_phase_changed",
    severity: "info",
    title: `Plan ${planId}: ${phase}`,
    body: PHASE_WORDS[phase],
    context: { ...context },
  };
}

const PHASE_WORDS: Readonly<Record<Phase, string>> = {
  investigating: "It has no TODOs yet: its designer looks into what it asks for.",
  planning: "Its designer writes the plan.",
  planning_complete: "The plan is complete.",
  plan_gate: "The plan waits for a person's answer.",
  implementing: "The plan is being implemented.",
  pr_gate: "The change waits for a person's answer.",
};
