import { GATE_SCHEMA_VERSION, type GateRecord, unanswered } from "../../gate/gate-record.ts";
import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Naming } from "../capabilities.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Gated } from "./gate-store.ts";
import { newestGates, putGates } from "./plan-gate.ts";

interface Asked extends Pick<GateRecord, "kind" | "digest" | "scope" | "text" | "head" | "awaits"> {
  /** The newest gate of this kind. */
  readonly before: GateRecord | undefined;
  /** What is posted; it names the gate. */
  shown(gateId: string): string;
}

/**
 * Closes the door, and takes what was shown before out of the way: a plan waits at one gate at most. That of its change is for a plan
 * that it is not any more, or that of the plan was switched off.
 */
export function putNewGate(
  loom: Naming & Configured & Records & Gated,
  record: PlanRecord,
  { before, shown, ...asked }: Asked,
): void {
  const { id, uid } = record;
  const now = loom.clock.now();
  const gateId = loom.ids.ulid(now);
  const { expireAfterMs } = loom.config.gates;
  const gate: GateRecord = {
    schemaVersion: GATE_SCHEMA_VERSION,
    ...{ gateId, planUid: uid, planId: id, ...asked, before: before?.gateId, shown: shown(gateId) },
    openedAt: isoTime(now),
    ...(expireAfterMs === undefined ? {} : { expiresAt: isoTime(now + expireAfterMs) }),
    reminders: 0,
    state: "open",
    amendments: [],
  };
  // What was asked about changed meanwhile: what was shown is not to be answered any more.
  const open = newestGates(loom, record).filter(({ state }) => state === "open");
  const superseded = open.map((one) => unanswered(one, gate.openedAt));
  putGates(loom, id, [...superseded, gate], () => (asked.kind === "plan" ? { gate: gateId } : { prGate: gateId }));
  if (asked.kind === "plan") crashPoint("gate:opened");
  else crashPoint("pr-gate:opened");
}
