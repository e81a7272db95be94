import type { PlanConfig } from "../../config/presets.ts";
import {
  approvedHead,
  approvedScope,
  type Door,
  doorOf,
  GATE_KINDS,
  type GateDecision,
  type GateKind,
  type GateRecord,
  stateAfter,
  unanswered,
} from "../../gate/gate-record.ts";
import { isoTime } from "../../kernel/clock.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { changeDigest, planDigest, scopeDigest } from "../../plan/digest.ts";
import { wishesOf } from "../../plan/metadata.ts";
import { quoteAdded } from "../../plan/quote-logs.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { PlanText } from "../intake/plan-texts.ts";
import { type Located, textPath } from "../paths.ts";
import { planText, type Records, updateRecord } from "../records.ts";
import type { Gated } from "./gate-store.ts";

/** The newest gate of a plan, or of its change request. */
export function gateOf(loom: Gated, record: PlanRecord, kind: GateKind = "plan"): GateRecord | undefined {
  const { id, uid } = record;
  const gate = kind === "plan" ? record.gate : record.prGate;
  // One that was moved away says nothing, so the plan is shown again.
  const found = gate === undefined ? undefined : loom.gates.get(gate);
  if (!found || (found.planUid === uid && found.gateId === gate && found.kind === kind)) return found;
  const hint = `Move .git/prloom/gates/${gate}.json away; the plan is then shown again.`;
  throw new PrloomError("state-unreadable", `The gate ${gate} is not one of ${id}.`, hint);
}

/** All gates of a plan, oldest first: those of the plan, then those of its change request. */
export function gatesOf(loom: Gated, record: PlanRecord): GateRecord[] {
  return GATE_KINDS.flatMap((kind) => gatesOfKind(loom, record, kind));
}

/** The newest gate of each kind. */
export function newestGates(loom: Gated, record: PlanRecord): GateRecord[] {
  return GATE_KINDS.flatMap((kind) => gateOf(loom, record, kind) ?? []);
}

/** The gate that the plan waits at: its own before that of its change request, which it gets to only behind the other. */
export function waitingGate(loom: Gated, record: PlanRecord): GateRecord | undefined {
  return newestGates(loom, record).find(({ state }) => state === "open");
}

/** A gate whose outcome its thread was not told yet: first one that is over, which may have made room for the other. */
export function untoldGate(loom: Gated, record: PlanRecord): GateRecord | undefined {
  const gates = newestGates(loom, record).flatMap((gate) => {
    const before = gate.before === undefined ? undefined : loom.gates.get(gate.before);
    return before ? [before, gate] : [gate];
  });
  const untold = gates.filter(({ told, state }) => told !== state);
  return untold.find(({ state }) => state !== "open") ?? untold[0];
}

/** The gate that an answer without a name is for: the one that the plan waits at, or the approval that was given last. */
export function meantGate(loom: Gated, record: PlanRecord, decision: GateDecision): GateRecord | undefined {
  const gates = newestGates(loom, record);
  const waits = ({ state }: GateRecord): boolean => stateAfter(state, decision) !== undefined;
  return (decision === "withdraw" ? gates.findLast(waits) : gates.find(waits)) ?? gates.at(-1);
}

function gatesOfKind(loom: Gated, record: PlanRecord, kind: GateKind): GateRecord[] {
  const found: GateRecord[] = [];
  for (
    let gate = gateOf(loom, record, kind);
    gate;
    gate = gate.before === undefined ? undefined : loom.gates.get(gate.before)
  )
    found.unshift(gate);
  return found;
}

/** Texts are parsed again only when they change, so this is computed once for each. */
const said = new WeakMap<PlanText, { readonly own: string; readonly says: PlanSays }>();

export interface PlanSays {
  readonly scope: string;
  readonly digest: string;
}

/** What the plan says and how it asks to be worked on, without and with the logs of agents. */
export function whatPlanSays({ metadata }: Pick<PlanRecord, "metadata">, text: PlanText): PlanSays {
  const { wishes } = wishesOf(metadata);
  const own = JSON.stringify(wishes);
  const known = said.get(text);
  if (known?.own === own) return known.says;
  const says = { scope: scopeDigest(text.text, wishes), digest: planDigest(text.text, wishes) };
  said.set(text, { own, says });
  return says;
}

