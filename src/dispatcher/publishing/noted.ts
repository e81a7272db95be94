import { isoTime } from "../../kernel/clock.ts";
import type { Published } from "../../plan/at-forge.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Publishing, Reporting, Stopping, Waking } from "../capabilities.ts";
import type { Gated } from "../gates/gate-store.ts";
import type { Located } from "../paths.ts";
import { type BlockReason, blockPlan, type Records, updateRecord } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";

/** What it takes to bring plans to a server. */
export type PublishingAtWork = Located &
  Configured &
  Records &
  Gated &
  AtWork &
  Publishing &
  Reporting &
  Stopping &
  Waking;

/*
 * Nothing is written once the dispatcher was asked to stop: an answer may come when another one owns the records. The next start
 * finds out by looking.
 */

/** Writes down how much of a plan the server has. */
export function note(loom: Records & Stopping, id: string, published: Partial<Published>): void {
  if (loom.stopping) return;
  const at = isoTime(loom.clock.now());
  updateRecord(loom, id, ({ published: before = {} }) => ({
    published: { ...before, ...published, ...headsAfter(before, published.sha, at) },
  }));
}

const MAX_HEADS = 50;

/** A merge that is asked for is for what was there then. */
function headsAfter({ heads = [] }: Published, sha: string | undefined, at: string): Pick<Published, "heads"> {
  if (sha === undefined || heads.at(-1)?.sha === sha) return {};
  return { heads: [...heads, { sha, at }].slice(-MAX_HEADS) };
}

/** Blocks a plan that the server does not take as it is. `published` changes in the same write. */
export function refuse(
  loom: Records & Reporting & Stopping & Waking,
  id: string,
  { published, ...blocked }: Omit<BlockReason, "cause"> & { readonly published: Partial<Published> },
): false {
  if (loom.stopping) return false;
  const also = (now: PlanRecord): Partial<PlanRecord> => ({ published: { ...now.published, ...published } });
  blockPlan(loom, id, { ...blocked, cause: "forge" }, also);
  loom.wake(id);
  return false;
}
