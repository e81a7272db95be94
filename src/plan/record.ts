import * as z from "zod";
import { STAGES } from "../config/agent-words.ts";
import { ownJsonIn } from "../kernel/json-fields.ts";
import {
  behindSchema,
  changeRequestSchema,
  doneForSchema,
  placesSchema,
  publishedSchema,
  stackSchema,
} from "./at-forge.ts";
import { PHASES, type PlanSource } from "./plan-types.ts";
import { REACHED } from "./reached.ts";

export type { PlanSource, PlanStatus } from "./plan-types.ts";

/** The stored statuses; `triaging` is derived from pending events and shown, never stored. */
export const STORED_STATUSES = ["draft", "queued", "active", "review", "done"] as const;
export type StoredStatus = (typeof STORED_STATUSES)[number];

/** The identity of a plan in the outside system that it came from; unique over all plans. */
export const planSourceSchema = z.strictObject({
  system: z.string().min(1).max(200),
  kind: z.string().min(1).max(200),
  id: z.string().min(1).max(1000),
});

export function sourceKey(source: PlanSource): string {
  return JSON.stringify([source.system, source.kind, source.id]);
}

/** The source that `sourceKey` made this key from; undefined for any other string. */
export function parseSourceKey(key: string): PlanSource | undefined {
  if (!key.startsWith("[")) return undefined;
  const parts = z.tuple([z.string(), z.string(), z.string()]).safeParse(ownJsonIn(key)).data;
  return parts && { system: parts[0], kind: parts[1], id: parts[2] };
}

/** How far the current TODO has come. Each stage is recorded after its effect, so a restart repeats at most one. */
const STEP_STAGES = ["running", "ended", "verified", "committed", "ticked", "pushed"] as const;

const currentSchema = z.strictObject({
  todoId: z.string(),
  attempt: z.int().min(1),
  baseSha: z.string(),
  stage: z.enum(STEP_STAGES),
  /** Number of the run that works (or worked) on it. */
  run: z.int().min(1),
  /** Verified: the tree that will be committed. */
  tree: z.string().optional(),
  /** What the last attempt lacked; goes into the next prompt. */
  missing: z.string().optional(),
  /** What the reviewer asked for, quoted, when it was the last to send it back; then nothing else is missing. */
  findings: z.string().optional(),
  /** Plugins have seen this run's result in afterTodo; what they changed is verified without asking them again. */
  seen: z.literal(true).optional(),
  /** How often the reviewer sent it back, and whether it has accepted the tree that is to be committed. */
  reviews: z.int().min(0).optional(),
  reviewed: z.literal(true).optional(),
});
export type CurrentTodo = z.infer<typeof currentSchema>;

const conflictSchema = z.strictObject({
  /** The commit of the old branch that conflicts. */
  commit: z.string(),
  /** Its change on top of `tip`, with the marks of the conflict in the files. */
  tree: z.string(),
  files: z.array(z.string()),
});

/** The branch is being brought onto its base, one commit after the other; an agent resolves those that conflict. */
const rebaseSchema = z.strictObject({
  /** Where the branch was, the commit behind which its own begin, and the commit of base that they come on top of. */
  from: z.string(),
  upstream: z.string(),
  onto: z.string(),
  /** The newest of the commits as they are made again, and how many there are. */
  tip: z.string(),
  done: z.int().min(0),
  /** Where the branch stands, unless it is on its way to `tip`. */
  stands: z.string(),
  conflict: conflictSchema.optional(),
  /** Base is merged into the branch instead, as one commit that says this at this time: then all of the branch conflicts together. */
  merge: z.strictObject({ message: z.string(), date: z.string() }).optional(),
  /** An agent resolved a conflict. */
  resolved: z.literal(true).optional(),
  /** Where the people who asked for it in a comment are to be told how it ended. */
  asked: placesSchema.optional(),
  /** It is called off: the branch goes back to where it was, and with a reason the plan is blocked. */
  ended: z.strictObject({ reason: z.string().optional() }).optional(),
});
export type Rebase = z.infer<typeof rebaseSchema>;

/** A run that is not a TODO's: the designer's, triage's or the reviewer's. */
const sideRunSchema = z.strictObject({
  stage: z.enum(STAGES).exclude(["worker"]),
  run: z.int().min(1),
  attempt: z.int().min(1),
  baseSha: z.string(),
  /** Triage and designer: the events it was given. */
  events: z.array(z.string()).optional(),
  missing: z.string().optional(),
  /** Designer: it has begun to change its copy of the plan. */
  planning: z.literal(true).optional(),
});
export type SideRun = z.infer<typeof sideRunSchema>;

