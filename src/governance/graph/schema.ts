import * as z from "zod";
import { CATEGORIES } from "../../config/governance-words.ts";
import { MAX_DATE_MS } from "../../kernel/clock.ts";

/** What agents name and say is bounded: a graph is read at every call of a tool. */
const MAX_ID = 200;
const MAX_NAME = 2000;
const MAX_LIST = 1000;

export const idSchema = z.string().min(1).max(MAX_ID);
export const nameSchema = z.string().min(1).max(MAX_NAME);
/** Facts can be forged, and what is beyond the last date cannot be shown as one. */
export const timeSchema = z.number().int().nonnegative().max(MAX_DATE_MS);
const idsSchema = z.array(idSchema).max(MAX_LIST).readonly();
export const namesSchema = z.array(nameSchema).max(MAX_LIST).readonly();

/** What a person wrote as a name: as much of it as has room; what says nothing is called otherwise. */
export const asName = (words: string, otherwise: string): string => words.trim().slice(0, MAX_NAME) || otherwise;
/** The same for several; those that say nothing are left out. */
export const asNames = (all: readonly string[]): string[] =>
  all
    .map((words) => asName(words, ""))
    .filter((name) => name !== "")
    .slice(0, MAX_LIST);

const WORK_PLAN_STATUSES = ["draft", "active", "completed", "archived", "abandoned"] as const;
const NODE_STATUSES = ["planned", "blocked", "active", "review", "completed", "failed"] as const;
const DELEGATION_STATES = ["pending", "accepted", "completed", "failed", "recalled", "expired"] as const;

const gateSchema = z
  .strictObject({
    afterTaskId: idSchema,
    reason: nameSchema,
    /** When it last kept the node from being started. */
    enforcedAt: timeSchema.optional(),
  })
  .readonly();

/** What a checkpoint of a call that changed what is protected begins with. */
export const PUT_BACK = "PUT BACK";

export const checkpointSchema = z
  .strictObject({
    id: idSchema,
    taskNodeId: idSchema,
    tool: nameSchema,
    timestamp: timeSchema,
    summary: nameSchema,
    filesModified: namesSchema,
    /** Of a shell command: what it is for, and whether it ended with 0; of tests: so that they have passed. */
    kind: z.enum(["change", "build", "test", "git"]),
    ok: z.boolean(),
  })
  .readonly();

export const resultSchema = z
  .strictObject({
    evidence: nameSchema,
    filesModified: namesSchema,
    testsRun: z.string().max(MAX_NAME),
    anchorsCreated: idsSchema,
  })
  .readonly();

/** What an agent says about a node that only the dispatcher moves. */
const claimSchema = z
  .strictObject({
    move: z.enum(["review", "complete", "fail"]),
    at: timeSchema,
    reason: nameSchema.optional(),
    result: resultSchema.optional(),
  })
  .readonly();

/** What a node is when it is planned. */
export const plannedNodeSchema = z.strictObject({
  id: idSchema,
  name: nameSchema,
  /** What must be there at the end: `a change`, `tests`, `files <glob>`, `none`, or words for people. */
  expectedOutput: nameSchema,
  delegatedBy: nameSchema,
  /** A role. */
  assignedTo: nameSchema,
  /** Kinds or names of tools; empty means those of the role. */
  allowedTools: namesSchema,
  dependsOn: idsSchema,
  temporalGate: gateSchema.nullable(),
  /** The node that this one is a part of. */
  parent: idSchema.optional(),
  location: z.strictObject({ file: nameSchema, line: z.number().int().positive() }).readonly().optional(),
});

const nodeSchema = plannedNodeSchema
  .extend({
    workPlanId: idSchema,
    status: z.enum(NODE_STATUSES),
    checkpoints: z.array(checkpointSchema).readonly(),
    artifacts: namesSchema,
    createdAt: timeSchema,
    modifiedAt: timeSchema,
    startedAt: timeSchema.optional(),
    completedAt: timeSchema.optional(),
    /** Why it failed. */
    reason: nameSchema.optional(),
    claim: claimSchema.optional(),
    result: resultSchema.optional(),
  })
  .readonly();

/** What a plan is when it is made. */
export const newPlanSchema = z.strictObject({
  id: idSchema,
  name: nameSchema,
  acceptance: namesSchema,
  category: z.enum(CATEGORIES),
  dependsOn: idsSchema,
  ownedBy: nameSchema,
});

const planSchema = newPlanSchema
  .extend({
    status: z.enum(WORK_PLAN_STATUSES),
    tasks: z.array(nodeSchema).readonly(),
    /** Known, and not to be started yet. */
    planAhead: z.array(nodeSchema).readonly(),
    createdAt: timeSchema,
    modifiedAt: timeSchema,
    completedAt: timeSchema.optional(),
    /** When it left the context of agents. It stays on the disk. */
    purgedAt: timeSchema.optional(),
  })
  .readonly();

export const newDelegationSchema = z.strictObject({
  id: idSchema,
  from: nameSchema,
  /** The role that does it, and what the program calls that agent. */
  to: nameSchema,
  agent: nameSchema.optional(),
  node: idSchema,
  session: idSchema,
  parentSession: idSchema,
  tools: namesSchema,
  expectedOutput: nameSchema,
});

const delegationSchema = newDelegationSchema
  .extend({ state: z.enum(DELEGATION_STATES), result: nameSchema.optional() })
  .readonly();

export const GRAPH_VERSION = "3.0.0";

export const graphSchema = z
  .strictObject({
    version: z.literal(GRAPH_VERSION),
    activeWorkPlanId: idSchema.nullable(),
    workPlans: z.array(planSchema).readonly(),
    delegations: z.array(delegationSchema).readonly(),
  })
  .readonly();

export type Checkpoint = z.infer<typeof checkpointSchema>;
export type TaskResult = z.infer<typeof resultSchema>;
export type PlannedNode = z.infer<typeof plannedNodeSchema>;
export type TaskNode = z.infer<typeof nodeSchema>;
export type NodeStatus = TaskNode["status"];
export type WorkPlan = z.infer<typeof planSchema>;
export type WorkPlanStatus = WorkPlan["status"];
export type Delegation = z.infer<typeof delegationSchema>;
export type DelegationState = Delegation["state"];
/** Plans, their nodes and who was given which of them. */
export type TaskGraph = z.infer<typeof graphSchema>;
