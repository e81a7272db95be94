import type { Bus } from "../../bus/bus.ts";
import { actionId, DISPATCHER } from "../../bus/names.ts";
import type { Action, Scope } from "../../bus/types.ts";
import type { LoadedBridge } from "../load.ts";

const NOT_DONE: Readonly<Record<string, string>> = { merge: "Not merged", close_pr: "Not closed" };

interface RefusedDeed {
  readonly action: Action;
  readonly loaded: LoadedBridge;
  readonly reason: string;
}

/**
 * The person who asked for a merge or a close is told there that the bridge refused it, once per action: its dead
 * letter is seen by others. Done before the action is buried, so that a kill in between forgets neither. prloom's own
 * bridges answer by themselves.
 */
export function answerRefusal(bus: Bus, scope: Scope, { action, loaded, reason }: RefusedDeed): void {
  const { id, target, payload, relatedEventId } = action;
  const notDone = NOT_DONE[payload.type];
  if (notDone === undefined || loaded.kind === "builtin") return;
  const record = `refusal-${id}`;
  const answer: Action = {
    id: actionId({ scope, recordId: record, handler: DISPATCHER, ordinal: 0 }),
    type: "respond",
    target,
    payload: { type: "comment", message: `${notDone}: ${reason}` },
    ...(relatedEventId === undefined ? {} : { relatedEventId }),
  };
  const marks = { about: "event", closed: true } as const;
  bus.settle({ record, handler: DISPATCHER, outcome: "handled", actions: [answer], marks }, { sync: false });
}
