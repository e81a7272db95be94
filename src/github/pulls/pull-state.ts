import * as z from "zod";
import type { ServerChange } from "../../forge/port.ts";
import type { RepositoryCalls } from "../repository.ts";

/** What counts of a pull request as GitHub tells it. */
const pullSchema = z.object({
  number: z.number(),
  node_id: z.string(),
  html_url: z.string(),
  state: z.enum(["open", "closed"]),
  draft: z.boolean().optional(),
  merged_at: z.string().nullable(),
  merge_commit_sha: z.string().nullable(),
  title: z.string(),
  body: z.string().nullable(),
  // The repository of a fork may be gone.
  head: z.object({ ref: z.string(), sha: z.string(), repo: z.object({ id: z.number() }).nullable() }),
  base: z.object({ ref: z.string() }),
  // Not in lists; null while GitHub finds it out.
  mergeable: z.boolean().nullish(),
  mergeable_state: z.string().optional(),
});
export const pullsSchema = z.array(pullSchema);

export interface PullState {
  readonly number: number;
  readonly nodeId: string;
  readonly url: string;
  readonly state: "open" | "merged" | "closed";
  readonly draft: boolean;
  readonly head: { readonly branch: string; readonly sha: string; readonly repositoryId: number | undefined };
  readonly base: string;
  readonly title: string;
  readonly body: string;
  /** Of a merged one: the commit on its base. */
  readonly mergeSha?: string;
  readonly needs?: ServerChange["needs"];
  /** GitHub's word for what its rules say; not in lists. */
  readonly mergeState?: string;
}

export function pullState(data: unknown): PullState {
  const pull = pullSchema.parse(data);
  const isMerged = pull.merged_at !== null;
  const needs = pull.state === "open" ? needsOf(pull.mergeable ?? undefined, pull.mergeable_state) : undefined;
  return {
    ...{ number: pull.number, nodeId: pull.node_id, url: pull.html_url, draft: pull.draft ?? false },
    state: isMerged ? "merged" : pull.state,
    head: { branch: pull.head.ref, sha: pull.head.sha, repositoryId: pull.head.repo?.id },
    ...{ base: pull.base.ref, title: pull.title, body: pull.body ?? "" },
    ...(isMerged && pull.merge_commit_sha !== null ? { mergeSha: pull.merge_commit_sha } : {}),
    ...(needs === undefined ? {} : { needs }),
    ...(pull.mergeable_state === undefined ? {} : { mergeState: pull.mergeable_state }),
  };
}

/** Pure: what the words of REST or GraphQL say about a pull request and its base. */
export function needsOf(isMergeable: boolean | undefined, state: string | undefined): ServerChange["needs"] {
  if (isMergeable === undefined) return undefined;
  if (!isMergeable) return "conflict";
  return state?.toLowerCase() === "behind" ? "behind" : "nothing";
}

/** The same token shape as that of issues. */
const changeRef = ({ id }: Pick<RepositoryCalls, "id">, number: number): string => `${id}#${number}`;

/** What the dispatcher knows of a pull request. */
export function changeOf(repository: Pick<RepositoryCalls, "id">, pull: PullState): ServerChange {
  return {
    ...{ ref: changeRef(repository, pull.number), state: pull.state, ready: !pull.draft, url: pull.url },
    ...{ head: pull.head.sha, base: pull.base },
    ...(pull.mergeSha === undefined ? {} : { mergeSha: pull.mergeSha }),
    ...(pull.needs === undefined ? {} : { needs: pull.needs }),
  };
}
