import type { BusEvent } from "../../bus/types.ts";
import type { GateRecord } from "../../gate/gate-record.ts";
import { type Judged, judgeComment, type PostedGate } from "../../gate/judge-comment.ts";
import type { SignatureCheck } from "../../gate/signed-answer.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import { AGENT_MESSAGE } from "../messages/messages.ts";
import type { Located } from "../paths.ts";
import { type Records, updateRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";
import { answerGate } from "./answer-gate.ts";
import type { Gated } from "./gate-store.ts";
import { gatesOf } from "./plan-gate.ts";

/** A comment that decided something, or one that goes on as feedback, with what its author is told. */
export type HeardAnswer = { kind: "answered"; reason: string; reply?: string } | { kind: "pending"; reply?: string };

type NotDecided = Extract<Judged, { decides: "none" }>;

export interface HeardComment {
  readonly event: BusEvent;
  /** What became of its signature, if it has one. */
  readonly signature?: SignatureCheck | undefined;
}

/** Takes a comment as an answer to the plan's gate; undefined for one that is none. */
export function hearAnswer(
  loom: Located & Configured & Records & Gated & Buses,
  record: PlanRecord,
  { event, signature }: HeardComment,
): HeardAnswer | undefined {
  const author = event.context?.author;
  if (!author || event.type === AGENT_MESSAGE) return undefined;
  const gates = gatesOf(loom, record).filter(({ told }) => told !== undefined);
  const known = gates.find((gate) => gate.event === event.id);
  // Heard before, right before a kill.
  if (known) return consequence(known);
  const edited = event.context?.edited === true;
  // A comment that a plugin put off may be older than the gate.
  const at = gates.length === 0 ? undefined : (loom.bus(record.id).cameInAt(event.id) ?? 0);
  const comment = { body: event.body, author, edited, at, signature };
  const judged = judgeComment(comment, gates.map(posted), { approvers: loom.config.gates.approvers });
  // Where nothing is to be approved, praise is feedback like any other.
  if (judged.decides === "none") return gates.length > 0 || isGated(loom, record) ? unheard(judged) : undefined;
  if (judged.decides === "hold" || judged.decides === "unhold") {
    const paused = judged.decides === "hold";
    updateRecord(loom, record.id, () => ({ paused, halted: undefined }));
    return { kind: "answered", reason: paused ? "paused" : "goes on" };
  }
  const { decides: decision, gateId = "", words, signer } = judged;
  const who =
    signer === undefined ? { by: author.login, via: "thread" as const } : { by: signer, via: "signed" as const };
  const answer = { decision, gateId, words, ...who, event: event.id };
  const outcome = answerGate(loom, record.id, answer);
  if (outcome.kind === "stale")
    return unheard({ ...outcome, reply: `Nothing was decided: ${outcome.why}.`, isAnswer: true });
  return consequence(outcome.gate);
}

/** What says more than an answer goes on as feedback; both get the reply. */
function unheard({ why, reply, isAnswer }: Pick<NotDecided, "why" | "reply" | "isAnswer">): HeardAnswer | undefined {
  if (reply === undefined) return undefined;
  return isAnswer ? { kind: "answered", reason: why, reply } : { kind: "pending", reply };
}

/** Words that ask for another design reach the designer. */
function consequence({ state, gateId }: GateRecord): HeardAnswer {
  return state === "revised" ? { kind: "pending" } : { kind: "answered", reason: `${state}: gate ${gateId}` };
}

function isGated(loom: Configured, record: PlanRecord): boolean {
  const config = planConfig(loom, record);
  return config.ok && (config.config.gated || config.config.prGated);
}

const posted = ({ gateId, state, openedAt }: GateRecord): PostedGate => ({
  gateId,
  state,
  postedAt: Date.parse(openedAt),
});