/** The conversation that a stage goes on with; a program knows only its own. */
const sessionSchema = z.strictObject({ agent: z.string(), id: z.string(), todoId: z.string().optional() });
export type StageSession = z.infer<typeof sessionSchema>;

/** What the agents of a plan have spent so far. */
const spentSchema = z.strictObject({
  tokens: z.number().min(0),
  usd: z.number().min(0),
  ms: z.number().min(0),
  runs: z.int().min(0),
  /** Runs up to this number are counted. */
  upTo: z.int().min(0),
});
export type Spent = z.infer<typeof spentSchema>;

/** A round of calls of plugins, by the name of its own. */
const hookSchema = z.strictObject({
  point: z.string(),
  id: z.string(),
  todo: z.string().optional(),
  /** Place of that TODO in the plan, from 0: a plugin may reword it. */
  index: z.int().min(0).optional(),
  /** Plugins that are through, from an earlier round that another one ended. */
  done: z.array(z.string()).optional(),
});

const blockedSchema = z.strictObject({
  reason: z.string(),
  at: z.string(),
  hint: z.string().optional(),
  /**
   * `inbox`: what is wrong lies in the inbox and is cleared when it is fixed there. `recovery`: what an interrupted run left
   * could not be dealt with; each start tries again. `gate`: posts of its gate do not stay; its answer clears it.
   * `forge`: what it would publish is refused.
   */
  cause: z.enum(["inbox", "person", "step", "recovery", "gate", "forge"]).optional(),
});

const ignoredSchema = z.strictObject({
  id: z.string(),
  author: z.string(),
  at: z.string(),
  /** `agent`: not a comment, but a command that an agent typed in a run. */
  kind: z.enum(["stranger", "reader", "self", "agent"]),
  reason: z.string(),
});
export type IgnoredComment = z.infer<typeof ignoredSchema>;

/**
 * 2 has what agents spent, their conversations and reviews; 3 has `designed`, `prepared` and `ignored`; 4 has gates, phases, ports, rebases and `published`. An older record is one of 4 that
 * has none of it: whether an open plan was designed is read from its TODOs once, by `isDesignDue`.
 */
export const RECORD_SCHEMA_VERSION = 4;

