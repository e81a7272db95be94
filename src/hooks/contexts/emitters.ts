import { eventAuthor } from "../../bus/event-author.ts";
import type { ReportedAuthor } from "../../bus/message-types.ts";
import { actionId, CORE_TARGET, emitterName } from "../../bus/names.ts";
import { type Action, actionSchema, type BusEvent, ownActionIdSchema, type Scope } from "../../bus/types.ts";
import { copyJson } from "../../kernel/json.ts";
import { type CallLife, misuse } from "../calls/misuse.ts";
import type { Emitters } from "./context-types.ts";

/** What a call answers, so that its actions can be traced to an event and to who wrote it. */
export interface Cause {
  readonly relatedEventId?: string | undefined;
  readonly author?: ReportedAuthor | undefined;
  readonly hops?: number;
}

export interface EmitOptions {
  readonly scope: Scope;
  readonly record: string;
  readonly handler: string;
  readonly cause: Cause;
  readonly life: CallLife;
  /** A recent event of this bus. */
  findEvent(id: string): BusEvent | undefined;
}

const MAX_ACTIONS = 1000;
const FIELDS: readonly string[] = ["id", "target", "payload", "relatedEventId", "type"];
const EXAMPLE = 'It takes {target: {target: "github-pr", token: "…"}, payload: {type: "comment", message: "…"}}.';

/** Takes what a member of the context was given as an action, and gives its id. */
export type Emit = (member: string, given: unknown) => string;

/** What one call emits with, and what it emitted so far. */
export function createEmit(options: EmitOptions): { readonly emit: Emit; readonly actions: Action[] } {
  const actions: Action[] = [];
  const emit: Emit = (member, given) => {
    options.life.require(member);
    if (actions.length >= MAX_ACTIONS) {
      throw misuse(`${member}: one call may emit ${MAX_ACTIONS} actions.`, "Emit fewer, or over several events.");
    }
    const id = actionId({ ...options, recordId: options.record, ordinal: actions.length });
    const action = makeAction(options, member, { id, given });
    actions.push(action);
    return action.id;
  };
  return { emit, actions };
}

/** The members of a context that emit. */
export function emittersOf(emit: Emit): Emitters {
  return {
    emitAction: (action) => emit("emitAction", action),
    emitComment: (target, message, { key } = {}) =>
      emit("emitComment", { target, payload: { type: "comment", message, key } }),
    emitReview: (target, review) => emit("emitReview", { target, payload: { type: "review", review } }),
    emitMerge: (target, method = "squash") => emit("emitMerge", { target, payload: { type: "merge", method } }),
    emitUpsert: (upsert) =>
      emit("emitUpsert", { target: { target: CORE_TARGET }, payload: { ...upsert, type: "upsert_plan" } }),
    emitNotification: (notification) =>
      emit("emitNotification", { target: { target: "human" }, payload: { ...notification, type: "notification" } }),
  };
}

function makeAction(options: EmitOptions, member: string, { id, given }: { id: string; given: unknown }): Action {
  const copied = copyJson(given, `${member}: the action`);
  if (typeof copied !== "object" || copied === null || Array.isArray(copied)) {
    throw misuse(`${member}: an action is an object.`, EXAMPLE);
  }
  const action = copied as Record<string, unknown>;
  for (const field of Object.keys(action)) {
    if (!FIELDS.includes(field)) throw misuse(`${member}: an action has no field "${field}" to set.`, EXAMPLE);
  }
  if (action.target === undefined) {
    throw misuse(
      `${member}: target is missing.`,
      "Not every event has a replyTo: use ctx.reply(…), or look at event.replyTo before you emit.",
    );
  }
  const { target, payload, type = "respond" } = action;
  const own = ownActionIdSchema.optional().safeParse(action.id);
  if (!own.success) {
    throw misuse(`${member}: id: ${own.error.issues[0]?.message}.`, "Leave it out, and prloom gives the action one.");
  }
  const about = causeOf(options, member, action.relatedEventId);
  const emitter = emitterName(options.handler);
  const result = actionSchema.safeParse({ id: own.data ?? id, type, target, payload, emitter, ...about });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw misuse(`${member}: ${issue?.path.join(".") || "the action"}: ${issue?.message}.`, EXAMPLE);
}

/** The event of the call, if it has one, whatever the plugin says: rights hang on it. */
function causeOf({ cause, findEvent }: EmitOptions, member: string, claimed: unknown): Partial<Action> {
  const hops = cause.hops === undefined ? {} : { hops: cause.hops };
  if (cause.relatedEventId !== undefined || cause.author) {
    const related = cause.relatedEventId === undefined ? {} : { relatedEventId: cause.relatedEventId };
    return { ...related, ...hops, ...(cause.author ? { author: cause.author } : {}) };
  }
  if (claimed === undefined) return hops;
  const event = typeof claimed === "string" ? findEvent(claimed) : undefined;
  if (!event) throw misuse(`${member}: relatedEventId names no recent event of this bus.`, "Leave it out.");
  const author = eventAuthor(event);
  return { relatedEventId: event.id, ...hops, ...(author ? { author } : {}) };
}
