import { join } from "node:path";
import { type BridgeEvent, defineBridge, type NewAction } from "prloom/plugin";
import { type Card, hashOf, readCards, sourceOf } from "./board.ts";

interface Config {
  /** The folder with the columns, from the top of the repository. */
  readonly board?: string;
  /** What becomes of a card in todo/: "queued" is worked on at once, "draft" waits for `prloom queue`. */
  readonly status?: "draft" | "queued";
}

/** Each card as it was last seen: hash of its text, and of the text that `sync.ts` had written. */
type Seen = { readonly [card: string]: { readonly hash: string; readonly mark: string } };

export default defineBridge<Config, Seen>(({ board = "board", status = "queued" }) => ({
  events(ctx, before = {}) {
    const seen: Record<string, Seen[string]> = {};
    const events: BridgeEvent[] = [];
    const actions: NewAction[] = [];
    // A card in done/ is forgotten: moved back to todo/ it is a new one, and gets a new plan.
    for (const card of readCards(join(ctx.repoRoot, board)).filter(({ column }) => column !== "done")) {
      const last = before[card.id]?.hash;
      if (last === undefined && card.column !== "todo") continue;
      if (seen[card.id] !== undefined) {
        ctx.log.warn(`${card.id}.md is in two columns; the one in ${card.column}/ is ignored`);
        continue;
      }
      const { mark = "", written } = card;
      seen[card.id] = { hash: card.hash, mark };
      if (last === card.hash || (last !== undefined && card.isOurs)) continue;
      const event = cardEvent(card, last ?? "");
      events.push(event);
      // Unless an edit of the same text is on its way already: then this is an edit of that edit.
      const isFirst = last === mark || before[card.id]?.mark !== mark;
      const base = isFirst && written !== undefined ? { base: written } : {};
      actions.push(upsert(card, { status, relatedEventId: event.id, ...base }));
    }
    return { events, actions, state: seen };
  },
}));

/** Tells `sync.ts` that this text of the card is on its way into the plan. Its id has what was before: back and forth are two edits. */
function cardEvent(card: Card, last: string): BridgeEvent {
  return {
    id: `card-${hashOf(`${card.id}\n${last}\n${card.hash}`).slice(0, 32)}`,
    type: last === "" ? "card.added" : "card.edited",
    severity: "info",
    title: `${card.id}.md in ${card.column}/`,
    body: "",
    context: { card: card.id, hash: card.hash },
  };
}

function upsert(card: Card, more: { status: "draft" | "queued"; relatedEventId: string; base?: string }): NewAction {
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
      ...(more.base !== undefined && { base: more.base }),
    },
  };
}
