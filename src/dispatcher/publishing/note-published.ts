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
export function notePublished(loom: Records & Stopping, id: string, published: Omit<Partial<Published>, "sha">): void {
  if (loom.stopping) return;
  updateRecord(loom, id, ({ published: before = {} }) => ({ published: { ...before, ...published } }));
}

/** Writes down what a branch is on the server, and since when by its clock. */
export function noteHead(loom: Records & Stopping, id: string, { sha, now, ...taken }: HeadThere): void {
  if (loom.stopping) return;
  const at = isoTime(now);
  const published = { sha, pushing: undefined, ...taken };
  updateRecord(loom, id, ({ published: before = {} }) => ({
    published: { ...before, ...published, ...headsAfter(before, sha, at) },
  }));
}

interface HeadThere {
  readonly sha: string;
  readonly now: number;
  /** Given where it was taken over: one that was seen during a push is still to be. */
  readonly theirs?: undefined;
}

const MAX_HEADS = 50;

/** A merge that is asked for is for what was there then. */
function headsAfter({ heads = [] }: Published, sha: string, at: string): Pick<Published, "heads"> {
  if (heads.at(-1)?.sha === sha) return {};
  return { heads: [...heads, { sha, at }].slice(-MAX_HEADS) };
}

/** Blocks a plan that the server does not take as it is. `published` changes in the same write. */
export function blockAsRefused(
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