/** What is true about a plan. The dispatcher alone writes it. */
export const planRecordSchema = z.strictObject({
  schemaVersion: z.literal([1, 2, 3, RECORD_SCHEMA_VERSION]),
  uid: z.string(),
  id: z.string(),
  status: z.enum(STORED_STATUSES),
  hidden: z.boolean(),
  paused: z.boolean(),
  /** Paused with `--now`: what is left of a TODO waits as well. */
  halted: z.literal(true).optional(),
  /**
   * When it was paused last or let go, and the comment that did it: heard again after a kill, that changes nothing. By the clock of the
   * place where that was said.
   */
  held: z.strictObject({ at: z.string(), event: z.string().optional() }).optional(),
  source: planSourceSchema.optional(),
  blocked: blockedSchema.optional(),
  branch: z.string().optional(),
  baseBranch: z.string().optional(),
  /** The commit that the branch started from. */
  baseSha: z.string().optional(),
  worktree: z.string().optional(),
  /** Name of its folder under `.git/worktrees`, which git may choose otherwise than the path. Absent from when it is being removed. */
  worktreeName: z.string().optional(),
  worktreeReady: z.boolean(),
  /** The first of the ports that its servers may use; while it is open. */
  firstPort: z.int().optional(),
  /** Files that `initCommands` and `afterActivate` left in the worktree; they count like `copyFiles`. */
  prepared: z.array(z.string()).optional(),
  /** Its files are still in the inbox: true until activation has deleted them, as its last act. */
  inInbox: z.boolean(),
  /** What the plan itself asks for has become TODOs: it came with some, or the designer made them. */
  designed: z.literal(true).optional(),
  /** The newest gate at which the plan was shown. */
  gate: z.string().optional(),
  /** The newest gate at which its change request was shown. */
  prGate: z.string().optional(),
  /** A person asked for another design; true until there is one. */
  revising: z.literal(true).optional(),
  current: currentSchema.optional(),
  /** While an agent resolves a conflict, `current` is its run. */
  rebase: rebaseSchema.optional(),
  side: sideRunSchema.optional(),
  /** Plugins are to be called before anything else happens to the plan; `next` is what waited when its worktree vanished. */
  hook: hookSchema.extend({ next: hookSchema.optional() }).optional(),
  /** Number of the newest run. */
  runs: z.int().min(0),
  sessions: z.partialRecord(z.enum(STAGES), sessionSchema).optional(),
  spent: spentSchema.optional(),
  /** A person is in the worktree with the agent's own interface (`prloom open`): nothing of ours runs there meanwhile. */
  opened: z
    .strictObject({
      pid: z.int(),
      startTicks: z.number(),
      bootId: z.string(),
      at: z.string(),
      /** An agent that may change files; not a shell, and not one that was opened while the plan was not approved. */
      implements: z.literal(true).optional(),
      /** It was ended, for the plan is not approved any more. */
      ended: z.literal(true).optional(),
    })
    .optional(),
  /**
   * The tree as a person left it (`prloom open`), on top of which commit. What runs there afterwards and is taken back, is
   * taken back to this; once the branch has moved it no longer applies.
   */
  kept: z.strictObject({ tree: z.string(), baseSha: z.string() }).optional(),
  /**
   * The reviewer has looked at the whole branch at this commit (`review: end`), and how often it asked for more. `again`: it is to look
   * also with `review: todo`, because a rebase changed what commits change that it has seen.
   */
  reviewedEnd: z
    .strictObject({ head: z.string(), rounds: z.int().min(0), again: z.literal(true).optional() })
    .optional(),
  changeRequest: changeRequestSchema.optional(),
  /** The commits whose checks failed since they passed last, and the one whose checks have all passed by now, after those. */
  redHeads: z.array(z.string()).optional(),
  greenHead: z.string().optional(),
  published: publishedSchema.optional(),
  behind: behindSchema.optional(),
  stack: stackSchema.optional(),
  /** New comments that it made on GitHub in the last hour, in milliseconds: counted over restarts. */
  comments: z.array(z.strictObject({ id: z.string(), at: z.number() })).optional(),
  doneFor: doneForSchema.optional(),
  /** Its issue is not where it was, and how that came, as the end of "its issue …": its place is its change request, or the local thread. */
  issueGone: z.string().optional(),
  /** Comments by authors whose words have no effect: how many, and the newest, newest first. */
  ignored: z.strictObject({ count: z.int().min(0), newest: z.array(ignoredSchema) }).optional(),
  /** The tree that passed the checks last. A merge whose result is another has not been checked. */
  checked: z.string().optional(),
  /** The newest commit of ours for a TODO, as it was made: a branch without it may have been emptied by a person. */
  newest: z.string().optional(),
  /** The newest merge of ours: the commit `sha`, whether base has it yet or not, brings the branch as it was at `tip`. */
  merge: z.strictObject({ tip: z.string(), sha: z.string() }).optional(),
  outcome: z.enum(["merged", "closed"]).optional(),
  deleted: z.strictObject({ at: z.string(), reason: z.enum(["deleted", "file_removed", "cleaned"]) }).optional(),
  /**
   * What lifecycle events have told so far: hash of the text's bytes, digest of the text, status (`deleted` or `cleaned`
   * once that was told, the last thing ever), and the number of events.
   */
  observed: z
    .strictObject({ sha256: z.string(), digest: z.string().optional(), status: z.string(), seq: z.int() })
    .optional(),
  /** The phase that was told last, and how many were told. */
  toldPhase: z.strictObject({ phase: z.enum(PHASES), seq: z.int().min(1) }).optional(),
  /** Since when it was blocked when that was told last. */
  toldBlocked: z.string().optional(),
  /** What its source was told, oldest first, and how often it was told something. */
  writtenBack: z
    .strictObject({
      seq: z.int().min(1),
      reached: z.array(z.strictObject({ what: z.enum(REACHED), at: z.string() })),
    })
    .optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
  finishedAt: z.string().optional(),
  revision: z.int().min(0),
  metadata: z.record(z.string(), z.unknown()),
});
export type PlanRecord = z.infer<typeof planRecordSchema>;
export type Observed = NonNullable<PlanRecord["observed"]>;

/** What `inbox/<id>.json` may say; it wins over the record for these four. */
export const inboxMetaSchema = z.strictObject({
  status: z.enum(["draft", "queued"]).optional(),
  hidden: z.boolean().optional(),
  source: planSourceSchema.optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type InboxMeta = z.infer<typeof inboxMetaSchema>;
