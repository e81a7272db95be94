import type * as z from "zod";
import { changedSince, onePage, readAgainFrom } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import type { CommentCursor, ListedComment } from "./comments.ts";

/** A list of all comments of a repository. */
export interface CommentList<T extends ListedComment> {
  readonly path: string;
  readonly schema: z.ZodType<readonly T[]>;
}

export async function newestOf<T extends ListedComment>(
  repository: RepositoryCalls,
  { path, schema }: CommentList<T>,
): Promise<readonly T[]> {
  const query = { sort: "updated", direction: "desc" };
  return (await onePage(repository, path, { query, schema })).items;
}

/** More are not read at once: the rest comes with the next look. */
const MAX_COMMENTS = 2000;

export async function changedIn<T extends ListedComment>(
  repository: RepositoryCalls,
  { path, schema }: CommentList<T>,
  { at, seen }: CommentCursor,
): Promise<{ readonly comments: readonly T[]; readonly isWhole: boolean }> {
  const read = new Map<number, T>();
  for await (const comments of changedSince(repository, path, { since: readAgainFrom(at), schema })) {
    for (const comment of comments) read.set(comment.id, comment);
    // Those that were read before do not count: there may be more of them around a time than are read at once.
    if (read.size > MAX_COMMENTS + seen.length) return { comments: [...read.values()], isWhole: false };
  }
  return { comments: [...read.values()], isWhole: true };
}
