import * as z from "zod";
import { actionId, emitterName } from "../../bus/names.ts";
import {
  type Action,
  actionSchema,
  type BusEvent,
  busEventSchema,
  ownActionIdSchema,
  type Scope,
} from "../../bus/types.ts";
import { describeThrown } from "../../hooks/calls/thrown.ts";
import { copyJson, type JsonValue } from "../../kernel/json.ts";
import { planSourceSchema } from "../../plan/record.ts";
import { retryAfterOf } from "../circuit.ts";
import type { PollFailure, PollResult } from "../contract.ts";
import { plainIssues } from "../plain-issues.ts";
import type { PlanName } from "../services.ts";

/** More in one poll is a mistake of the bridge: its cursor does not move, and the log would fill up. */
const MAX_EVENTS = 10_000;
const MAX_ACTIONS = 1000;
const MAX_EVENT_CHARACTERS = 1024 * 1024;
const MAX_STATE_CHARACTERS = 900_000;
const MAX_REASON = 2000;
const MAX_NAME = 200;

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
  /** The id of a plan that a global bridge names. */
  findPlan(name: PlanName): string | undefined;
}

/** An item of a poll that cannot be taken. */
export interface RefusedItem {
  readonly of: "events" | "actions";
  /** Its place in the list, where that is known; another one at each poll. */
  readonly index?: number;
  readonly reason: string;
  /** As the bridge gave it; undefined when it is not JSON. */
  readonly item: JsonValue | undefined;
}

/** What of a poll is taken, and why the rest is not. */
export type JudgedPoll =
  | { readonly kind: "failed"; readonly reason: string; readonly retryAfterMs?: number }
  | {
      readonly kind: "good";
      readonly events: readonly BusEvent[];
      /** Events of a global bridge for plans, by their ids. */
      readonly forPlans: ReadonlyMap<string, readonly BusEvent[]>;
      readonly actions: readonly Action[];
      readonly refused: readonly RefusedItem[];
      /** Absent: the bridge said nothing about it, so it stays. */
      readonly state?: { readonly value: JsonValue };
    };

const newActionSchema = actionSchema
  .pick({ target: true, payload: true, relatedEventId: true })
  .extend({ type: z.literal("respond").optional(), id: ownActionIdSchema.optional() });

const byIdSchema = z.object({ plan: z.string().min(1) });
const bySourceSchema = z.object({ source: planSourceSchema });

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
  const { success, error, events, actions, state } = result as Partial<
    Record<keyof (PollResult & PollFailure), unknown>
  >;
  if (success === false) {
    const reason = typeof error === "string" && error !== "" ? error : "it gave no reason";
    return { kind: "failed", reason: reason.slice(0, MAX_REASON), ...retryAfterOf(result) };
  }
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
  const good = judgeEvents(events, poll, refused);
  const wanted = judgeActions(actions ?? [], { poll, events: [...good.values()].flat(), refused });
  const own = good.get(undefined) ?? [];
  const forPlans = new Map([...good].flatMap(([planId, some]) => (planId === undefined ? [] : [[planId, some]])));
  return { kind: "good", events: own, forPlans, actions: wanted, refused, ...(kept ? { state: kept } : {}) };
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}

/** By the plan that they are for; undefined: for the bus that the poll is made for. */
type EventsByPlan = Map<string | undefined, BusEvent[]>;

function judgeEvents(events: readonly unknown[], poll: PollToJudge, refused: RefusedItem[]): EventsByPlan {
  const good: EventsByPlan = new Map();
  for (const [index, event] of events.entries()) {
    let item: JsonValue | undefined;
    try {
      const copy = copyJson(event, "event");
      item = copy;
      const { named, planId, ...plan } = withoutPlan(copy, poll);
      const parsed = busEventSchema.safeParse(named);
      const problem = plan.problem ?? (parsed.success ? eventProblem(parsed.data) : plainIssues(parsed.error, named));
      if (problem !== undefined) refused.push({ of: "events", index, reason: `${idOf(copy)}${problem}`, item });
      else if (parsed.success) {
        if (!good.has(planId)) good.set(planId, []);
        good.get(planId)?.push(parsed.data);
      }
    } catch (error) {
      refused.push({ of: "events", index, reason: `${idOf(event)}${describeThrown(error)}`, item });
    }
  }
  return good;
}

interface WithoutPlan {
  /** The event as it goes on the bus. */
  readonly named: unknown;
  readonly planId?: string | undefined;
  readonly problem?: string;
}

/** The plan that an event of a global bridge is for, and the event without it. */
function withoutPlan(copy: JsonValue, { bridge, scope, findPlan }: PollToJudge): WithoutPlan {
  if (typeof copy !== "object" || copy === null || Array.isArray(copy)) return { named: copy };
  const { plan, source, ...rest } = copy as { readonly [key: string]: JsonValue | undefined };
  const isSource = typeof source === "object" && source !== null;
  if (scope.planId !== undefined || (plan === undefined && !isSource)) return { named: { ...copy, source: bridge } };
  const named = { ...rest, source: bridge };
  if (plan !== undefined && isSource) return { named, problem: "it names its plan twice, by `plan` and by `source`" };
  const parsed = isSource ? bySourceSchema.safeParse({ source }) : byIdSchema.safeParse({ plan });
  if (!parsed.success) return { named, problem: plainIssues(parsed.error, { plan, source }) };
  const name: PlanName = "source" in parsed.data ? parsed.data : { id: parsed.data.plan };
  const planId = findPlan(name);
  if (planId !== undefined) return { named, planId };
  const shown = JSON.stringify(isSource ? source : plan).slice(0, MAX_NAME);
  return { named, problem: isSource ? `no plan has the source ${shown}` : `there is no plan ${shown}` };
}

/** Names the event for a person who looks for it in the outside system; its place in the list is another at each poll. */
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
const OWN_TYPES = [
  ...["plan_created", "plan_edited", "plan_status_changed", "plan_phase_changed", "plan_blocked", "plan_deleted"],
  ...["gate_opened", "gate_decided"],
];
const OWN_IDS = [...OWN_TYPES, "gate"];

function eventProblem(event: BusEvent): string | undefined {
  if (OWN_TYPES.includes(event.type)) return `the type ${event.type} is prloom's own; give it another`;
  const own = OWN_IDS.find((type) => event.id.startsWith(`${type}-`));
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
      // Without the event it is not known whose wish it is, and strangers may not do everything.
      if (relatedEventId !== undefined && !event) {
        refuse(`relatedEventId names no event that was taken: ${relatedEventId.slice(0, 100)}`);
        continue;
      }
      const author = event?.context?.author;
      const derived = { scope: poll.scope, recordId: poll.record, handler: poll.handler, ordinal };
      const id = parsed.data.id ?? actionId(derived);
      const emitter = emitterName(poll.handler);
      good.push({ ...parsed.data, id, type: "respond", emitter, ...(author ? { author } : {}) });
    } catch (error) {
      refuse(describeThrown(error));
    }
  }
  return good;
}
