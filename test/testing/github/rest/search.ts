import { issueShape } from "../shapes/issue.ts";
import type { Token } from "../tokens.ts";
import { fullNameOf, type Issue, permissionOf, type World } from "../world.ts";

export interface Search {
  readonly world: World;
  readonly api: string;
  readonly query: string;
}

/** The words of a search that prloom's tests use: `repo:`, `is:`, `label:`, `author:` and words of the title. */
export function searchIssues({ world, api, query }: Search, token: Token): Record<string, unknown> {
  const words = query.split(/\s+/).filter(Boolean);
  const items = world.repositories
    .filter((repository) => permissionOf(repository, token.user) !== "none")
    .filter((repository) =>
      words.every((word) => !word.startsWith("repo:") || word === `repo:${fullNameOf(repository)}`),
    )
    .flatMap((repository) =>
      [...repository.issues.values()]
        .filter((issue) => words.every((word) => fits(issue, word)))
        .map((issue) => ({ ...issueShape(api, repository, issue), score: 1 })),
    );
  return { total_count: items.length, incomplete_results: false, items, search_type: "lexical" };
}

function fits(issue: Issue, word: string): boolean {
  const [, kind = "", value = ""] = /^(\w+):(.+)$/.exec(word) ?? [];
  if (kind === "repo") return true;
  if (kind === "label") return issue.labels.has(value);
  if (kind === "author") return issue.user.login === value;
  if (kind === "is" && value === "issue") return issue.pull === undefined;
  if (kind === "is") return issue.state === value;
  return issue.title.toLowerCase().includes(word.toLowerCase());
}
