import type { BridgeContext, BridgeEvent, BuiltinBridge } from "../../bridges/contract.ts";
import type { WatchedBoard } from "../../config/schema/trigger-schema.ts";
import type { Clock } from "../../kernel/clock.ts";
import { messageOf } from "../../kernel/errors.ts";
import type { GitHubAccess } from "../access.ts";
import { happeningsSchema, issueSchema } from "../bridge/issue-news.ts";
import { eventFor } from "../bridge/issues.ts";
import { isRewritten, rewritingsOf } from "../bridge/rewritten.ts";
import type { Connection } from "../connection.ts";
import { allPages, CallError } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { type BoardCursor, boardCursorAfter, columnsOf, isLookDue, type Move, movesIn } from "./moves.ts";
import { boardOf, itemsOf } from "./project.ts";

const ISSUE_MOVED = "issue.moved";

/** A look ends with these, well before the deadline of a poll; the rest comes with the next one. */
const MAX_MOVES = 20;

export interface BoardBridgeOptions {
  readonly board: WatchedBoard;
  readonly clock: Clock;
  /** Whether those who may move cards may have things worked on. */
  readonly trustBoard: boolean;
}

/** Each look takes a point, and a quiet hour is to take 30 at most, with the six looks that are made anyway. */
export const LOOK_EVERY_MS = 150_000;

/**
 * Issues of the repository that come into a column of a board. A bridge for each board: one that is gone, or may not be read, is
 * told by its own polls, and nothing else waits for it.
 */
export function boardBridge(access: GitHubAccess, { board, clock, trustBoard }: BoardBridgeOptions): BuiltinBridge {
  const { client, connection } = access;
  return {
    name: `github-board-${board.owner}-${board.number}`,
    pollEveryMs: LOOK_EVERY_MS,
    async events(ctx, kept) {
      const cursor = kept === undefined ? undefined : (JSON.parse(kept as string) as BoardCursor);
      const found = await boardOf(client, board);
      if ("problem" in found) return { success: false, error: found.problem };
      const wanted = columnsOf(board, found.options);
      if ("problem" in wanted) return { success: false, error: wanted.problem };
      if (!isLookDue(cursor, found, { wanted, now: clock.now() })) return { events: [] };
      const lookedAt = clock.now();
      const items = await itemsOf(client, found);
      const moves = movesIn(items, wanted, cursor);
      const repository = await connection.repository();
      const project = `${board.owner}/${board.number}`;
      const told = await tell({ ...access, names: connection.names, repository, ctx, project, trustBoard }, moves);
      const look = { id: found.id, updatedAt: found.updatedAt, lookedAt, items, held: told.held };
      return { events: told.events, state: JSON.stringify(boardCursorAfter(look, wanted, cursor)) };
    },
  };
}

interface Telling extends Pick<GitHubAccess, "permissions" | "ownEdits">, Pick<Connection, "names"> {
  readonly repository: RepositoryCalls;
  readonly ctx: Pick<BridgeContext, "log">;
  readonly project: string;
  readonly trustBoard: boolean;
}

/** The events of moves; `held` are those cards that come again. */
async function tell(
  telling: Telling,
  moves: readonly Move[],
): Promise<{ readonly events: BridgeEvent[]; readonly held: Set<string> }> {
  const { log } = telling.ctx;
  const events: BridgeEvent[] = [];
  const held = new Set(moves.slice(MAX_MOVES).map(({ item }) => item.id));
  for (const move of moves.slice(0, MAX_MOVES)) {
    const ignored = ignoredFor(move, telling.repository);
    if (ignored !== undefined) log.warn(`a card that came into "${move.column}" is ignored: ${ignored}`);
    try {
      if (ignored === undefined) events.push(...(await eventsOf(telling, move)));
    } catch (error) {
      const kind = error instanceof CallError ? error.kind : undefined;
      if (kind === "limited" || kind === "unauthorised") throw error;
      // One issue that cannot be read keeps no other waiting.
      held.add(move.item.id);
      log.warn(`a card that came into "${move.column}" is held back: ${messageOf(error)}`);
    }
  }
  return { events, held };
}

/** Pure: why no plan can come of it; undefined where one can. */
export function ignoredFor({ item: { content } }: Move, { id, fullName }: Pick<RepositoryCalls, "id" | "fullName">) {
  if (content.kind === "issue")
    return content.repositoryId === id
      ? undefined
      : `${content.repository}#${content.number} is not an issue of ${fullName}`;
  if (content.kind === "draft") return "it is a draft without an issue: convert it to an issue";
  return content.kind === "redacted" ? "the token may not see it" : "it is a pull request";
}

async function eventsOf(telling: Telling, { item, column }: Move): Promise<BridgeEvent[]> {
  const { repository, permissions, ownEdits, project, trustBoard } = telling;
  if (item.content.kind !== "issue") return [];
  const path = `/issues/${item.content.number}`;
  const outcome = await repository.get(path);
  if (outcome.kind === "not-found" || outcome.kind === "deleted" || outcome.kind === "moved") return [];
  if (outcome.kind !== "ok") throw new CallError(path, outcome);
  const issue = issueSchema.parse(outcome.data);
  const event = eventFor(telling, issue);
  const rewritings = async () =>
    rewritingsOf(
      repository,
      issue,
      await allPages(repository, `${path}/events`, { schema: happeningsSchema }),
      await ownEdits.of(issue.number),
    );
  // Without trust it is a draft anyway.
  const rewritten = trustBoard && (await isRewritten(permissions, await rewritings(), item.at));
  return [
    {
      ...{ ...event, id: `github-move-${item.id}-${Date.parse(item.at)}`, type: ISSUE_MOVED },
      context: {
        ...{ ...event.context, at: item.at, project, column },
        ...(trustBoard ? {} : { unvouched: true }),
        ...(rewritten ? { rewritten: true } : {}),
      },
    },
  ];
}
