import assert from "node:assert/strict";
import { test } from "node:test";
import { ignoredFor } from "../../../src/github/board/bridge.ts";
import {
  type BoardCursor,
  type BoardItem,
  boardCursorAfter,
  columnsOf,
  isLookDue,
  movesIn,
} from "../../../src/github/board/moves.ts";

const OPTIONS = { a: "Backlog", b: "Todo 🚀", c: "Done" };
const WANTED = new Map([["todo 🚀", "b"]]);
const AT = "2026-01-01T12:00:00Z";
const LATER = "2026-01-01T12:05:00Z";
const BOARD = { id: "board", updatedAt: AT };
const NOW = Date.parse(AT);

const item = (id: string, option = "b", at = LATER): BoardItem => ({
  ...{ id, option, at },
  content: { kind: "issue", number: 1, repositoryId: 7, repository: "acme/app" },
});

const cursor = (over: Partial<BoardCursor> = {}, items: string[] = [], held: string[] = []): BoardCursor => ({
  ...{ ...BOARD, isSettled: true, lookedAt: NOW, columns: { "todo 🚀": { option: "b", items, held } } },
  ...over,
});

test("columns are found in any case, and a missing one is named with those that are there", () => {
  const board = { owner: "acme", number: 3, columns: ["todo 🚀"] };
  assert.deepEqual(columnsOf(board, OPTIONS), WANTED);
  assert.deepEqual(columnsOf({ ...board, columns: ["Ready", "Todo 🚀"] }, OPTIONS), {
    problem: 'the project acme/3 has no column "Ready"; it has "Backlog", "Todo 🚀", "Done"',
  });
  assert.deepEqual(columnsOf(board, {}), { problem: 'the project acme/3 has no column "todo 🚀"; it has none' });
});

const dues: [name: string, cursor: BoardCursor | undefined, now: number, isDue: boolean][] = [
  ["the first look", undefined, NOW, true],
  ["nothing changed", cursor(), NOW + 60_000, false],
  ["the board changed", cursor({ updatedAt: LATER }), NOW, true],
  ["it may have changed in the second of the last look", cursor({ isSettled: false }), NOW, true],
  ["ten minutes have passed", cursor(), NOW + 600_000, true],
  ["the clock was set back", cursor(), NOW - 600_000, true],
  ["another board", cursor({ id: "other" }), NOW, true],
  ["a column that was not looked at before", cursor({ columns: {} }), NOW, true],
  ["a card could not be read", cursor({}, [], ["x"]), NOW, true],
];
for (const [name, before, now, isDue] of dues)
  test(`${name}: ${isDue ? "cards are read" : "cards are not read"}`, () =>
    assert.equal(isLookDue(before, BOARD, { wanted: WANTED, now }), isDue));

const moves: [name: string, before: BoardCursor | undefined, items: BoardItem[], moved: string[]][] = [
  ["what is there at the first look", undefined, [item("x")], []],
  ["what came in", cursor(), [item("x"), item("y", "a")], ["x"]],
  ["what was there", cursor({}, ["x"]), [item("x")], []],
  ["an older card that a shifted page hid", cursor(), [item("x", "b", "2025-12-31T00:00:00Z")], []],
  ["an older card that was held back", cursor({}, [], ["x"]), [item("x", "b", "2025-12-31T00:00:00Z")], ["x"]],
  ["a held card that left", cursor({}, [], ["x"]), [item("x", "c")], []],
  [
    "another column that has the name now",
    cursor({ columns: { "todo 🚀": { option: "z", items: [], held: [] } } }),
    [item("x")],
    [],
  ],
  ["a column that is new in the config", cursor({ columns: {} }), [item("x")], []],
];
for (const [name, before, items, moved] of moves)
  test(`${name}: ${moved.length > 0 ? "is told" : "is not told"}`, () =>
    assert.deepEqual(
      movesIn(items, WANTED, before).map((move) => move.item.id),
      moved,
    ));

test("a look is settled by a second one at the same time of the board, and keeps what is held apart", () => {
  const look = { ...BOARD, lookedAt: NOW, items: [item("x"), item("y"), item("z", "a")], held: new Set(["y"]) };
  const first = boardCursorAfter(look, WANTED, undefined);
  assert.deepEqual(first, cursor({ isSettled: false }, ["x"], ["y"]));
  assert.equal(boardCursorAfter(look, WANTED, first).isSettled, true);
  assert.equal(boardCursorAfter({ ...look, updatedAt: LATER }, WANTED, first).isSettled, false);
});

test("cards of which no plan can come are ignored with the reason", () => {
  const repository = { id: 7, fullName: "acme/app" };
  const why = (content: BoardItem["content"]): unknown =>
    ignoredFor({ column: "Todo", item: { ...item("x"), content } }, repository);
  assert.equal(why(item("x").content), undefined);
  assert.equal(
    why({ kind: "issue", number: 4, repositoryId: 8, repository: "acme/site" }),
    "acme/site#4 is not an issue of acme/app",
  );
  assert.equal(why({ kind: "draft" }), "it is a draft without an issue: convert it to an issue");
  assert.equal(why({ kind: "pull request" }), "it is a pull request");
  assert.equal(why({ kind: "redacted" }), "the token may not see it");
});
