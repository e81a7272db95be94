import { LOCAL_TARGET } from "../../bridges/local/thread.ts";
import { type GateDecision, type GateRecord, isShown, isUnanswered, stateAfter } from "../../gate/gate-record.ts";
import { readTip } from "../../git/refs.ts";
import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Located } from "../paths.ts";
import { planText, type Records, requireRecord, updateRecord } from "../records.ts";
import { withoutSessions } from "../runs/count-run.ts";
import type { Configured } from "../settings/pinned.ts";
import { isAsked } from "./doors.ts";
import type { Gated } from "./gate-store.ts";
import { newestGates, unblocked, waitingGate, whatPlanSays } from "./plan-gate.ts";
import { headSeen, whatChangeSays } from "./pr-gate.ts";

export interface GateAnswer {
  readonly decision: GateDecision;
  /** The gate that was seen; another one that is open by now is not meant. */
  readonly gateId: string;
  readonly by: string;
  readonly via: "cli" | "thread" | "signed";
  readonly words: string;
  /** The event that it came in. */
  readonly event?: string;
}

/** What came of an answer. `stale`: the gate does not wait for it (any more); `why` is a clause for the person who gave it. */
export type AnswerOutcome =
  | { readonly kind: "decided"; readonly gate: GateRecord }
  | { readonly kind: "stale"; readonly why: string };

/** Decides about a gate: once, for whichever answer comes first. */
export function answerGate(
  loom: Located & Configured & Records & Gated,
  id: string,
  answer: GateAnswer,
): AnswerOutcome {
  const record = requireRecord(loom, id);
  const newest = newestGates(loom, record);
  const gate = newest.find(({ gateId }) => gateId === answer.gateId);
  if (!gate) {
    const id = newest.at(-1)?.gateId;
    const why = id ? `gate ${answer.gateId} is not the newest of this plan, which is ${id}` : "no gate is open";
    return { kind: "stale", why };
  }
  // Heard before, right before a kill.
  if (answer.event !== undefined && gate.event === answer.event) return { kind: "decided", gate };
  const late = whyLate(loom, record, gate) ?? whyUnasked(loom, record, gate);
  const state = stateAfter(gate.state, answer.decision);
  if (late !== undefined || state === undefined) return { kind: "stale", why: late ?? lateFor(gate) };
  const changed = state === "approved" ? whyNotAsShown(loom, record, gate) : undefined;
  if (changed !== undefined) return { kind: "stale", why: changed };
  const { by: decidedBy, via, words, event } = answer;
  const decidedAt = isoTime(loom.clock.now());
  const taken = state === "withdrawn" ? { approval: approvalBy(gate) } : {};
  const decided: GateRecord = { ...gate, state, decidedBy, via, decidedAt, comment: words, event, ...taken };
  putDecision(loom, id, decided);
  crashPoint("gate:decided");
  return { kind: "decided", gate: decided };
}

/** A worker may have begun with it: who gave it stays on record. */
function approvalBy({ decidedBy, via, decidedAt, comment }: GateRecord): GateRecord["approval"] {
  return { decidedBy, via, decidedAt, comment };
}

/** An approval of what is no longer there would be one of what its author has not seen. Undefined if it is as it was shown. */
function whyNotAsShown(loom: Located & Records & Gated, record: PlanRecord, gate: GateRecord): string | undefined {
  const { id, branch, blocked } = record;
  const text = planText(loom, record);
  // A blocked plan is looked at again only then.
  const then = blocked ? `, then run \`prloom unblock ${id}\`` : "";
  if (!text || !/\S/.test(text.text))
    return `its plan.md is missing or unreadable, or has no text: write it again with \`prloom edit ${id} --file plan.md\`${then}`;
  const head = gate.kind === "plan" ? "" : headSeen(loom, record);
  if (head === undefined) return `its branch ${branch} is gone`;
  const { digest } = gate.kind === "plan" ? whatPlanSays(record, text) : whatChangeSays(record, text, head);
  return digest === gate.digest ? undefined : `it changed after gate ${gate.gateId}, and ${whenShown(record)}`;
}

/** What has to come before it is shown as it is now. */
function whenShown(record: PlanRecord): string {
  const command = releasing(record);
  return command === undefined ? "is about to be shown again" : `${command} shows it again`;
}

/** The command without which nothing is done for a plan; undefined if there is none. */
export function releasing({ id, blocked, hidden, paused }: PlanRecord): string | undefined {
  const command = blocked ? "unblock" : hidden ? "unhide" : paused ? "resume" : undefined;
  return command === undefined ? undefined : `\`prloom ${command} ${id}\``;
}

