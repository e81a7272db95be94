import * as z from "zod";
import { actionId } from "../../bus/ledger/settlement.ts";
import {
  type Action,
  actionSchema,
  type BusEvent,
  busEventSchema,
  ownActionIdSchema,
  type Scope,
} from "../../bus/types.ts";
import { describeThrown } from "../../hooks/calls/thrown.ts";
import type { JsonValue } from "../../hooks/contexts/event-types.ts";
import { copyJson } from "../../hooks/state/json-value.ts";
import { plainIssues } from "../plain-issues.ts";

/** More in one poll is a mistake of the bridge: its cursor does not move, and the log would fill up. */
const MAX_EVENTS = 10_000;
const MAX_ACTIONS = 1000;
const MAX_EVENT_CHARACTERS = 1024 * 1024;
const MAX_STATE_CHARACTERS = 900_000;

export interface PollToJudge {
  /** What the bridge returned. */
  readonly result: unknown;
  readonly bridge: string;
  readonly scope: Scope;
  /** The record whose settlement this poll will be. */
  readonly record: string;
  readonly handler: string;
  /** An event that is on the bus already; who wrote it decides what may be done about it. */
  findEvent(id: string): BusEvent | undefined;
}

/** An item of a poll that cannot be taken. */
export interface RefusedItem {
  readonly of: "events" | "actions";
  /** Its place in the list, where that is known; another one at each poll. */
  readonly index?: number;
  readonly reason: string;
  /** As the bridge gave it; undefined when it is no JSON. */
  readonly item: JsonValue | undefined;
}

/** What of a poll is taken, and why the rest is not. */
export type JudgedPoll =
  | { readonly kind: "failed"; readonly reason: string }
  | {
      readonly kind: "good";
      readonly events: readonly BusEvent[];
      readonly actions: readonly Action[];
      readonly refused: readonly RefusedItem[];
      /** Absent: the bridge said nothing about it, so it stays. */
      readonly state?: { readonly value: JsonValue };
    };

const newActionSchema = actionSchema
  .pick({ target: true, payload: true, relatedEventId: true })
  .extend({ type: z.literal("respond").optional(), id: ownActionIdSchema.optional() });

/** Judges what a bridge returned: good events and actions are taken one by one, a bad whole is not taken at all. */
export function judgePoll(poll: PollToJudge): JudgedPoll {
  try {
    return judge(poll);
  } catch (error) {
    // A getter or a proxy of the bridge can throw anywhere.
    return failed(describeThrown(error));
  }
}

function failed(reason: string): JudgedPoll {
  return { kind: "failed", reason };
}

function judge(poll: PollToJudge): JudgedPoll {
  const { result } = poll;
  if (typeof result !== "object" || result === null || Array.isArray(result)) {
    return failed(`events() returned ${nameOf(result)}; it must return { events: […], state? }`);
  }
  const { events, actions, state } = result as { events?: unknown; actions?: unknown; state?: unknown };
  if (!Array.isArray(events)) return failed(`events() returned ${nameOf(events)} as \`events\`; it must be a list`);
  if (events.length > MAX_EVENTS)
    return failed(`events() returned ${events.length} events; at most ${MAX_EVENTS} at once`);
  if (actions !== undefined && !Array.isArray(actions)) {
    return failed(`events() returned ${nameOf(actions)} as \`actions\`; it must be a list`);
  }
  if (actions !== undefined && actions.length > MAX_ACTIONS) {
    return failed(`events() returned ${actions.length} actions; at most ${MAX_ACTIONS} at once`);
  }
  const kept = state === undefined ? undefined : { value: copyJson(state, "state") };
  if (kept && JSON.stringify(kept.value).length > MAX_STATE_CHARACTERS) {
    return failed(`state is larger than ${MAX_STATE_CHARACTERS} characters`);
  }
  const refused: RefusedItem[] = [];
  const good = judgeEvents(events, poll.bridge, refused);
  const wanted = judgeActions(actions ?? [], { poll, events: good, refused });
  return { kind: "good", events: good, actions: wanted, refused, ...(kept ? { state: kept } : {}) };
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}

function judgeEvents(events: readonly unknown[], bridge: string, refused: RefusedItem[]): BusEvent[] {
  const good: BusEvent[] = [];
  for (const [index, event] of events.entries()) {
    let item: JsonValue | undefined;
    try {
      const copy = copyJson(event, "event");
      item = copy;
      const named = typeof copy === "object" && copy !== null ? { ...copy, source: bridge } : copy;
      const parsed = busEventSchema.safeParse(named);
      const problem = parsed.success ? eventProblem(parsed.data) : plainIssues(parsed.error, named);
      if (problem !== undefined) refused.push({ of: "events", index, reason: `${idOf(copy)}${problem}`, item });
      else if (parsed.success) good.push(parsed.data);
    } catch (error) {
      refused.push({ of: "events", index, reason: `${idOf(event)}${describeThrown(error)}`, item });
    }
  }
  return good;
}

/** Names the event for whoever looks for it in the outside system; its place in the list is another at each poll. */
function idOf(event: unknown): string {
  try {
    const { id } = event as { id?: unknown };
    return typeof id === "string" && id !== "" ? `${JSON.stringify(id.slice(0, 100))}: ` : "";
  } catch {
    // No object, or one with a trap for an id.
    return "";
  }
}

/** What prloom alone may say: plugins act on these, and a plan's own event must find its id free. */
const OWN_TYPES = ["plan_created", "plan_edited", "plan_status_changed", "plan_deleted"];

function eventProblem(event: BusEvent): string | undefined {
  if (OWN_TYPES.includes(event.type)) return `the type ${event.type} is prloom's own; give it another`;
  const own = OWN_TYPES.find((type) => event.id.startsWith(`${type}-`));
  if (own !== undefined) return `ids that begin with ${own}- are prloom's own; put the system's name before it`;
  if (JSON.stringify(event).length <= MAX_EVENT_CHARACTERS) return undefined;
  return `it is larger than ${MAX_EVENT_CHARACTERS} characters`;
}

interface ActionsContext {
  readonly poll: PollToJudge;
  readonly events: readonly BusEvent[];
  readonly refused: RefusedItem[];
}

function judgeActions(actions: readonly unknown[], { poll, events, refused }: ActionsContext): Action[] {
  // The first of several with one id is the one that is appended.
  const byId = new Map(events.toReversed().map((event) => [event.id, event]));
  const good: Action[] = [];
  for (const [ordinal, given] of actions.entries()) {
    let item: JsonValue | undefined;
    const refuse = (reason: string): void => void refused.push({ of: "actions", index: ordinal, reason, item });
    try {
      item = copyJson(given, "action");
      const parsed = newActionSchema.safeParse(item);
      if (!parsed.success) {
        refuse(plainIssues(parsed.error, item));
        continue;
      }
      const { relatedEventId } = parsed.data;
      const event =
        relatedEventId === undefined ? undefined : (byId.get(relatedEventId) ?? poll.findEvent(relatedEventId));
      // Without the event nobody knows whose wish it is, and strangers may not do everything.
      if (relatedEventId !== undefined && !event) {
        refuse(`relatedEventId names no event that was taken: ${relatedEventId.slice(0, 100)}`);
        continue;
      }
      const author = event?.context?.author;
      const derived = { scope: poll.scope, recordId: poll.record, handler: poll.handler, ordinal };
      const id = parsed.data.id ?? actionId(derived);
      good.push({ ...parsed.data, id, type: "respond", ...(author ? { author } : {}) });
    } catch (error) {
      refuse(describeThrown(error));
    }
  }
  return good;
}
