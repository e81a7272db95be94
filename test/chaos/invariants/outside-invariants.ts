import type { Action } from "../../../src/bus/types.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import type { LedgerEntry } from "../../testing/outside/service.ts";
import type { Outside } from "../../testing/outside.ts";
import type { Project } from "../../testing/project.ts";
import { allBuses, type BusFacts, memoryOf } from "./bus-facts.ts";
import { differs, repeated } from "./differs.ts";
import { sourceProblems } from "./source-invariants.ts";

/** What must hold between the buses and the outside, once the dispatcher had time to finish. */
export function outsideProblems(project: Project, outside: Outside): string[] {
  const buses = allBuses(project);
  const ledger = outside.ledger();
  const each = buses.flatMap((bus) => {
    const problems = [
      ...intakeProblems(bus, outside),
      ...hookProblems(bus, ledger),
      ...actionProblems(bus),
      ...differs("dead letters", bus.dead, []),
    ];
    return problems.map((problem) => `bus of ${bus.planId ?? "the repository"}: ${problem}`);
  });
  return [
    ...each,
    ...deliveryProblems(buses, ledger),
    ...memoryProblems(project, buses),
    ...buses.flatMap((bus) => textHookProblems(project, bus)),
    ...sourceProblems(project, outside),
  ];
}

/** Each item that was put outside is an event on the bus that it is for, once and in order. */
function intakeProblems(bus: BusFacts, outside: Outside): string[] {
  const [name, folder] = bus.planId === undefined ? ["outside", "global"] : ["forum", bus.planId];
  const numbers = Array.from({ length: outside.count(bus.planId) }, (_, index) => index + 1);
  const isOwn = (number: number): boolean => bus.planId !== undefined || !outside.forPlans.has(number);
  const put = numbers.filter(isOwn).map((number) => `${name}-${folder}-${number}`);
  const taken = (from: string) => bus.events.filter(({ source }) => source === from).map(({ id }) => id);
  const forThis = [...outside.forPlans].flatMap(([number, planId]) =>
    planId === bus.planId ? `outside-global-${number}` : [],
  );
  return [
    ...differs("the items of the intake", taken(name), put),
    ...(bus.planId === undefined ? [] : differs("what the repository's intake had for it", taken("outside"), forThis)),
    ...differs("events that are there twice", repeated(bus.events.map(({ id }) => id)), []),
  ];
}

/** Each event was settled once by each plugin, and each plugin's effect is there at least once. */
function hookProblems(bus: BusFacts, ledger: readonly LedgerEntry[]): string[] {
  const point = bus.planId === undefined ? "onGlobalEvent" : "onEvent";
  const handler = bus.planId === undefined ? "onGlobalEvent:recorder" : "onEvent:noter";
  const ids = bus.events.map(({ id }) => id).toSorted();
  const settled = (name: string): string[] => recordsOf(bus, name).toSorted();
  const acted = new Set(
    ledger.flatMap((entry) => (entry.what === "hook" && entry.point === point ? entry.record : [])),
  );
  return [
    ...differs(`events settled by ${handler}`, settled(handler), ids),
    ...(bus.planId === undefined ? [] : differs("events settled by prloom", settledEvents(bus), ids)),
    ...differs(
      `events that ${handler} never acted on`,
      ids.filter((id) => !acted.has(id)),
      [],
    ),
  ];
}

/** By prloom itself; rounds of plan hooks are closed under the same name. */
function settledEvents(bus: BusFacts): string[] {
  const events = new Set(bus.events.map(({ id }) => id));
  return recordsOf(bus, "dispatcher")
    .filter((record) => events.has(record))
    .toSorted();
}

function recordsOf(bus: BusFacts, handler: string): string[] {
  return bus.finals.filter((final) => final.handler === handler).map(({ record }) => record);
}

/** Actions are those that were settled, in that order; each was routed once, and ended once. */
function actionProblems(bus: BusFacts): string[] {
  const wanted = bus.finals.flatMap(({ settlement, record }) =>
    settlement.record === record ? (settlement.actions ?? []).map(({ id }) => id) : [],
  );
  const ids = bus.actions.map(({ id }) => id);
  const ends = bus.finals.filter(({ handler, settlement }) => {
    const isBlocked = handler === "beforeRoute:recorder" && settlement.outcome === "handled";
    return isBlocked || handler.startsWith("deliver:");
  });
  return [
    ...differs("the actions", ids, wanted),
    ...differs("actions that are there twice", repeated(ids), []),
    ...differs("actions that were routed", recordsOf(bus, "beforeRoute:recorder").toSorted(), ids.toSorted()),
    ...differs("actions that came to an end", ends.map(({ record }) => record).toSorted(), ids.toSorted()),
  ];
}

