import * as z from "zod";
import type { Bus } from "../../bus/bus.ts";
import { type Refusal, scopeOf } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { shortHash } from "../../kernel/ids.ts";
import type { JsonValue } from "../../kernel/json.ts";
import { takeTurns } from "../../kernel/turns.ts";
import { callBridge } from "../call-bridge.ts";
import type { LoadedBridge } from "../load.ts";
import type { BridgeScope, BridgeServices } from "../services.ts";
import { appendEvents } from "./append-events.ts";
import { judgePoll, type PollToJudge, type RefusedItem } from "./judge-poll.ts";

/** A bridge that is all wrong must not fill the list of dead letters: this many are kept of each, the rest is counted. */
const MAX_LETTERS = 1000;
/** All of them are in memory and in the snapshot of the bus: beyond this, what they hold is not kept. */
const MAX_KEPT_CHARACTERS = 2_000_000;

const keptSchema = z.object({
  of: z.enum(["events", "actions", "more"]),
  item: z.json().optional(),
  count: z.int().optional(),
});
type Kept = z.infer<typeof keptSchema>;

/** The refusal as the log and `prloom poll` tell it. */
export function refusalText({ of, index, reason }: RefusedItem): string {
  return `${of}${index === undefined ? "" : `[${index}]`}: ${reason}`;
}

/** The dead letters that a poll makes: for what is not one already, as many as may be kept, and how many more there were. */
export function newLetters(
  bus: Bus,
  loaded: { name: string; handler: string },
  refused: readonly RefusedItem[],
): Refusal[] {
  if (refused.length === 0) return [];
  const { name, handler } = loaded;
  const fresh = new Map<string, RefusedItem>();
  for (const one of refused) {
    const id = letterId(name, one);
    if (bus.handlerStatus(id, handler) === "ready") fresh.set(id, one);
  }
  const before = bus.deadLetters().filter((letter) => letter.handler === handler);
  const chosen = [...fresh].slice(0, Math.max(0, MAX_LETTERS - before.length));
  const kept = letters(chosen, () => MAX_KEPT_CHARACTERS - charactersOf(bus, before));
  const count = fresh.size - kept.length;
  const id = `refused-${name}-more`;
  const counted = keptSchema.safeParse(bus.results(id).get(handler)).data?.count ?? 0;
  if (count <= counted) return kept;
  const reason = `at least ${count} more items were not taken; of one bridge ${MAX_LETTERS} are kept`;
  return [...kept, { id, reason, item: { of: "more", count } }];
}

/** The same item again is the same letter. */
function letterId(name: string, { of, reason, item }: RefusedItem): string {
  const text = item === undefined ? reason : JSON.stringify(item);
  return `refused-${name}-${shortHash(JSON.stringify([of, text]), 16)}`;
}

/** With what they hold, as long as there is room for it. */
function letters(refused: readonly [id: string, RefusedItem][], roomFor: () => number): Refusal[] {
  let room = refused.length === 0 ? 0 : roomFor();
  return refused.map(([id, { of, reason, item }]) => {
    if (item === undefined) return { id, reason: `${of}: ${reason} (not kept: it is not JSON)`, item: { of } };
    const { length } = JSON.stringify(item);
    if (length > room) return { id, reason: `${of}: ${reason} (not kept: it has ${length} characters)`, item: { of } };
    room -= length;
    return { id, reason: `${of}: ${reason}`, item: { of, item: item as JsonValue } };
  });
}

function charactersOf(bus: Bus, dead: readonly { record: string; handler: string }[]): number {
  return dead.reduce((sum, { record, handler }) => {
    const kept = bus.results(record).get(handler);
    return sum + (kept === undefined ? 0 : JSON.stringify(kept).length);
  }, 0);
}

/** The outcome of items that a person wants tried again. */
export interface TakenAgain {
  readonly events: number;
  readonly actions: number;
  readonly refused: readonly string[];
}

interface Revived {
  readonly id: string;
  readonly reason: string;
  readonly kept: Kept;
}

/** Judges revived items again, each as the bridge gave it, or as the bridge repairs it. Events first: actions answer them. */
export async function takeRevived(
  services: BridgeServices,
  scope: BridgeScope,
  on: { loaded: LoadedBridge; handler: string },
): Promise<TakenAgain> {
  const { bus } = scope;
  const revived: Revived[] = bus
    .deadLetters()
    .filter((letter) => letter.revived && letter.handler === on.handler)
    .map(({ record, reason }) => {
      const kept = keptSchema.safeParse(bus.results(record).get(on.handler)).data ?? { of: "more" };
      return { id: record, reason, kept };
    });
  let [events, actions] = [0, 0];
  const refused: string[] = [];
  for (const one of revived.sort((a, b) => Number(a.kept.of === "actions") - Number(b.kept.of === "actions"))) {
    await takeTurns();
    const taken = await takeOne(services, scope, { ...on, ...one });
    events += taken.events;
    actions += taken.actions;
    if (taken.refused !== undefined) refused.push(taken.refused);
  }
  return { events, actions, refused };
}

interface OneTaken {
  readonly events: number;
  readonly actions: number;
  readonly refused?: string;
}

async function takeOne(
  services: BridgeServices,
  scope: BridgeScope,
  { loaded, handler, id, reason, kept }: Revived & { loaded: LoadedBridge; handler: string },
): Promise<OneTaken> {
  const { bus, planId } = scope;
  const { bridge, name } = loaded;
  const stay = (why: string): OneTaken => {
    bus.settle({ record: id, handler, outcome: "threw", reason: why, marks: { about: "event", dead: true } });
    return { events: 0, actions: 0, refused: why };
  };
  if (kept.of === "more" || kept.item === undefined) return stay(reason);
  const { of, item } = kept;
  const call = bridge.repair && ((ctx: Parameters<NonNullable<typeof bridge.repair>>[0]) => bridge.repair?.(ctx, item));
  const called = call ? await callBridge(services, { loaded, planId, label: handler, call }) : undefined;
  if (called?.kind === "stopped") return { events: 0, actions: 0 };
  if (called?.kind === "threw") return stay(`${of}: repair() failed: ${called.error}`);
  const again = (called?.kind === "returned" ? called.value : undefined) ?? item;
  const result = of === "events" ? { events: [again] } : { events: [], actions: [again] };
  const findEvent = (event: string) => bus.findEvent(event);
  const findPlan: PollToJudge["findPlan"] = (plan) => services.findPlan(plan);
  const given = { result, bridge: name, scope: scopeOf(planId), record: id, handler };
  const judged = judgePoll({ ...given, findEvent, findPlan });
  if (judged.kind === "failed") return stay(`${of}: ${judged.reason}`);
  const { events, actions, refused } = appendEvents(services, scope, { ...judged, bridge: name });
  crashPoint("poll:revived-appended");
  const [problem] = refused;
  if (problem) return stay(`${of}: ${problem.reason}`);
  const marks = { about: "event", closed: true } as const;
  bus.settle({ record: id, handler, outcome: "handled", ...(actions.length > 0 ? { actions } : {}), marks });
  crashPoint("poll:revived-settled");
  return { events, actions: actions.length };
}
