import * as z from "zod";
import { MERGE_METHODS } from "../git/merge-method.ts";
import { isJson, type JsonValue } from "../kernel/json.ts";
import { PERMISSIONS } from "./author.ts";
import { marksSchema, type WrittenMarks } from "./marks.ts";
import type { Action } from "./message-types.ts";
import { isDerivedId } from "./names.ts";

export type { Action, BusEvent, Payload, ReplyAddress } from "./message-types.ts";
export { type Scope, scopeOf } from "./scope.ts";

export const replyAddressSchema = z.strictObject({ target: z.string().min(1), token: z.string().optional() });

const authorSchema = z.looseObject({
  login: z.string(),
  /** What the author may do with the repository; `write` and above counts as authorised. */
  permission: z.enum(PERMISSIONS),
  bot: z.boolean().optional(),
  self: z.boolean().optional(),
});

export const MAX_ID = 300;

/** Ids are keys of objects in state files, and this one would set their prototype. */
const recordIdSchema = z
  .string()
  .min(1)
  .max(MAX_ID)
  .refine((id) => id !== "__proto__", "is reserved");

/** An id that a plugin or bridge gives an action: its dedupe key, and a part of HTML comments. Ours begin with `act-`. */
export const ownActionIdSchema = recordIdSchema
  .refine((id) => !isDerivedId(id), "must not begin with act-, as prloom's own ids do")
  .refine((id) => /^[^\s<>]+$/.test(id), "must have no spaces and no < or >");

/** A record that came in. Immutable. */
export const busEventSchema = z.strictObject({
  id: recordIdSchema,
  source: z.string().min(1),
  type: z.string().min(1),
  severity: z.enum(["info", "warning", "error"]),
  title: z.string(),
  body: z.string(),
  replyTo: replyAddressSchema.optional(),
  context: z.looseObject({ author: authorSchema.optional() }).optional(),
});

const review = z.strictObject({
  verdict: z.enum(["approve", "request_changes", "comment"]),
  summary: z.string(),
  comments: z.array(z.strictObject({ path: z.string(), line: z.int(), message: z.string() })),
});

/** Everything that can be asked of the outside. */
export const payloadSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("comment"), message: z.string(), key: z.string().optional() }),
  z.strictObject({ type: z.literal("inline_comment"), path: z.string(), line: z.int(), message: z.string() }),
  z.strictObject({ type: z.literal("review"), review }),
  z.strictObject({ type: z.literal("request_reviewers"), reviewers: z.array(z.string()) }),
  z.strictObject({
    type: z.literal("merge"),
    method: z.enum(MERGE_METHODS),
    sha: z
      .string()
      .regex(/^[0-9a-f]{40,64}$/)
      .exactOptional(),
  }),
  z.strictObject({ type: z.literal("close_pr") }),
  z.strictObject({ type: z.literal("add_labels"), labels: z.array(z.string()) }),
  z.strictObject({ type: z.literal("remove_labels"), labels: z.array(z.string()) }),
  z.strictObject({ type: z.literal("assign_users"), users: z.array(z.string()) }),
  z.strictObject({ type: z.literal("set_milestone"), milestone: z.string() }),
  z.strictObject({
    type: z.literal("upsert_plan"),
    // Loose here, so that an incomplete one can be a dead letter that names what is missing; prloom-core is strict.
    source: z.looseObject({ system: z.string().optional(), kind: z.string().optional(), id: z.string().optional() }),
    title: z.string().optional(),
    planMarkdown: z.string().optional(),
    /** The text that planMarkdown was made from, for sources to which the plan's text is written back. */
    base: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    status: z.enum(["draft", "queued"]).optional(),
    hidden: z.boolean().optional(),
    create: z.boolean().optional(),
    change: z.boolean().optional(),
  }),
  z.strictObject({
    type: z.literal("notification"),
    priority: z.enum(["urgent", "action", "warning", "info"]),
    title: z.string(),
    message: z.string(),
  }),
]);

/** A record that is to go out. Immutable. */
export const actionSchema = z.strictObject({
  id: recordIdSchema,
  type: z.literal("respond"),
  target: replyAddressSchema,
  payload: payloadSchema,
  relatedEventId: z.string().optional(),
  /** Who wrote the event that it answers: copied by prloom from the event, so the router can judge rights alone. */
  author: authorSchema.optional(),
  /** The plugin or bridge that asked for it; prloom's own have none. */
  emitter: z.string().optional(),
  /** How many actions in a row triggered each other in beforeRoute; a loop ends here. */
  hops: z.int().min(0).optional(),
});

const json = z.custom<JsonValue>((value) => isJson(value), "is not JSON");

/** What a poll brought and prloom could not take, kept under an id of our own. */
export const refusalSchema = z.strictObject({ id: recordIdSchema, reason: z.string(), item: json });
export type Refusal = z.infer<typeof refusalSchema>;

/** What one handler did with one record: one line, so wholly or not at all. */
export const settlementSchema = z.strictObject({
  record: z.string(),
  handler: z.string(),
  outcome: z.enum(["handled", "passed", "deferred", "threw"]),
  /** Handlers that settle several records with one result (triage) name the others here. */
  also: z.array(z.string()).optional(),
  reason: z.string().optional(),
  /** Deferred: not before this time (ms). */
  until: z.number().optional(),
  actions: z.array(actionSchema).optional(),
  /** Changes of state: by store (`storeName`) and key; no `value` removes a key. */
  state: z.record(z.string(), z.record(z.string(), z.strictObject({ value: json.optional() }))).optional(),
  /** What the handler decided, for the step that goes on with the record. Kept until a settlement of it has `marks.closed`. */
  result: json.optional(),
  /** Dead letters of the handler, with what they are about as its result. */
  refused: z.array(refusalSchema).optional(),
  /** For the bus. */
  marks: marksSchema.optional(),
});
export type Settlement = Omit<z.infer<typeof settlementSchema>, "actions"> & {
  readonly actions?: readonly Action[] | undefined;
};

/** A settlement as the journal has it. */
export type WrittenSettlement = Omit<Settlement, "marks"> & { readonly marks: WrittenMarks };
