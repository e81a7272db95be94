import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PlanSource, PlanStatus } from "prloom/plugin";

export const COLUMNS = ["todo", "doing", "review", "done"] as const;
export type Column = (typeof COLUMNS)[number];

/** A Markdown file in one of the columns. Its name is its id, and stays when it moves. */
export interface Card {
  readonly id: string;
  readonly column: Column;
  readonly path: string;
  readonly text: string;
  /** Of the text. */
  readonly hash: string;
  /** The text is as `sync.ts` left it: no person has changed it since. */
  readonly isOurs: boolean;
  /** Hash of the text that `sync.ts` wrote last, and that text. */
  readonly mark?: string;
  readonly written?: string;
}

/** What `sync.ts` writes below the text, to tell its own writing from a person's: it goes with the text, so wholly or not at all. */
const MARK = /\n<!-- prloom ([0-9a-f]{64}) -->\n/g;

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function sourceOf(card: { readonly id: string }): PlanSource {
  return { system: "board", kind: "card", id: card.id };
}

export function columnFor(status: PlanStatus): Column {
  if (status === "draft" || status === "queued") return "todo";
  if (status === "active" || status === "triaging") return "doing";
  return status;
}

export function readCards(board: string): Card[] {
  return COLUMNS.flatMap((column) => cardsIn(board, column));
}

/** Found by its name among those that are there: an id from elsewhere never becomes a path. */
export function findCard(board: string, id: string): Card | undefined {
  return COLUMNS.flatMap((column) => cardsIn(board, column, id)).at(0);
}

function cardsIn(board: string, column: Column, id?: string): Card[] {
  const folder = join(board, column);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => /^[^.].*\.md$/.test(name));
  return names
    .filter((name) => id === undefined || name === `${id}.md`)
    .map((name) => readCard({ id: name.slice(0, -3), column, path: join(folder, name) }));
}

function readCard(place: Pick<Card, "id" | "column" | "path">): Card {
  const content = readFileSync(place.path, "utf8");
  const marked = [...content.matchAll(MARK)].at(-1)?.[1];
  // People also write below it.
  const text = content.replace(MARK, (mark, _hash, at) => (at + mark.length === content.length ? "" : "\n"));
  const hash = hashOf(text);
  const file = writtenFile(place);
  const written = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  return {
    ...place,
    text,
    hash,
    isOurs: marked === hash,
    ...(marked !== undefined && { mark: marked }),
    ...(written !== undefined && hashOf(written) === marked && { written }),
  };
}

/** What was written last, beside the columns: people's edits are edits of this. */
function writtenFile({ id, path }: { readonly id: string; readonly path: string }): string {
  return join(path, "..", "..", ".written", `${id}.md`);
}

/** Whole or not at all, also for those who look at the board meanwhile. */
export function writeCard(card: Card, text: string): void {
  const temporary = join(card.path, "..", `.${card.id}.tmp`);
  mkdirSync(join(writtenFile(card), ".."), { recursive: true });
  writeFileSync(temporary, text);
  renameSync(temporary, writtenFile(card));
  writeFileSync(temporary, `${text}\n<!-- prloom ${hashOf(text)} -->\n`);
  renameSync(temporary, card.path);
}

export function moveCard(board: string, card: Card, column: Column): void {
  mkdirSync(join(board, column), { recursive: true });
  renameSync(card.path, join(board, column, `${card.id}.md`));
}
