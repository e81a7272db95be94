import { join } from "node:path";
import { type BridgeEvent, defineBridge, type NewAction } from "prloom/plugin";
import { type Card, hashOf, readCards, sourceOf } from "./board.ts";

interface Config {
  /** The folder with the columns, from the top of the repository. */
  readonly board?: string;
  /** What becomes of a card in todo/: "queued" is worked on at once, "draft" waits for `prloom queue`. */
  readonly status?: "draft" | "queued";
}

/** The hash of each card as it was last seen. */
type Seen = { readonly [card: string]: string };

export default defineBridge<Config, Seen>(({ board = "board", status = "queued" }) => ({
  name: "kanban",
  events(ctx, before = {}) {
    const seen: Record<string, string> = {};
    const events: BridgeEvent[] = [];
    const actions: NewAction[] = [];
    // A card in done/ is forgotten: moved back to todo/ it is a new one, and gets a new plan.
    for (const card of readCards(join(ctx.repoRoot, board)).filter(({ column }) => column !== "done")) {
      const last = before[card.id];
      if (last === undefined && card.column !== "todo") continue;
      if (seen[card.id] !== undefined) {
        ctx.log.warn(`${card.id}.md is in two columns; the one in ${card.column}/ is ignored`);
        continue;
      }
      seen[card.id] = card.hash;
      if (last === card.hash || (last !== undefined && card.isOurs)) continue;
      const event = cardEvent(card, last ?? "");
      events.push(event);
      actions.push(upsert(card, { status, relatedEventId: event.id }));
    }
    return { events, actions, state: seen };
  },
}));

/** Tells `sync.ts` that this text of the card is on its way into the plan. Its id has what was before: back and forth are two edits. */
function cardEvent(card: Card, last: string): BridgeEvent {
  return {
    id: `card-${hashOf(`${card.id}\n${last}\n${card.hash}`).slice(0, 32)}`,
    source: "kanban",
    type: last === "" ? "card.added" : "card.edited",
    severity: "info",
    title: `${card.id}.md in ${card.column}/`,
    body: "",
    context: { card: card.id, hash: card.hash },
  };
}

function upsert(card: Card, more: { status: "draft" | "queued"; relatedEventId: string }): NewAction {
  const [, title] = /^# (.+)$/m.exec(card.text) ?? [];
  return {
    target: { target: "prloom-core" },
    relatedEventId: more.relatedEventId,
    payload: {
      type: "upsert_plan",
      source: sourceOf(card),
      status: more.status,
      planMarkdown: card.text,
      ...(title !== undefined && { title: title.trim() }),
    },
  };
}
