import { loadConfig } from "../../config/load.ts";
import { checkedPin, pinOf, writePin } from "../../config/pin.ts";
import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Reporting, Timing, Waking } from "../capabilities.ts";
import { requireEnforcedGates } from "../gates/enforced.ts";
import { endGoverned } from "../governing/new-terms.ts";
import type { Located } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Pooled } from "../runs/agent-pool.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { startedAt } from "../settings/keep-pin.ts";
import type { Configured } from "../settings/pinned.ts";
import { offerOf, type TreeOffer } from "../settings/pinning.ts";
import { signersAt } from "../settings/signers.ts";

/** A person who agrees to what is on the disk says its digest again. */
export interface ReloadAnswer extends Pick<TreeOffer, "digest" | "changes" | "needsStart"> {
  readonly taken: boolean;
}

/** Says what the working tree would change, or with the digest of that applies it, wholly or not at all. */
export async function reloadPinned(
  loom: Located & Timing & Configured & Records & Pooled & AtWork & Reporting & Waking,
  agreed: string | undefined,
): Promise<ReloadAnswer> {
  const { pin } = loom.pinned;
  if (!pin) {
    const hint = "`prloom start` takes what is checked out.";
    throw new PrloomError("reload-refused", "No dispatcher was started here yet: there is nothing to reload.", hint);
  }
  const tree = { root: loom.paths.root, path: loom.environment.PATH };
  const offer = offerOf(pin, tree, await signersAt(loom.repo, loadConfig(tree.root)));
  const { digest, changes, needsStart, config, files } = offer;
  const answer = { digest, changes, needsStart };
  if (agreed === undefined || digest === pin.digest) return { ...answer, taken: false };
  if (digest !== agreed) {
    const hint = "Run `prloom reload` again to see what it is now.";
    throw new PrloomError("reload-stale", "What is checked out changed after it was shown; nothing was applied.", hint);
  }
  if (needsStart) throw onlyAtStart();
  // As at the start: what the config asks for must hold.
  await requireEnforcedGates(config);
  const modulesAt = startedAt(loom.paths, pin);
  const origin = { ...pin, pinnedAt: isoTime(loom.clock.now()), by: "reload", modulesAt } as const;
  const next = pinOf(files, { ...origin, checked: checkedPin(files, config) });
  writePin(loom.paths.pinFile, next);
  loom.pinned.take(next, config);
  loom.report({ level: "info", text: "what is checked out was applied" });
  loom.pool.limitsChanged();
  crashPoint("reload:taken");
  // What a run may do does not change under it; when plans are put away does not belong to that.
  if (changes.some(({ key }) => key.startsWith("governance.") && key !== "governance.purgeAfter"))
    await endGoverned(loom, "the policy");
  // One that waits, at a gate for instance, may have nothing to wait for any more, or something.
  for (const { id, deleted, status } of loom.store.list().records)
    if (!deleted && (status === "active" || status === "review")) loom.wake(id);
  loom.wake();
  return { ...answer, taken: true };
}

/** Modules cannot be loaded a second time into one process, and the rest of these holds everything together. */
export function onlyAtStart(): PrloomError {
  return new PrloomError(
    "reload-refused",
    "Plugins, bridges, `notify` and `worktreesDir` are read when the dispatcher starts; nothing was applied.",
    "`prloom stop`, then `prloom start`, takes all of it over.",
  );
}
