import { canMerge } from "../deeds.ts";
import { isBehind, unmetRules } from "../rules.ts";
import { fullNameOf, type Issue, type Pull, type Repository, type Review, type ReviewComment } from "../world.ts";
import { issueShape } from "./issue.ts";
import { nodeId, userShape, webOf } from "./people.ts";
import { repositoryShape } from "./repository.ts";

const NAMES = ["issue", "commits", "review_comments", "review_comment", "comments", "statuses"];

/** As lists of pull requests tell it. */
export function pullShape(api: string, repository: Repository, issue: Issue & { pull: Pull }): Record<string, unknown> {
  const { pull } = issue;
  const url = `${api}/repos/${fullNameOf(repository)}/pulls/${issue.number}`;
  const html = `${webOf(api)}/${fullNameOf(repository)}/pull/${issue.number}`;
  const {
    id,
    number,
    state,
    locked,
    title,
    user,
    body,
    labels,
    milestone,
    created_at,
    updated_at,
    closed_at,
    assignee,
    assignees,
  } = issueShape(api, repository, issue) as Record<string, unknown>;
  return {
    ...{
      id,
      node_id: nodeId("PR", issue.id),
      number,
      state,
      locked,
      title,
      user,
      body,
      labels,
      milestone,
      assignee,
      assignees,
    },
    ...{
      created_at,
      updated_at,
      closed_at,
      merged_at: pull.merged?.at ?? null,
      merge_commit_sha: pull.merged?.sha ?? null,
    },
    ...{ url, html_url: html, diff_url: `${html}.diff`, patch_url: `${html}.patch` },
    ...Object.fromEntries(NAMES.map((name) => [`${name}_url`, `${url}/${name}`])),
    requested_reviewers: [...pull.requestedReviewers].map((one) => userShape(api, one)),
    requested_teams: [],
    head: side(api, pull.head.repository, { branch: pull.head.branch, sha: pull.head.sha }),
    base: side(api, repository, pull.base),
    _links: Object.fromEntries(
      ["comments", "commits", "statuses", "html", "issue", "review_comments", "review_comment", "self"].map((name) => [
        name,
        { href: `${url}/${name}` },
      ]),
    ),
    ...{ author_association: "NONE", auto_merge: null, active_lock_reason: null, draft: pull.draft },
  };
}

const side = (
  api: string,
  repository: Repository,
  { branch, sha }: { branch: string; sha: string },
): Record<string, unknown> => ({
  ...{ label: `${repository.owner.login}:${branch}`, ref: branch, sha, user: userShape(api, repository.owner) },
  repo: repositoryShape(api, repository),
});

/** As one pull request is told. */
export function fullPullShape(
  api: string,
  repository: Repository,
  issue: Issue & { pull: Pull },
): Record<string, unknown> {
  const { pull } = issue;
  const mergeable = issue.state === "open" && canMerge(repository, pull);
  return {
    ...pullShape(api, repository, issue),
    ...{ merged: pull.merged !== undefined, mergeable: issue.state === "open" ? mergeable : null, rebaseable: null },
    mergeable_state: mergeStateOf(repository, pull, mergeable).toLowerCase(),
    merged_by: pull.merged ? userShape(api, pull.merged.by) : null,
    ...{ comments: issue.comments.length, review_comments: pull.reviewComments.length, maintainer_can_modify: false },
    ...{ commits: 1, additions: 0, deletions: 0, changed_files: 0 },
  };
}

/** As REST and GraphQL tell it; a draft hides everything else. */
export function mergeStateOf(repository: Repository, pull: Pull, isMergeable = canMerge(repository, pull)): string {
  if (pull.draft) return "DRAFT";
  if (!isMergeable) return "DIRTY";
  if (isBehind(repository, pull)) return "BEHIND";
  return unmetRules(repository, pull) === undefined ? "CLEAN" : "BLOCKED";
}

export function reviewShape(
  api: string,
  repository: Repository,
  { issue, review }: { issue: Issue; review: Review },
): Record<string, unknown> {
  const pullUrl = `${api}/repos/${fullNameOf(repository)}/pulls/${issue.number}`;
  const html = `${webOf(api)}/${fullNameOf(repository)}/pull/${issue.number}#pullrequestreview-${review.id}`;
  return {
    ...{
      id: review.id,
      node_id: nodeId("PRR", review.id),
      user: userShape(api, review.user),
      body: review.body,
      state: review.state,
    },
    ...{ html_url: html, pull_request_url: pullUrl, submitted_at: review.submittedAt, commit_id: review.commit },
    _links: { html: { href: html }, pull_request: { href: pullUrl } },
    author_association: "NONE",
  };
}

export function reviewCommentShape(
  api: string,
  repository: Repository,
  { issue, comment }: { issue: Issue; comment: ReviewComment },
): Record<string, unknown> {
  const { id, path, line, side: on, commit, body } = comment;
  const url = `${api}/repos/${fullNameOf(repository)}/pulls/comments/${id}`;
  const pullUrl = `${api}/repos/${fullNameOf(repository)}/pulls/${issue.number}`;
  const html = `${webOf(api)}/${fullNameOf(repository)}/pull/${issue.number}#discussion_r${id}`;
  return {
    ...{
      id,
      node_id: nodeId("PRRC", id),
      url,
      html_url: html,
      pull_request_url: pullUrl,
      pull_request_review_id: comment.reviewId,
    },
    ...{
      diff_hunk: "@@",
      path,
      // It moves along with the pull request.
      commit_id: issue.pull?.head.sha ?? commit,
      original_commit_id: commit,
      side: on,
    },
    ...{
      line: line ?? null,
      original_line: line ?? null,
      position: 1,
      original_position: 1,
    },
    ...{ body, user: userShape(api, comment.user), created_at: comment.createdAt, updated_at: comment.updatedAt },
    ...{ author_association: "NONE", subject_type: line === undefined ? "file" : "line" },
    ...(comment.replyTo === undefined ? {} : { in_reply_to_id: comment.replyTo }),
    _links: { self: { href: url }, html: { href: html }, pull_request: { href: pullUrl } },
  };
}
