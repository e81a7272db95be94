import { nodeId } from "../shapes/people.ts";
import { reaches, type Token } from "../tokens.ts";
import { type Project, type ProjectItem, permissionOf, type User, type World } from "../world.ts";
import { connection } from "./connection.ts";
import { issueNode } from "./objects.ts";

type Node = Record<string, unknown> & { readonly id: string };

/** An organisation or a person whose boards are asked for; null for a login that is not there, as GitHub has it. */
export function ownerNode(world: World, token: Token, login: string): Node | null {
  const owner = world.users.get(login.toLowerCase());
  if (!owner) return null;
  const boards = world.projects.filter((one) => one.owner === owner);
  return {
    __typename: boards.some(({ isOrganization }) => isOrganization) ? "Organization" : "User",
    ...{ id: nodeId("O", owner.id), databaseId: owner.id, login: owner.login },
    projectV2({ number }: { number: number }) {
      const project = boards.find((one) => one.number === number);
      requireReach(token, project);
      if (project && (project.readers?.has(token.user) ?? true)) return projectNode(project, token);
      throw new Error(`Could not resolve to a ProjectV2 with the number ${number}.`);
    },
  };
}

/** Boards of an organisation have a permission of their own; those of a person are for classic tokens only. */
function requireReach(token: Token, project: Project | undefined): void {
  const { kind, scopes } = token;
  if (kind === "classic" && !scopes.includes("project") && !scopes.includes("read:project"))
    throw new Error(
      `Your token has not been granted the required scopes to execute this query. The 'projectV2' field requires one of the following scopes: ['read:project'], but your token has only been granted the: ['${scopes.join("', '")}'] scopes.`,
    );
  if (kind !== "classic" && !(project?.isOrganization && reaches(token, "organization_projects", "read")))
    throw new Error(`Resource not accessible by ${kind === "app" ? "integration" : "personal access token"}`);
}

export function projectNode({ id, number, columns, items, updatedAt }: Project, token: Token): Node {
  const options = [...columns].map(([option, name]) => ({ id: option, name }));
  const field = {
    __typename: "ProjectV2SingleSelectField",
    id: `${id}-status`,
    name: "Status",
    options: () => options,
  };
  return {
    ...{ __typename: "ProjectV2", id, number, updatedAt },
    field: ({ name }: { name: string }) => (name === "Status" ? field : null),
    items: (page: Parameters<typeof connection>[1]) =>
      connection(
        items.map((item) => itemNode(item, columns, token.user)),
        page,
      ),
  };
}

function itemNode({ id, issue, column, movedAt }: ProjectItem, columns: Project["columns"], user: User): Node {
  const isSeen = !issue || permissionOf(issue.repository, user) !== "none";
  const name = columns.get(column);
  const value = { id: `${id}-status`, optionId: column, updatedAt: movedAt };
  const kind = !isSeen ? "REDACTED" : !issue ? "DRAFT_ISSUE" : issue.issue.pull ? "PULL_REQUEST" : "ISSUE";
  return {
    ...{ __typename: "ProjectV2Item", id, type: kind },
    fieldValueByName: (asked: { name: string }) =>
      asked.name === "Status" && name !== undefined
        ? { __typename: "ProjectV2ItemFieldSingleSelectValue", ...value, name }
        : null,
    content: contentOf(kind, id, issue),
  };
}

function contentOf(kind: string, id: string, issue: ProjectItem["issue"]): Node | null {
  if (kind === "DRAFT_ISSUE") return { __typename: "DraftIssue", id: `${id}-draft`, title: "a draft" };
  if (kind === "ISSUE" && issue) return issueNode(issue.repository, issue.issue);
  return kind === "PULL_REQUEST" && issue
    ? { __typename: "PullRequest", id: nodeId("PR", issue.issue.id), number: issue.issue.number }
    : null;
}