/** Whether the plan may be implemented as it is now. */
export function doorAt(
  loom: Gated,
  record: PlanRecord,
  text: PlanText | undefined,
  config: Pick<PlanConfig, "gated">,
): Door {
  if (!config.gated) return { kind: "open" };
  if (!text) return { kind: "due" };
  return doorOf({ isWanted: true, gate: gateOf(loom, record), ...whatPlanSays(record, text) });
}

/** What a worker is told about the approval of its plan: quoted, so that no person's words look like ours. */
export function approvalOf(loom: Gated, record: PlanRecord): string {
  const gate = gateOf(loom, record);
  if (gate?.state !== "approved") return "";
  const words = (gate.comment ?? "").trim();
  const said = words === "" ? "" : `\n\n${words.replace(/^/gm, "> ").replace(/(?<! ) +$/gm, "")}`;
  return `## Approval\n\n${gate.decidedBy} approved this plan on ${gate.decidedAt}. Do what it says, and no more.${said}\n`;
}

/** The plan as an agent is told it: what agents wrote into its logs since a person approved it is quoted. */
export function toldPlan(loom: Gated, record: PlanRecord, text: string): string {
  const gate = gateOf(loom, record);
  return gate?.state === "approved" ? quoteAdded(text, gate.text) : text;
}

/** Writes gates, then what the record of their plan is to say: a record names no gate that is not there. */
export function putGates(
  loom: Records & Gated,
  id: string,
  gates: readonly GateRecord[],
  change: (record: PlanRecord) => Partial<PlanRecord> = () => ({}),
): void {
  loom.store.together((files) => {
    files.push(...gates.map((gate) => loom.gates.file(gate)));
    updateRecord(loom, id, change);
  });
  // Decisions about what an agent may do are not to be taken back by a power loss.
  loom.store.sync();
}

/** The plan waits for no answer any more, and `why` says for what reason. */
export function endGates(loom: Records & Gated, record: PlanRecord, why: string): void {
  const open = newestGates(loom, record).filter(({ state }) => state === "open");
  const now = isoTime(loom.clock.now());
  if (open.length > 0)
    putGates(
      loom,
      record.id,
      open.map((gate) => unanswered(gate, now, why)),
      unblocked,
    );
}

/** A plan that is blocked for want of an answer, once it got one or needs none. */
export function unblocked({ blocked }: PlanRecord): Partial<PlanRecord> {
  return blocked?.cause === "gate" ? { blocked: undefined } : {};
}

interface Amending {
  readonly text: string;
  readonly by: readonly string[];
  /** A plugin of the config did it: also a change that was approved stays so. Words of people are shown with what comes of them. */
  readonly isPlugin?: boolean;
}

/**
 * Writes another text of a plan that comes from words of people who may approve it, or from a plugin of the config. If the plan was
 * approved as it was, it stays so: the change is recorded with its authors.
 */
export function writeAmended(loom: Located & Records & Gated, record: PlanRecord, amending: Amending): void {
  const path = textPath(loom, record);
  const { text } = amending;
  const amended = amendedGates(loom, record, amending);
  if (amended.length === 0) {
    loom.texts.write(path, text);
    return;
  }
  loom.store.together((files) => files.push(...amended.map((gate) => loom.gates.file(gate)), { path, data: text }));
  loom.store.sync();
}

function amendedGates(
  loom: Located & Records & Gated,
  record: PlanRecord,
  { text, by, isPlugin = false }: Amending,
): GateRecord[] {
  const gates = newestGates(loom, record).filter(({ kind }) => kind === "plan" || isPlugin);
  const before = gates.length > 0 ? planText(loom, record) : undefined;
  if (!before) return [];
  const next = scopeDigest(text, wishesOf(record.metadata).wishes);
  return gates.flatMap((gate) => {
    const scopeFor = (plan: string): string =>
      gate.kind === "plan" ? plan : changeDigest(approvedHead(gate) ?? "", plan);
    const approved = gate.state === "approved" ? approvedScope(gate) : undefined;
    const scope = scopeFor(next);
    // Equal to the new text: the same amendment, and a kill came before its text.
    if (approved === scope || approved !== scopeFor(whatPlanSays(record, before).scope)) return [];
    const amendment = { at: isoTime(loom.clock.now()), by: [...by], scope };
    return [{ ...gate, amendments: [...gate.amendments, amendment] }];
  });
}
