import type { BuiltinBridge, PollResult } from "../../bridges/contract.ts";
import { trackerBridge } from "../../bridges/tracker/bridge.ts";
import type { GitHubSettings } from "../../config/schema/github-schema.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GitHubClient } from "../client/client.ts";
import { environmentToken } from "../client/tokens.ts";
import { sendOnce } from "../client/transport.ts";
import { Connection } from "../connection.ts";
import { Permissions } from "../tracker/permissions.ts";
import { githubTracker, ISSUE_TARGET } from "../tracker/tracker.ts";
import type { IssueCursor } from "./issue-news.ts";
import { hearIssues } from "./issues.ts";

export interface GitHubBridgeOptions {
  readonly settings: GitHubSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** How far it has heard; kept as JSON. */
interface BridgeState {
  readonly comments: string;
  readonly issues: IssueCursor;
}

/** One look a minute is what its budget is for. */
export const POLL_EVERY_MS = 60_000;

/** Issues that become plans, and what is said below them. One poll serves a repository however many plans it has. */
export function githubBridge({ settings, environment, clock }: GitHubBridgeOptions): BuiltinBridge {
  const { apiUrl, reserve, repo, tokenEnv } = settings;
  const client = new GitHubClient({
    apiUrl,
    clock,
    reserve,
    token: environmentToken(environment, tokenEnv),
    send: sendOnce,
  });
  const connection = new Connection(client, repo);
  const permissions = new Permissions(connection, clock);
  const tracker = githubTracker({ connection, permissions });
  const threads = trackerBridge({ tracker, target: ISSUE_TARGET, name: "GitHub" });
  return {
    ...{ ...threads, name: "github", pollEveryMs: POLL_EVERY_MS },
    async events(ctx, kept) {
      const state = kept === undefined ? undefined : (JSON.parse(kept as string) as BridgeState);
      // Issues first: a comment below one that has just become a plan is then heard by it.
      const issues = await hearIssues(await connection.repository(), permissions, state?.issues);
      const heard = (await threads.events?.(ctx, state?.comments)) as PollResult<string>;
      const next: BridgeState = { comments: heard.state ?? "", issues: issues.cursor };
      return { events: [...issues.events, ...heard.events], state: JSON.stringify(next) };
    },
  };
}
