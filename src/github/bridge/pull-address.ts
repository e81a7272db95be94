import type { ReplyAddress } from "../../bus/message-types.ts";
import type { ChangeRequest } from "../../plan/plan-types.ts";
import { SYSTEM } from "../tracker/tracker.ts";

/** The address name of pull requests; a token is `<id of the repository>#<number>`, with `/<comment>` the thread on a line. */
export const PULL_TARGET = "github-pr";

export interface PullPlace {
  /** As the tracker names it. */
  readonly thread: string;
  readonly number: number;
  /** The first comment of a thread on a line. */
  readonly comment?: number;
}

/** Pure: what a token names; undefined where it names nothing. */
export function placeOf(token: string | undefined): PullPlace | undefined {
  const found = /^(\d+#(\d+))(?:\/(\d+))?$/.exec(token ?? "");
  if (!found) return undefined;
  const [, thread = "", number, comment] = found;
  return { thread, number: Number(number), ...(comment === undefined ? {} : { comment: Number(comment) }) };
}

/** Where a change request on GitHub is talked about. */
export function changeAddress({ forge, ref }: Pick<ChangeRequest, "forge" | "ref">): ReplyAddress | undefined {
  return forge === SYSTEM ? { target: PULL_TARGET, token: ref } : undefined;
}
