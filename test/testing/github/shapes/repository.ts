import { fullNameOf, mayDo, type Repository, type User } from "../world.ts";
import { nodeId, userShape, webOf } from "./people.ts";

const PARTS = [
  "archive",
  "assignees",
  "blobs",
  "branches",
  "collaborators",
  "comments",
  "commits",
  "compare",
  "contents",
  "contributors",
  "deployments",
  "downloads",
  "events",
  "forks",
  "git_commits",
  "git_refs",
  "git_tags",
  "hooks",
  "issue_comment",
  "issue_events",
  "issues",
  "keys",
  "labels",
  "languages",
  "merges",
  "milestones",
  "notifications",
  "pulls",
  "releases",
  "stargazers",
  "statuses",
  "subscribers",
  "subscription",
  "tags",
  "teams",
  "trees",
]; // prettier-ignore

const LONG_AGO = "2020-01-01T00:00:00Z";

/** As lists and pull requests tell it. */
export function repositoryShape(api: string, repository: Repository): Record<string, unknown> {
  const { id, name, owner, isPrivate, forkOf } = repository;
  const fullName = fullNameOf(repository);
  const url = `${api}/repos/${fullName}`;
  const html = `${webOf(api)}/${fullName}`;
  return {
    ...{ id, node_id: nodeId("R", id), name, full_name: fullName, private: isPrivate, owner: userShape(api, owner) },
    ...{ html_url: html, description: null, fork: forkOf !== undefined, url },
    ...Object.fromEntries(PARTS.map((part) => [`${part}_url`, `${url}/${part}`])),
    ...{
      git_url: `git:${html}.git`,
      ssh_url: `git@${html}.git`,
      clone_url: `${html}.git`,
      svn_url: html,
      mirror_url: null,
    },
    ...{ homepage: null, language: null, size: 0, license: null, default_branch: repository.defaultBranch, topics: [] },
    ...{
      forks_count: 0,
      stargazers_count: 0,
      watchers_count: 0,
      forks: 0,
      watchers: 0,
      open_issues: 0,
      open_issues_count: 0,
    },
    ...{
      has_issues: true,
      has_projects: true,
      has_wiki: false,
      has_pages: false,
      has_downloads: false,
      has_discussions: false,
    },
    ...{ is_template: false, archived: false, disabled: false, visibility: isPrivate ? "private" : "public" },
    ...{ pushed_at: LONG_AGO, created_at: LONG_AGO, updated_at: LONG_AGO, web_commit_signoff_required: false },
  };
}

/** As a user is told of the repository itself. */
export function fullRepositoryShape(api: string, repository: Repository, user: User): Record<string, unknown> {
  const { squash, merge, rebase } = repository.allow;
  const may = (least: "admin" | "maintain" | "write" | "triage" | "read"): boolean => mayDo(repository, user, least);
  return {
    ...repositoryShape(api, repository),
    permissions: {
      admin: may("admin"),
      maintain: may("maintain"),
      push: may("write"),
      triage: may("triage"),
      pull: may("read"),
    },
    ...{ allow_squash_merge: squash, allow_merge_commit: merge, allow_rebase_merge: rebase },
    ...{ allow_auto_merge: false, delete_branch_on_merge: false, allow_forking: true },
    ...{ subscribers_count: 0, network_count: 0, temp_clone_token: "" },
  };
}