/** What no state of the gate says; undefined if nothing. */
function whyLate(loom: Located & Records, record: PlanRecord, gate: GateRecord): string | undefined {
  const { state, told, expiresAt } = gate;
  const { status, merge, baseBranch = "" } = record;
  if (status === "done") return `the plan is done${record.outcome === undefined ? "" : ` (${record.outcome})`}`;
  // A kill may have come before the plan was ended.
  if (merge && readTip(loom.paths.commonDir, baseBranch) === merge.sha) return `it is merged into ${baseBranch}`;
  if (told === undefined) return "it was not shown to anyone yet";
  if (state === "open" && !isShown(gate)) return "it is not shown completely yet";
  // Also before a dispatcher has looked.
  const isOver = state === "open" && expiresAt !== undefined && loom.clock.now() >= Date.parse(expiresAt);
  return isOver ? `it waited for an answer until ${expiresAt}` : undefined;
}

/** With gates switched off an approval opens nothing, and taking one back holds nothing: the plan goes on. */
function whyUnasked(loom: Configured, record: PlanRecord, { kind }: GateRecord): string | undefined {
  if (isAsked(loom, record, kind)) return undefined;
  return `gates.${kind} is off, so nothing waits for an answer; \`prloom pause ${record.id}\` holds the plan`;
}

function lateFor(gate: GateRecord): string {
  const { gateId, state, decidedBy, via, decidedAt, comment } = gate;
  if (isUnanswered(gate)) return `gate ${gateId} was replaced${comment === undefined ? "" : `: ${comment}`}`;
  if (state === "open") return `gate ${gateId} was not approved, so there is nothing to withdraw`;
  const by = decidedBy === undefined ? "" : ` by ${decidedBy}`;
  return `gate ${gateId} is ${state}${by}${via === undefined ? "" : ` (${via})`}${decidedAt === undefined ? "" : ` since ${decidedAt}`}`;
}

/** The plan's record first: an answer that a kill cuts off between the two is given again, and finds a gate that waits for it. */
function putDecision(loom: Records & Gated, id: string, decided: GateRecord): void {
  loom.store.together((files) => {
    updateRecord(loom, id, (now) => ({ ...unblocked(now), ...consequence(now, decided) }));
    files.push(loom.gates.file(decided));
  });
  // Decisions about what an agent may do are not to be taken back by a power loss.
  loom.store.sync();
}

/** What the record of the plan says in the same write. */
function consequence(
  record: PlanRecord,
  { kind, state, decidedBy, decidedAt = "", comment }: GateRecord,
): Partial<PlanRecord> {
  // Of a change, what is to be different goes to triage, as every comment on it does.
  if (kind === "pr" && state !== "rejected" && state !== "expired") return {};
  switch (state) {
    case "approved":
      // Its conversation was kept for a revision.
      return withoutSessions(record, ["designer"]);
    case "revised":
      return { revising: true };
    case "rejected":
      return {
        blocked: {
          reason: `Rejected by ${decidedBy}${comment === undefined || comment === "" ? "" : `: ${comment}`}`,
          hint: `Change it with \`prloom edit ${record.id}\`; \`prloom unblock ${record.id}\` shows it again.`,
          at: decidedAt,
          cause: "person",
        },
      };
    case "expired":
      return {
        blocked: {
          reason: comment ?? "It waited for an answer for too long (gates.expireAfter).",
          hint: `\`prloom unblock ${record.id}\` shows it again.`,
          at: decidedAt,
          cause: "step",
        },
      };
    default:
      return {};
  }
}

/** No answer came in time: the plan stands still, and says why. */
export function expireGate(loom: Records & Gated, record: PlanRecord): void {
  const gate = waitingGate(loom, record);
  if (!gate) return;
  const expired: GateRecord = { ...gate, state: "expired", via: "prloom", decidedAt: isoTime(loom.clock.now()) };
  putDecision(loom, record.id, expired);
}

/** A part of it cannot be posted: what is not shown whole is not answered. */
export function giveUpGate(
  loom: Records & Gated,
  record: PlanRecord,
  { reason, bridge }: { readonly reason: string; readonly bridge?: string | undefined },
): void {
  const gate = waitingGate(loom, record);
  if (!gate) return;
  const comment = `It could not be shown (${bridge ?? gate.thread?.target ?? LOCAL_TARGET}): ${reason}`;
  const over = { state: "expired", via: "prloom", decidedAt: isoTime(loom.clock.now()), comment } as const;
  putDecision(loom, record.id, { ...gate, ...over });
}
