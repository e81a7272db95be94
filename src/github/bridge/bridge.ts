import type { BridgeContext, BridgeEvent, BuiltinBridge, PollResult } from "../../bridges/contract.ts";
import { trackerBridge } from "../../bridges/tracker/bridge.ts";
import { hasWritePermission } from "../../bus/author.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { GitHubAccess } from "../access.ts";
import { githubTracker, ISSUE_TARGET, SYSTEM } from "../tracker/tracker.ts";
import type { IssueCursor } from "./issue-news.ts";
import { hearIssues } from "./issues.ts";

/** How far it has heard; kept as JSON. */
interface BridgeState {
  readonly comments: string;
  readonly issues: IssueCursor;
  /** Threads whose plans may be about to be made, and until when that is thought. */
  readonly expected: Readonly<Record<string, number>>;
}

/** A plan is there by then if anything is to come of its issue. */
const EXPECTED_MS = 5 * 60_000;

/** One look a minute is what its budget is for. */
export const POLL_EVERY_MS = 60_000;

/** Issues that become plans, and what is said below them. One poll serves a repository however many plans it has. */
export function githubBridge({ connection, permissions }: GitHubAccess, clock: Clock): BuiltinBridge {
  const tracker = githubTracker({ connection, permissions });
  let expected: BridgeState["expected"] = {};
  const options = { tracker, target: ISSUE_TARGET, name: "GitHub", expected: () => Object.keys(expected) };
  const threads = trackerBridge(options);
  return {
    ...{ ...threads, name: "github", pollEveryMs: POLL_EVERY_MS },
    async events(ctx, kept) {
      const state = kept === undefined ? undefined : (JSON.parse(kept as string) as BridgeState);
      const repository = await connection.repository();
      const planned = await plannedIssues(ctx, repository.id, Object.keys(state?.expected ?? {}));
      const looking = { repository, permissions, clock, log: ctx.log, planned };
      const issues = await hearIssues(looking, state?.issues);
      // What is said below an issue right after its label is for the plan, which is not there yet.
      expected = expectedAfter(state?.expected ?? {}, issues.events, clock.now());
      const heard = (await threads.events?.(ctx, state?.comments)) as PollResult<string>;
      const next: BridgeState = { comments: heard.state ?? "", issues: issues.cursor, expected };
      return { events: [...issues.events, ...heard.events], state: JSON.stringify(next) };
    },
  };
}

/** The issues of a repository that have open plans, or are about to. */
async function plannedIssues(
  ctx: Pick<BridgeContext, "listPlans">,
  repositoryId: number,
  expected: readonly string[],
): Promise<Set<number>> {
  const plans = await ctx.listPlans({ status: ["draft", "queued", "active", "triaging", "review"] });
  const threads = plans.flatMap(({ source }) => (source?.system === SYSTEM ? [source.id] : []));
  const ours = [...threads, ...expected].map((thread) => thread.split("#"));
  return new Set(ours.filter(([id]) => id === String(repositoryId)).map(([, number]) => Number(number)));
}

/** Pure: the threads of issues to which something was done that can make a plan. */
function expectedAfter(
  before: BridgeState["expected"],
  events: readonly BridgeEvent[],
  now: number,
): BridgeState["expected"] {
  const still = Object.entries(before).filter(([, until]) => until > now);
  const more = events.flatMap(({ replyTo, context }) => {
    const permission = context?.author?.permission;
    return replyTo?.token !== undefined && permission !== undefined && hasWritePermission({ permission })
      ? [[replyTo.token, now + EXPECTED_MS] as const]
      : [];
  });
  return Object.fromEntries([...still, ...more]);
}
