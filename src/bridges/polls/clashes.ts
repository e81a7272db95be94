import { isDeepStrictEqual } from "node:util";
import type { AppendedEvents, Bus } from "../../bus/bus.ts";
import { isDerivedId } from "../../bus/names.ts";
import type { Action, BusEvent } from "../../bus/types.ts";
import { copyJson } from "../../kernel/json.ts";
import type { RefusedItem } from "./judge-poll.ts";
import { pollMemory, remember } from "./memory.ts";

export interface PollOnBus {
  readonly bridge: string;
  readonly appended: AppendedEvents;
  readonly actions: readonly Action[];
  readonly events: readonly BusEvent[];
  readonly refused: readonly RefusedItem[];
}

/** How prloom signs its own events. */
const OWN_SOURCE = "prloom";
/** Searches of the journal for events that nothing answers; the next poll goes on with the others. */
const MAX_SEARCHES = 50;

interface Unclashed {
  readonly actions: Action[];
  readonly refused: RefusedItem[];
}

/** Which actions are new on the bus that gets them; one with another's id is refused. */
export function withoutClashingActions(bus: Bus, poll: Pick<PollOnBus, "actions" | "refused">): Unclashed {
  const refused = [...poll.refused];
  const fresh = new Map<string, Action>();
  for (const action of poll.actions) {
    // Ids that prloom made are new with each poll; one that the bridge gave may be the same action again.
    const known = isDerivedId(action.id) ? undefined : (fresh.get(action.id) ?? bus.findAction(action.id));
    if (known && !isSame(known, action)) {
      const reason = `the id ${shown(action.id)} was used by another action; put the system's name into ids`;
      refused.push({ of: "actions", reason, item: copyJson(given(action), "action") });
    } else if (isDerivedId(action.id) || !bus.hasAction(action.id)) fresh.set(action.id, known ?? action);
  }
  return { actions: [...fresh.values()], refused };
}

/** With its author, whose permissions it has. */
function isSame(one: Action, other: Action): boolean {
  return isDeepStrictEqual([one.target, one.payload, one.author], [other.target, other.payload, other.author]);
}

/** An action as the bridge gave it: prloom adds the author and the emitter again with each try. */
function given({ author: _author, emitter: _emitter, ...rest }: Action): Omit<Action, "author" | "emitter"> {
  return rest;
}

/**
 * An id that is taken already is another's event, or the same one again. Another's: it is refused, and so is what
 * answers it. The same: who wrote it was said when it was first told, and that holds.
 */
export function withoutClashingEvents(bus: Bus, poll: PollOnBus): Unclashed {
  const { bridge } = poll;
  const known = duplicatesOf(bus, poll);
  const refused = [...poll.refused];
  for (const [id, { source }] of known) {
    if (source === bridge) continue;
    const item = poll.events.find((event) => event.id === id);
    refused.push({ of: "events", reason: clash(id, source), item: item && copyJson(item, "event") });
  }
  const actions = poll.actions.flatMap((action) => {
    const { id = "", source, event } = known.get(action.relatedEventId ?? "") ?? {};
    if (source === undefined) return [action];
    if (source !== bridge) {
      const reason = `its relatedEventId is another's: ${clash(id, source)}`;
      refused.push({ of: "actions", reason, item: copyJson(given(action), "action") });
      return [];
    }
    const { author: _author, ...rest } = action;
    const author = event?.context?.author;
    return [{ ...rest, ...(author ? { author } : {}) }];
  });
  return { actions, refused };
}

interface Duplicate {
  readonly id: string;
  readonly source: string;
  /** Only where an action answers it. */
  readonly event: BusEvent | undefined;
}

function duplicatesOf(bus: Bus, { bridge, appended, actions }: PollOnBus): Map<string, Duplicate> {
  const { sources } = pollMemory(bus, bridge);
  for (const id of appended.appended) remember(sources, id, bridge);
  const answered = new Set(actions.map(({ relatedEventId }) => relatedEventId));
  const found = new Map<string, Duplicate>();
  let searches = 0;
  for (const id of new Set(appended.duplicates)) {
    const before = answered.has(id) ? undefined : sources.get(id);
    if (before === undefined && !answered.has(id)) {
      if (searches >= MAX_SEARCHES) continue;
      searches += 1;
    }
    const event = before === undefined ? bus.findEvent(id) : undefined;
    const source = before ?? event?.source ?? bridge;
    remember(sources, id, source);
    // An event that cannot be found any more is too old to clash.
    if (before !== undefined || event) found.set(id, { id, source, event });
  }
  return found;
}

function clash(id: string, source: string): string {
  const whose = source === OWN_SOURCE ? "prloom itself" : `bridge ${source}`;
  return `the id ${shown(id)} was used by ${whose}; put the system's name into ids`;
}

function shown(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}
