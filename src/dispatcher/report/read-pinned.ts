import { CONFIG_FILE } from "../../config/load.ts";
import type { Pin } from "../../config/pin.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { InboxProblem } from "../intake/inbox.ts";
import type { Located } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";
import { offerOf, type TreeOffer } from "../settings/pinning.ts";

/** What the dispatcher was started with, and what the working tree would change about it. */
export type PinnedReport = Pick<Pin, "pinnedAt" | "by" | "branch"> &
  Pick<TreeOffer, "digest" | "changes" | "needsStart">;

/** A config that cannot be used is a problem to show, whether or not a dispatcher works with an older one. */
export function readPinned(loom: Located & Configured): { pinned?: PinnedReport; problems: InboxProblem[] } {
  const { pin, problem } = loom.pinned;
  if (!pin) return { problems: problem ? [problemOf(problem)] : [] };
  const { pinnedAt, by, branch, digest } = pin;
  const told = { pinnedAt, by, digest, ...(branch === undefined ? {} : { branch }) };
  try {
    const { changes, needsStart } = offerOf(pin, { root: loom.paths.root, path: loom.environment.PATH });
    return { pinned: { ...told, changes, needsStart }, problems: [] };
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
    return { pinned: { ...told, changes: [], needsStart: false }, problems: [problemOf(error)] };
  }
}

function problemOf({ message, hint }: PrloomError): InboxProblem {
  // A list of mistakes, where there is room for one line.
  return { file: CONFIG_FILE, reason: message.replaceAll(/\s+/g, " "), hint };
}
