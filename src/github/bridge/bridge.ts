import type { BridgeContext, BridgeEvent, BuiltinBridge, PollResult } from "../../bridges/contract.ts";
import { postAction, trackerBridge } from "../../bridges/tracker/bridge.ts";
import { hasWritePermission } from "../../bus/author.ts";
import type { ServerChange } from "../../forge/port.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { PlanSource } from "../../plan/plan-types.ts";
import { OPEN_STATUSES } from "../../plan/plan-types.ts";
import type { GitHubAccess } from "../access.ts";
import { type WrittenBodies, writeBodies } from "../body/write-bodies.ts";
import { githubTracker, ISSUE_TARGET, SYSTEM } from "../tracker/tracker.ts";
import type { IssueCursor } from "./issue-news.ts";
import { hearIssues } from "./issues.ts";
import { actOnPull, foundOnPull, type PullActionsOptions } from "./pull-actions.ts";
import { changeAddress, PULL_TARGET, placeOf } from "./pull-address.ts";
import { type HeardPulls, hearPulls, type PullsCursor } from "./pulls.ts";

/** How far it has heard; kept as JSON. */
interface BridgeState {
  readonly comments: string;
  readonly pulls?: PullsCursor;
  readonly issues: IssueCursor;
  /** What was written to issues; where that is switched on. */
  readonly bodies?: WrittenBodies;
  /** Threads whose plans may be about to be made, and until when that is thought. */
  readonly expected: Readonly<Record<string, number>>;
}

/** A plan is there by then if anything is to come of its issue. */
const EXPECTED_MS = 5 * 60_000;

/** One look a minute is what its budget is for. */
export const POLL_EVERY_MS = 60_000;

const SHOWN_AFTER_MS = 30_000;

export interface GitHubBridgeOptions extends Pick<PullActionsOptions, "merge" | "close"> {
  readonly clock: Clock;
  /** Whether plans have pull requests here: a token for issues alone may not ask about them. */
  readonly hasPulls: boolean;
  /** Whether failed jobs run once more before an agent is asked. */
  readonly rerun?: boolean;
  /** Whether plans are written to the texts of their issues. */
  writesBodies?(): boolean;
  /** GitHub's lists may show what it took no sooner than that. */
  readonly shownAfterMs?: number;
  /** The pull request of a plan as it was just seen. */
  onPull?(planId: string, change: ServerChange): void;
  isQueued?(planId: string): boolean;
  /** An issue was found to be gone; `how` ends "its issue …". */
  onGone?(source: PlanSource, how: string): void;
}

/** Issues that become plans, and what is said below them. One poll serves a repository however many plans it has. */
export function githubBridge(
  { client, connection, permissions, ownEdits }: GitHubAccess,
  {
    clock,
    hasPulls,
    onPull,
    isQueued,
    onGone,
    writesBodies,
    rerun = false,
    shownAfterMs = SHOWN_AFTER_MS,
    ...deeds
  }: GitHubBridgeOptions,
): BuiltinBridge {
  let planOf: ReadonlyMap<string, string> = new Map();
  const issueTracker = githubTracker({
    ...{ connection, permissions },
    onGone: (id, how) => onGone?.({ system: SYSTEM, kind: "issue", id }, how),
  });
  const tracker = { ...issueTracker, changeAddress };
  let expected: BridgeState["expected"] = {};
  const options = {
    ...{ tracker, target: ISSUE_TARGET, name: "GitHub" },
    expected: () => Object.keys(expected),
  };
  const threads = trackerBridge(options);
  const pullOptions = { connection, tracker, ...deeds };
  return {
    ...{ ...threads, name: "github", pollEveryMs: POLL_EVERY_MS, targets: [ISSUE_TARGET, PULL_TARGET] },
    shownAfterMs,
    actions(ctx, action) {
      const plan = planOf.get(placeOf(action.target.token)?.thread ?? "") ?? "";
      return client.countFor(plan, async () =>
        action.target.target === PULL_TARGET ? actOnPull(pullOptions, ctx, action) : postAction(options, action),
      );
    },
    async delivered(ctx, action) {
      if (action.target.target === PULL_TARGET) return foundOnPull(pullOptions, action);
      return (await threads.delivered?.(ctx, action)) ?? false;
    },
    async events(ctx, kept) {
      const state = kept === undefined ? undefined : (JSON.parse(kept as string) as BridgeState);
      const repository = await connection.repository();
      const bySource = await plansByThread(ctx);
      const byPull = await plansByPull(ctx, repository.id);
      planOf = new Map([
        ...bySource,
        ...[...byPull].map(([number, plan]) => [`${repository.id}#${number}`, plan] as const),
      ]);
      const planned = issuesIn([...bySource.keys(), ...Object.keys(state?.expected ?? {})], repository.id);
      for (const [number, { at }] of Object.entries(state?.bodies ?? {})) ownEdits.know(Number(number), at);
      const looking = { repository, names: connection.names, permissions, ownEdits, clock, log: ctx.log, planned };
      const issues = await hearIssues(looking, state?.issues);
      // What is said below an issue right after its label is for the plan, which is not there yet.
      expected = expectedAfter(state?.expected ?? {}, issues.events, clock.now());
      const heard = (await threads.events?.(ctx, state?.comments)) as PollResult<string>;
      const told = { ...(onPull ? { onPull } : {}), ...(isQueued ? { isQueued } : {}) };
      const hear = async (): Promise<HeardPulls> =>
        hearPulls({ ...looking, ...told, plans: byPull, rerun, self: await connection.self() }, state?.pulls);
      const pulls = hasPulls ? await hear() : undefined;
      // After what people wrote was read: what comes of that is written with the next look.
      const bodies = writesBodies?.()
        ? await writeBodies({ repository, ctx, ownEdits }, state?.bodies ?? {})
        : state?.bodies;
      const next: BridgeState = {
        ...{ comments: heard.state ?? "", issues: issues.cursor, expected },
        ...(bodies ? { bodies } : {}),
        ...(pulls ? { pulls: pulls.cursor } : {}),
      };
      return { events: [...issues.events, ...heard.events, ...(pulls?.events ?? [])], state: JSON.stringify(next) };
    },
  };
}

async function plansByThread(ctx: Pick<BridgeContext, "listPlans">): Promise<Map<string, string>> {
  const plans = await ctx.listPlans({ status: OPEN_STATUSES });
  return new Map(
    plans.flatMap(({ source, planId }) => (source?.system === SYSTEM ? [[source.id, planId] as const] : [])),
  );
}

/** Pure: the numbers of those threads that are issues of this repository. */
function issuesIn(threads: readonly string[], repositoryId: number): Set<number> {
  const parts = threads.map((thread) => thread.split("#"));
  return new Set(parts.filter(([id]) => id === String(repositoryId)).map(([, number]) => Number(number)));
}

/** The open plans with a pull request of this repository. */
async function plansByPull(ctx: Pick<BridgeContext, "listPlans">, id: number): Promise<Map<number, string>> {
  const plans = await ctx.listPlans({ status: ["active", "triaging", "review"] });
  return new Map(
    plans.flatMap(({ planId, changeRequest }) => {
      const place = placeOf(changeRequest && changeAddress(changeRequest)?.token);
      return place?.thread === `${id}#${place?.number}` ? [[place.number, planId] as const] : [];
    }),
  );
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
