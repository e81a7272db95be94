import * as z from "zod";
import { anchorSchema } from "../context/anchors.ts";
import type { DelegationMove, NodeMove, PlanMove } from "./lifecycle.ts";
import {
  checkpointSchema,
  idSchema,
  nameSchema,
  newDelegationSchema,
  newPlanSchema,
  plannedNodeSchema,
  resultSchema,
  timeSchema,
} from "./schema.ts";

/** A longer line is not read: nothing that is recorded needs so much. */
const MAX_LINE = 256 * 1024;

const NODE_MOVES = ["start", "review", "complete", "fail", "release"] as const satisfies readonly NodeMove[];
const PLAN_MOVES = ["activate", "complete", "archive", "abandon"] as const satisfies readonly PlanMove[];
const DELEGATION_MOVES = [
  "accept",
  "complete",
  "fail",
  "recall",
  "expire",
] as const satisfies readonly DelegationMove[];

/** Of every fact. The key is that of its session and call: what is written twice counts once. */
const COMMON = { key: z.string().min(1).max(500), at: timeSchema, session: idSchema.nullable(), role: nameSchema };

const factSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("plan_made"), ...COMMON, plan: newPlanSchema }),
  z.strictObject({ type: z.literal("plan_moved"), ...COMMON, plan: idSchema, move: z.enum(PLAN_MOVES) }),
  z.strictObject({ type: z.literal("plan_purged"), ...COMMON, plan: idSchema }),
  z.strictObject({
    type: z.literal("nodes_planned"),
    ...COMMON,
    plan: idSchema,
    nodes: z.array(plannedNodeSchema).min(1).max(100),
    /** Known, and not to be started yet. */
    ahead: z.boolean(),
  }),
  z.strictObject({
    type: z.literal("node_moved"),
    ...COMMON,
    node: idSchema,
    move: z.enum(NODE_MOVES),
    reason: nameSchema.optional(),
    result: resultSchema.optional(),
  }),
  z.strictObject({ type: z.literal("gate_kept"), ...COMMON, node: idSchema }),
  z.strictObject({ type: z.literal("checkpoint"), ...COMMON, checkpoint: checkpointSchema }),
  z.strictObject({ type: z.literal("delegated"), ...COMMON, delegation: newDelegationSchema }),
  z.strictObject({
    type: z.literal("delegation_moved"),
    ...COMMON,
    delegation: idSchema,
    move: z.enum(DELEGATION_MOVES),
    result: nameSchema.optional(),
  }),
  z.strictObject({ type: z.literal("anchored"), ...COMMON, anchor: anchorSchema }),
  z.strictObject({ type: z.literal("anchor_renewed"), ...COMMON, anchor: idSchema }),
  /** `call` is a digest of the tool and its arguments: the same call again is the same one. */
  z.strictObject({ type: z.literal("denied"), ...COMMON, tool: nameSchema, rule: nameSchema, call: idSchema }),
]);

/** One line of a journal: what happened, as the one who wrote it says. */
export type Fact = z.infer<typeof factSchema>;
export type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

/** A line of a journal; what is wrong with it where it is not a fact. */
export function parseFact(line: string): { readonly fact: Fact } | { readonly problem: string } {
  if (line.length > MAX_LINE) return { problem: `it is longer than ${MAX_LINE} characters` };
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { problem: "it is not JSON" };
  }
  const parsed = factSchema.safeParse(value);
  if (parsed.success) return { fact: parsed.data };
  const [issue] = parsed.error.issues;
  return { problem: `${issue?.path.join(".") || "it"}: ${issue?.message ?? "does not fit"}` };
}