type Delivered = Extract<LedgerEntry, { what: "delivered" }>;

/** Everything that was meant for the outside arrived there once, in order for each address, and nothing else did. */
function deliveryProblems(buses: readonly BusFacts[], ledger: readonly LedgerEntry[]): string[] {
  const delivered = ledger.filter((entry): entry is Delivered => entry.what === "delivered");
  const wanted = buses.flatMap((bus) => bus.actions.flatMap((action) => destination(action) ?? []));
  const there = new Map(delivered.map((entry) => [entry.action, entry]));
  const wrong = wanted.filter(({ id, address, message }) => {
    const entry = there.get(id);
    return entry !== undefined && (`${entry.bridge} ${entry.token}` !== address || entry.message !== message);
  });
  const inOrder = buses.flatMap((bus) => orderProblems(bus, delivered));
  return [
    ...differs("what was delivered twice", repeated(delivered.map(({ action }) => action)), []),
    ...differs(
      "what was delivered",
      delivered.map(({ action }) => action).toSorted(),
      wanted.map(({ id }) => id).toSorted(),
    ),
    ...differs("what was delivered to the wrong place or with other words", wrong, []),
    ...inOrder,
  ];
}

/** Where a plugin sends actions of several addresses to one, each keeps only its own order. */
function orderProblems(bus: BusFacts, delivered: readonly Delivered[]): string[] {
  const places = bus.actions.flatMap((action) => {
    const place = destination(action);
    return place ? [{ id: place.id, address: `${action.target.token} > ${place.address}` }] : [];
  });
  return [...new Set(places.map(({ address }) => address))].flatMap((address) => {
    const wanted = places.filter((place) => place.address === address).map(({ id }) => id);
    const arrived = delivered.map(({ action }) => action).filter((id) => wanted.includes(id));
    return differs(`the order at ${address}`, arrived, wanted);
  });
}

/** Where the recorder lets an action go; undefined when that is not outside. */
function destination({ id, target, payload }: Action): { id: string; address: string; message: string } | undefined {
  if (target.target !== "outside" && target.target !== "forum") return undefined;
  const message = payload.type === "comment" ? payload.message : payload.type;
  if (message.startsWith("re ") && message.includes("[block]")) return undefined;
  const isElsewhere = message.startsWith("re ") && message.includes("[redirect]");
  const address = isElsewhere ? "outside elsewhere" : `${target.target} ${target.token ?? ""}`;
  return { id, address, message };
}

/** Around each TODO, and after a design, the plugins were asked once, and what they wrote is there once. */
function textHookProblems(project: Project, bus: BusFacts): string[] {
  const { planId } = bus;
  if (planId === undefined) return [];
  const text = project.planText(planId);
  const todos = parsePlan(text).todos.length;
  const problems = [
    ...differs("rounds of beforeTodo", recordsOf(bus, "beforeTodo:noter").length, todos),
    ...differs("rounds of afterTodo", recordsOf(bus, "afterTodo:noter").length, todos),
    ...differs(
      "what afterDesign wrote",
      text.split("Designed.").length - 1,
      recordsOf(bus, "afterDesign:noter").length,
    ),
  ];
  return problems.map((problem) => `${planId}: ${problem}`);
}

const NOTER_POINTS = ["onEvent", "afterDesign", "beforeTodo", "afterTodo", "beforeFinish", "afterFinish"];
const RECORDER_POINTS = ["onStartup", "onGlobalEvent", "beforeRoute", "beforeUpsert", "afterActivate"];

/** A counter that a hook raises by one counts the calls that were settled: not those that threw or were killed. */
function memoryProblems(project: Project, buses: readonly BusFacts[]): string[] {
  const countIn = (among: readonly BusFacts[], plugin: string, points: readonly string[]): Record<string, number> => {
    const counts = points.map((point): [string, number] => [
      point,
      among.flatMap((bus) => recordsOf(bus, `${point}:${plugin}`)).length,
    ]);
    return Object.fromEntries(counts.filter(([, count]) => count > 0).toSorted());
  };
  const stored = (plugin: string, planId?: string): Record<string, unknown> =>
    Object.fromEntries(Object.entries(memoryOf(project, plugin, planId)).toSorted());
  const plans = buses.flatMap((bus) => {
    if (bus.planId === undefined) return [];
    const counted = countIn([bus], "noter", NOTER_POINTS);
    return differs(`the noter's memory of ${bus.planId}`, stored("noter", bus.planId), counted);
  });
  return [
    ...differs("the recorder's memory", stored("recorder"), countIn(buses, "recorder", RECORDER_POINTS)),
    ...differs("the noter's memory of all plans", stored("noter"), countIn(buses, "noter", NOTER_POINTS)),
    ...plans,
  ];
}
