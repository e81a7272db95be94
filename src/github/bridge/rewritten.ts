import * as z from "zod";
import { type AuthorPermission, hasWritePermission } from "../../bus/author.ts";
import { isOwnEdit, type OwnEdit } from "../body/own-edits.ts";
import { CallError } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import type { Permissions } from "../tracker/permissions.ts";
import type { GitHubIssue, Happening } from "./issue-news.ts";

/** A change of an issue's title or text. */
export interface Rewriting {
  readonly at: string;
  /** Undefined: not a person, or one whose account is gone. */
  readonly by: { readonly id: string; readonly login: string } | undefined;
}

const EDITS = `query ($id: ID!) { node(id: $id) { ... on Issue {
  userContentEdits(first: 100) { totalCount nodes { editedAt editor { login __typename ... on User { databaseId } ... on Bot { databaseId } } } }
} } }`;
const editSchema = z.object({
  editedAt: z.string(),
  editor: z.object({ login: z.string(), __typename: z.string(), databaseId: z.number().nullish() }).nullable(),
});
const editsSchema = z.object({
  node: z.object({ userContentEdits: z.object({ totalCount: z.number(), nodes: z.array(editSchema) }).nullable() }),
});

/** Who changed what an issue says, and when; prloom's own part is not what it says. */
export async function rewritingsOf(
  repository: RepositoryCalls,
  { node_id: id, updated_at: at }: GitHubIssue,
  happened: readonly Happening[],
  own?: OwnEdit,
): Promise<readonly Rewriting[]> {
  const outcome = await repository.client.graphql(EDITS, { id });
  if (outcome.kind !== "ok") throw new CallError("who edited an issue", outcome);
  const { totalCount, nodes } = editsSchema.parse(outcome.data).node.userContentEdits ?? { totalCount: 0, nodes: [] };
  const others = nodes.filter(({ editedAt, editor }) => !isOwnEdit(own, String(editor?.databaseId), editedAt));
  const edits = others.map(({ editedAt, editor }) => ({
    at: editedAt,
    by: editor?.__typename === "User" ? personOf(editor.databaseId, editor.login) : undefined,
  }));
  const renames = happened
    .filter(({ event }) => event === "renamed")
    .map(({ actor, created_at: renamedAt }) => ({ at: renamedAt, by: personOf(actor?.id, actor?.login) }));
  // Of those that are not shown nothing is known.
  return [...edits, ...renames, ...(totalCount > nodes.length ? [{ at, by: undefined }] : [])];
}

const personOf = (id: number | null | undefined, login: string | undefined): Rewriting["by"] =>
  id && login !== undefined ? { id: String(id), login } : undefined;

/** Whether what we read may not be what a person saw at that time: someone who may not write changed it then or later. */
export async function isRewritten(
  permissions: Permissions,
  rewritings: readonly Rewriting[],
  seenAt: string,
): Promise<boolean> {
  for (const { at, by } of rewritings) {
    if (Date.parse(at) < Date.parse(seenAt)) continue;
    if (!by || !hasWritePermission({ permission: await permissions.of(by) })) return true;
  }
  return false;
}

interface Since {
  readonly since: string;
  readonly createdAt: string;
}

/** Pure: what it said at first is the first of its edits, and is none. */
export function editsSince(rewritings: readonly Rewriting[], { since, createdAt }: Since): Rewriting[] {
  const first = rewritings.findIndex(({ at }) => at === createdAt);
  return rewritings.filter(({ at }, index) => index !== first && Date.parse(at) >= Date.parse(since));
}

type Editor = { login: string; id: string; permission: AuthorPermission };

/** Who stands for what was changed since a time: one who may not write, if there is any among them; else the last. */
export async function editorSince(
  permissions: Permissions,
  rewritings: readonly Rewriting[],
  since: Since,
): Promise<Editor> {
  const later = editsSince(rewritings, since);
  let editor: Editor | undefined;
  for (const { by } of later.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))) {
    if (!by) return UNKNOWN;
    editor = { ...by, permission: await permissions.of(by) };
    if (!hasWritePermission(editor)) return editor;
  }
  return editor ?? UNKNOWN;
}

const UNKNOWN: Editor = { login: "ghost", id: "0", permission: "none" };
