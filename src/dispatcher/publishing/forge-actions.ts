import type { BusEvent } from "../../bus/types.ts";
import type { Forge } from "../../forge/port.ts";
import type { AskedMerge } from "../../github/bridge/pull-actions.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { passesByItself } from "../../kernel/system/used-up.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Publishing, Waking } from "../capabilities.ts";
import { mergePlan } from "../commands/ending/merge-plan.ts";
import type { CommandRunning } from "../enclosure/command-run.ts";
import type { Gated } from "../gates/gate-store.ts";
import { type Records, updateRecord } from "../records.ts";

export type ForgeOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly retryable: boolean };

/**
 * Pure: what the author of a comment or review had seen: the commit of the review, or what was newest on the server then. The commit of
 * a comment on a line is that of its thread, which others may have begun long ago.
 */
export function reviewedIn(record: PlanRecord | undefined, event: BusEvent | undefined): string | undefined {
  const { commit, at } = event?.context ?? {};
  if (typeof commit === "string" && event?.type !== "review_comment") return commit;
  const heads = record?.published?.heads ?? [];
  if (typeof at !== "string" || heads.length === 0) return undefined;
  const seen = heads.findLast((head) => Date.parse(head.at) <= Date.parse(at))?.sha;
  if (seen !== undefined) return seen;
  const message = `Nothing of ${record?.id} was published when that was asked for.`;
  throw new PrloomError("forge-refused", message, "Review it, then ask again.");
}

/** A merge that was asked for in the conversation. Asking again for what was merged is fine: a kill may repeat it. */
export async function mergeForBridge(
  loom: CommandRunning & Gated & Buses & Publishing & Waking,
  planId: string,
  { method, sha, eventId }: AskedMerge,
): Promise<ForgeOutcome> {
  const record = loom.store.byId(planId);
  if (record?.outcome === "merged") return { ok: true };
  return outcomeOf(loom, async () => {
    const event = eventId === undefined ? undefined : loom.bus(planId).findEvent(eventId);
    try {
      await mergePlan(loom, planId, { force: false, method, sha: sha ?? reviewedIn(record, event) });
    } catch (error) {
      // Seen to be merged meanwhile, by a person or before a kill.
      if (loom.store.byId(planId)?.outcome !== "merged") throw error;
    }
    loom.wake(planId);
    loom.wake();
  });
}

/** The change request is closed without a merge; the plan ends at the next look at it. */
export async function closeForBridge(loom: Records & Publishing & Waking, planId: string): Promise<ForgeOutcome> {
  const record = loom.store.byId(planId);
  if (!record?.changeRequest) return { ok: false, reason: `${planId} has no change request`, retryable: false };
  if (record.changeRequest.state !== "open") {
    if (record.changeRequest.state === "closed") return { ok: true };
    return { ok: false, reason: `${planId} is merged already`, retryable: false };
  }
  return outcomeOf(loom, async () => {
    if (loom.forge.name === "local") await loom.forge.close(planId, "closed");
    else await closeAtServer(loom.forge, record.changeRequest?.ref ?? "");
    updateRecord(loom, planId, (now) =>
      now.changeRequest ? { changeRequest: { ...now.changeRequest, state: "closed" } } : {},
    );
    loom.wake(planId);
  });
}

/** What a person would be told is told to the author who asked; anything else is a fault and counts as one. */
async function outcomeOf(loom: Records, act: () => Promise<void>): Promise<ForgeOutcome> {
  try {
    await act();
    loom.store.sync();
    return { ok: true };
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
    return { ok: false, reason: `${error.message} ${error.hint}`, retryable: passesByItself(error) };
  }
}

async function closeAtServer(forge: Exclude<Forge, { name: "local" }>, ref: string): Promise<void> {
  const closed = await (await forge.server()).close(ref);
  if (!("refused" in closed)) return;
  throw new PrloomError("forge-refused", closed.refused, "Close it there.");
}
