import * as z from "zod";
import type { GitHubClient } from "../client/client.ts";
import { CallError } from "../pages.ts";
import type { BoardItem, ItemContent, NoBoard, Options } from "./moves.ts";

/** A board without its cards. */
export interface Board {
  readonly id: string;
  readonly updatedAt: string;
  readonly options: Options;
}

const BOARD = `query ($owner: String!, $number: Int!) { repositoryOwner(login: $owner) { ... on ProjectV2Owner {
  projectV2(number: $number) { id updatedAt field(name: "Status") { ... on ProjectV2SingleSelectField { options { id name } } } }
} } }`;
const fieldSchema = z.object({ options: z.array(z.object({ id: z.string(), name: z.string() })).optional() });
const boardSchema = z.object({
  repositoryOwner: z
    .object({
      projectV2: z.object({ id: z.string(), updatedAt: z.string(), field: fieldSchema.nullish() }).nullish(),
    })
    .nullish(),
});

/** Asks for it, which costs a point. Throws where it cannot be asked now. */
export async function boardOf(
  client: GitHubClient,
  { owner, number }: { readonly owner: string; readonly number: number },
): Promise<Board | NoBoard> {
  const name = `the project ${owner}/${number}`;
  const outcome = await client.graphql(BOARD, { owner, number });
  if (outcome.kind === "not-found") return { problem: `${name} is not there, or the token may not see it` };
  if (outcome.kind === "refused") return { problem: `the token may not read ${name}: GitHub says ${outcome.reason}` };
  if (outcome.kind !== "ok") throw new CallError(name, outcome);
  const { repositoryOwner } = boardSchema.parse(outcome.data);
  const board = repositoryOwner?.projectV2;
  if (!board) return { problem: `${name} is not there, or the token may not see it` };
  const { options } = board.field ?? {};
  if (!options) return { problem: `${name} has no field "Status" with columns` };
  const { id, updatedAt } = board;
  return { id, updatedAt, options: Object.fromEntries(options.map((option) => [option.id, option.name])) };
}

const ITEMS = `query ($id: ID!, $after: String) { node(id: $id) { ... on ProjectV2 {
  items(first: 100, after: $after) { pageInfo { endCursor hasNextPage } nodes {
    id type
    content { ... on Issue { number repository { databaseId nameWithOwner } } }
    fieldValueByName(name: "Status") { ... on ProjectV2ItemFieldSingleSelectValue { optionId updatedAt } }
  } }
} } }`;
const itemSchema = z.object({
  id: z.string(),
  type: z.string(),
  content: z
    .object({
      number: z.number().optional(),
      repository: z.object({ databaseId: z.number().nullish(), nameWithOwner: z.string() }).optional(),
    })
    .nullish(),
  fieldValueByName: z.object({ optionId: z.string().nullish(), updatedAt: z.string().optional() }).nullish(),
});
const itemsSchema = z.object({
  node: z.object({
    items: z.object({
      pageInfo: z.object({ endCursor: z.string().nullish(), hasNextPage: z.boolean() }),
      nodes: z.array(itemSchema.nullable()),
    }),
  }),
});

/** GitHub lets no board have more cards. */
const MAX_PAGES = 500;

/** All cards that are in a column; a point for each hundred. */
export async function itemsOf(client: GitHubClient, board: Pick<Board, "id">): Promise<BoardItem[]> {
  const items: BoardItem[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const outcome = await client.graphql(ITEMS, { id: board.id, ...(after === undefined ? {} : { after }) });
    if (outcome.kind !== "ok") throw new CallError("the cards of a project", outcome);
    const { nodes, pageInfo } = itemsSchema.parse(outcome.data).node.items;
    items.push(...nodes.flatMap((node) => (node ? itemIn(node) : [])));
    if (!pageInfo.hasNextPage || !pageInfo.endCursor) return items;
    after = pageInfo.endCursor;
  }
  throw new Error(`a project has more than ${MAX_PAGES * 100} cards`);
}

function itemIn({ id, fieldValueByName: value, ...item }: z.infer<typeof itemSchema>): BoardItem[] {
  if (!value?.optionId || value.updatedAt === undefined) return [];
  return [{ id, option: value.optionId, at: value.updatedAt, content: contentIn(item) }];
}

function contentIn({ type, content }: Pick<z.infer<typeof itemSchema>, "type" | "content">): ItemContent {
  const { number, repository } = content ?? {};
  if (type === "ISSUE" && number !== undefined && repository?.databaseId)
    return { kind: "issue", number, repositoryId: repository.databaseId, repository: repository.nameWithOwner };
  return { kind: type === "DRAFT_ISSUE" ? "draft" : type === "PULL_REQUEST" ? "pull request" : "redacted" };
}
