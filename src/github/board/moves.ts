import type { WatchedBoard } from "../../config/schema/trigger-schema.ts";
import { readAgainFrom } from "../pages.ts";

/** A card of a board, as far as it matters here. */
export interface BoardItem {
  readonly id: string;
  /** The column that it is in, and since when by GitHub's clock. */
  readonly option: string;
  readonly at: string;
  readonly content: ItemContent;
}

export type ItemContent =
  | { readonly kind: "issue"; readonly number: number; readonly repositoryId: number; readonly repository: string }
  /** `redacted`: the token may not see it. */
  | { readonly kind: "draft" | "pull request" | "redacted" };

/** The columns of a board by their ids. */
export type Options = Readonly<Record<string, string>>;

/** How far a board was read; all times are GitHub's. */
export interface BoardCursor {
  readonly id: string;
  /** When the board was changed last, as of the last look at its items. */
  readonly updatedAt: string;
  /** Times have whole seconds: only what looked the same twice stays as it was read. */
  readonly isSettled: boolean;
  /** By our clock, in milliseconds. */
  readonly lookedAt: number;
  readonly columns: Readonly<Record<string, KnownColumn>>;
}

interface KnownColumn {
  /** The id of the column: another one of the same name begins anew. */
  readonly option: string;
  readonly items: readonly string[];
  /** Those that came in and could not be read; they are not among the items. */
  readonly held: readonly string[];
}

/** Upper and lower case are the same, as with labels. */
const folded = (name: string): string => name.trim().toLowerCase();

/** Why a board, or a column of it, is of no use, in words for people. */
export interface NoBoard {
  readonly problem: string;
}

/** Pure: the wanted columns by name with their ids, or which is not there and which are. */
export function columnsOf(
  { owner, number, columns }: WatchedBoard,
  options: Options,
): ReadonlyMap<string, string> | NoBoard {
  const byName = new Map(Object.entries(options).map(([id, name]) => [folded(name), id]));
  const missing = columns.filter((name) => !byName.has(folded(name)));
  if (missing.length === 0) return new Map(columns.map((name) => [name, byName.get(folded(name)) ?? ""]));
  const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");
  const there = quoted(Object.values(options)) || "none";
  return { problem: `the project ${owner}/${number} has no column ${quoted(missing)}; it has ${there}` };
}

/** Whatever the board's own time says, its items are looked at so often: which changes move that time is GitHub's affair. */
const LOOK_ANYWAY_MS = 10 * 60_000;

/** Pure: whether the items have to be read. */
export function isLookDue(
  cursor: BoardCursor | undefined,
  board: { readonly id: string; readonly updatedAt: string },
  { wanted, now }: { readonly wanted: ReadonlyMap<string, string>; readonly now: number },
): boolean {
  if (cursor?.id !== board.id || cursor.updatedAt !== board.updatedAt || !cursor.isSettled) return true;
  // Also with a clock that was set back.
  if (Math.abs(now - cursor.lookedAt) >= LOOK_ANYWAY_MS) return true;
  return [...wanted].some(([name, option]) => {
    const known = cursor.columns[folded(name)];
    return known?.option !== option || known.held.length > 0;
  });
}

/** A card that came into a column. */
export interface Move {
  readonly item: BoardItem;
  readonly column: string;
}

/**
 * Pure: what came into the columns since the last look. What is there at the first look is not told. Nor is a card with an
 * older move that was merely not seen: pages shift while they are read, and what was hidden comes back.
 */
export function movesIn(
  items: readonly BoardItem[],
  wanted: ReadonlyMap<string, string>,
  cursor: BoardCursor | undefined,
): Move[] {
  return [...wanted].flatMap(([column, option]) => {
    const known = cursor?.columns[folded(column)];
    if (!cursor || known?.option !== option) return [];
    const from = Date.parse(readAgainFrom(cursor.updatedAt));
    return items
      .filter((item) => item.option === option && !known.items.includes(item.id))
      .filter(({ id, at }) => known.held.includes(id) || Date.parse(at) >= from)
      .map((item) => ({ item, column }));
  });
}

/** Pure: how far we are after a look; `held` are the ids of cards that are to be told at the next one. */
export function boardCursorAfter(
  {
    items,
    held,
    ...look
  }: Pick<BoardCursor, "id" | "updatedAt" | "lookedAt"> & {
    readonly items: readonly BoardItem[];
    readonly held: ReadonlySet<string>;
  },
  wanted: ReadonlyMap<string, string>,
  before: BoardCursor | undefined,
): BoardCursor {
  const columns = [...wanted].map(([column, option]) => {
    const there = items.filter((item) => item.option === option).map(({ id }) => id);
    const known: KnownColumn = {
      option,
      items: there.filter((id) => !held.has(id)),
      held: there.filter((id) => held.has(id)),
    };
    return [folded(column), known] as const;
  });
  const isSettled = before?.id === look.id && before.updatedAt === look.updatedAt;
  return { ...look, isSettled, columns: Object.fromEntries(columns) };
}
