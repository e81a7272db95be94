import * as z from "zod";
import { replyAddressSchema } from "../bus/types.ts";

export const GATE_STATES = ["open", "approved", "rejected", "revised", "withdrawn", "expired"] as const;
export type GateState = (typeof GATE_STATES)[number];

/** What is asked about: a plan before it is implemented, or its change request before it is ready. */
export const GATE_KINDS = ["plan", "pr"] as const;
export type GateKind = (typeof GATE_KINDS)[number];

/** By which way an answer came. */
const GATE_WAYS = ["cli", "thread", "signed", "prloom"] as const;

/** A change of the plan after its approval, by words of people who may approve. */
const amendmentSchema = z.strictObject({
  at: z.string(),
  /** What was said, or the plugin that did it. */
  by: z.array(z.string()),
  /** Digest of the plan afterwards. */
  scope: z.string(),
  /** Of a change that was brought onto its base: the commit that it is for from then on. */
  head: z.string().optional(),
});

export const GATE_SCHEMA_VERSION = 1;

/** What a person was shown, and what was decided about it. Changed by the owner of the repository alone, never removed. */
export const gateRecordSchema = z.strictObject({
  schemaVersion: z.literal(GATE_SCHEMA_VERSION),
  gateId: z.string(),
  planUid: z.string(),
  planId: z.string(),
  kind: z.enum(GATE_KINDS),
  /** The gate of the same plan and kind that came before it. */
  before: z.string().optional(),
  /** Of the plan's text as it was, logs of agents included, and of the commit if there is one: what an answer is about. */
  digest: z.string(),
  /** The same without the logs, which grow while the work goes on: what must still be so. */
  scope: z.string(),
  /** Of a change: the commit that was shown. */
  head: z.string().optional(),
  text: z.string(),
  /** The very words that were posted. */
  shown: z.string(),
  openedAt: z.string(),
  expiresAt: z.string().optional(),
  /** How often people were reminded, and when last. */
  reminders: z.int().min(0),
  remindedAt: z.string().optional(),
  state: z.enum(GATE_STATES),
  /** The newest state that the thread and the global bus were told of. */
  told: z.enum(GATE_STATES).optional(),
  /** It is to be shown there, and that is not open yet when the gate is opened. */
  awaits: z.literal("change-request").optional(),
  /** Where it was told; without it, in the local thread, where a post is there as soon as it is made. */
  thread: replyAddressSchema.optional(),
  /** The posts, where the words that are shown took more than one. */
  parts: z.array(z.string()).optional(),
  /** When all of it was there to be seen: from then on it can be answered. */
  postedAt: z.string().optional(),
  /** A plugin took posts over, so they cannot be read where they were to be. */
  redirected: z.literal(true).optional(),
  /** What was posted was not to be found as it was. Of one that is open: it was posted often enough, and only commands answer it. */
  lost: z.literal(true).optional(),
  /** Authors who were told the words that count, each with the event that they were told for. */
  hinted: z.record(z.string(), z.string()).optional(),
  decidedBy: z.string().optional(),
  via: z.enum(GATE_WAYS).optional(),
  decidedAt: z.string().optional(),
  /** What was said with the answer, and the event that it came in. */
  comment: z.string().optional(),
  event: z.string().optional(),
  /** The approval that was withdrawn. */
  approval: z
    .strictObject({
      decidedBy: z.string(),
      via: z.enum(GATE_WAYS),
      decidedAt: z.string(),
      comment: z.string(),
    })
    .partial()
    .optional(),
  amendments: z.array(amendmentSchema),
});
export type GateRecord = z.infer<typeof gateRecordSchema>;

/** Whether all of it is there to be seen. */
export function isShown({ told, thread, postedAt }: GateRecord): boolean {
  return thread === undefined ? told !== undefined : postedAt !== undefined;
}

/** The posts of a gate in their order, by the ids of the actions that post them. */
export function postsOf({ gateId, shown, parts = [shown] }: GateRecord): { id: string; body: string }[] {
  return parts.map((body, index) => ({ id: `gate-${gateId}-${index + 1}`, body }));
}

/** A gate that is not to be answered any more: another one takes its place, or a person need not be asked. `why` ends a sentence. */
export function unanswered(gate: GateRecord, at: string, why?: string): GateRecord {
  const over = { state: "revised", via: "prloom", decidedBy: "prloom", decidedAt: at } as const;
  return { ...gate, ...over, ...(why === undefined ? {} : { comment: why }) };
}

export function isUnanswered({ state, via }: GateRecord): boolean {
  return state === "revised" && via === "prloom";
}

/** What stands between a plan and its implementation, or between a change and its merge. */
export type Door =
  | { readonly kind: "open" }
  /** A gate is to be opened: the first, or one for a plan that is not what was approved. */
  | { readonly kind: "due" }
  | { readonly kind: "closed"; readonly gate: GateRecord };

export interface AtDoor {
  /** Whether the plan is to be approved at all. */
  readonly isWanted: boolean;
  /** Its newest gate. */
  readonly gate: GateRecord | undefined;
  /** What the plan says now, without and with the logs of agents. */
  readonly scope: string;
  readonly digest: string;
}

/** Open only for what was approved, as it was shown or amended. */
export function doorOf({ isWanted, gate, scope, digest }: AtDoor): Door {
  if (!isWanted) return { kind: "open" };
  if (gate?.state === "approved" && approvedScope(gate) === scope) return { kind: "open" };
  return gate?.state === "open" && gate.digest === digest ? { kind: "closed", gate } : { kind: "due" };
}

/** What an approved plan may say: as it was shown, or after the newest amendment. */
export function approvedScope({ scope, amendments }: GateRecord): string {
  return amendments.at(-1)?.scope ?? scope;
}

/** The commit that an approval of a change is for: the one that was shown, or what a rebase made of it. */
export function approvedHead({ head, amendments }: GateRecord): string | undefined {
  return amendments.findLast((amendment) => amendment.head !== undefined)?.head ?? head;
}

/** States from which an answer leads to another; every other is late. */
const DECIDES = {
  approve: { from: "open", to: "approved" },
  reject: { from: "open", to: "rejected" },
  revise: { from: "open", to: "revised" },
  withdraw: { from: "approved", to: "withdrawn" },
} as const;
export type GateDecision = keyof typeof DECIDES;

/** The state after an answer; undefined when the gate does not wait for it. */
export function stateAfter(state: GateState, decision: GateDecision): GateState | undefined {
  const { from, to } = DECIDES[decision];
  return state === from ? to : undefined;
}
