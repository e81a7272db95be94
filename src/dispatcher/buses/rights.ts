import { hasWritePermission } from "../../bus/author.ts";
import type { Action } from "../../bus/types.ts";

/**
 * An agent could have written what stands under a login that prloom posts with: that may ask for work, and never ends it. A label may
 * make a machine merge, whether it comes or goes.
 */
const DECIDING: ReadonlySet<string> = new Set(["merge", "close_pr", "add_labels", "remove_labels"]);
/** These change what is worked on or what is merged, so a stranger's words must not cause them. */
const PRIVILEGED: ReadonlySet<string> = new Set([...DECIDING, "upsert_plan"]);
/** Actions that triggered one another in beforeRoute; more is a loop. */
const MAX_HOPS = 5;

/** Why an action must not go out, whatever plugins say; undefined when nothing speaks against it. */
export function refusalOf(action: Action): string | undefined {
  const { author, payload, hops = 0 } = action;
  if (hops > MAX_HOPS) return `beforeRoute made ${hops} actions in a row out of one another; this looks like a loop`;
  if (!author || !(PRIVILEGED.has(payload.type) || isApproval(payload))) return undefined;
  // Our own login is the login of the agents too: what they write must not merge.
  if (author.self) return `"${payload.type}" was asked for by prloom's own login`;
  const decides = DECIDING.has(payload.type) || isApproval(payload);
  // What an app posts in a person's name is not the person's.
  if (author.bot && decides) return `"${payload.type}" was asked for by a bot (${author.login})`;
  if (author.isShared && decides) {
    const next = payload.type === "merge" ? "; `prloom merge` merges it" : "";
    return `"${payload.type}" was asked for as ${author.login}, and prloom posts under that login, too${next}`;
  }
  if (!hasWritePermission(author))
    return `"${payload.type}" was asked for by ${author.login}, who may not write to the repository`;
  return undefined;
}

/** An approving review counts like merging: branches may ask for nothing else. */
const isApproval = (payload: Action["payload"]): boolean =>
  payload.type === "review" && payload.review.verdict === "approve";
