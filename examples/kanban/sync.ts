import { join } from "node:path";
import { definePlugin, type GlobalEventContext } from "prloom/plugin";
import { columnFor, findCard, hashOf, moveCard, writeCard } from "./board.ts";

interface Config {
  readonly board?: string;
}

/** By card: the hash of its text that the plan knows. */
type Known = Record<string, string>;

export default definePlugin<Config, Known>(({ board = "board" }) => ({
  async onGlobalEvent(event, ctx) {
    if (event.type === "card.added" || event.type === "card.edited") {
      // From now on the plan knows this text of the card, or will in a moment: it may be written over.
      ctx.setState(String(event.context?.card), String(event.context?.hash));
      return;
    }
    if (event.type !== "plan_created" && event.type !== "plan_edited" && event.type !== "plan_status_changed") return;
    const { planId, source } = event.context;
    if (source?.system !== "board") return;
    const fresh = await bringUpToDate(ctx, { board: join(ctx.repoRoot, board), planId, cardId: source.id });
    if (fresh) ctx.markEventHandled();
    else ctx.markEventDeferred("a person is editing the card", 2_000);
  },
}));

interface Pair {
  readonly board: string;
  readonly planId: string;
  readonly cardId: string;
}

/**
 * Makes the card say what the plan says now, whatever the event told: so events may come late, twice or out of order.
 * False when a person has changed the card and the bridge has not seen it yet; writing now would lose the change.
 */
async function bringUpToDate(ctx: GlobalEventContext<Known>, { board, planId, cardId }: Pair): Promise<boolean> {
  const plan = await ctx.readPlan(planId);
  const summary = (await ctx.listPlans({ source: { system: "board", id: cardId } })).find(
    (found) => found.planId === planId,
  );
  const card = findCard(board, cardId);
  if (!plan || !summary || !card) return true;
  if (card.hash !== hashOf(plan.content)) {
    const known = ctx.getState(cardId);
    if (!card.isOurs && known !== undefined && known !== card.hash) return false;
    writeCard(card, plan.content);
    ctx.log.info(`wrote ${cardId}.md`);
  }
  const column = columnFor(summary.status);
  if (card.column === column) return true;
  moveCard(board, card, column);
  ctx.log.info(`moved ${cardId}.md to ${column}/`);
  return true;
}
