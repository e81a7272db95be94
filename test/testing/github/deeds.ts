import { branchHead, branchHeads, git, isMergeable, type MergeMethod, mergedCommit } from "./git.ts";
import type { Comment, Issue, IssueEvent, Pull, Repository, Review, ReviewComment, User, World } from "./world.ts";

/** What can be done to a repository, by a request or by a person: the times and events that follow are the same. */

export interface IssueText {
  readonly title: string;
  readonly body?: string;
  /** The app that opens it in the user's name. */
  readonly app?: string;
}

export function openIssue(world: World, repository: Repository, by: User, text: IssueText): Issue {
  const { title, body = "", app } = text;
  const at = world.time();
  const issue: Issue = {
    ...{ id: world.newId(), number: nextNumber(repository), user: by, title, body, state: "open", locked: false },
    ...{ labels: new Set(), assignees: new Set(), milestone: undefined, comments: [], events: [] },
    ...{ createdAt: at, updatedAt: at, closedAt: undefined, edits: [], pull: undefined, app },
  };
  repository.issues.set(issue.number, issue);
  return issue;
}

const nextNumber = ({ issues, gone }: Repository): number => Math.max(0, ...issues.keys(), ...gone.keys()) + 1;

export function touch(world: World, issue: Issue): void {
  issue.updatedAt = world.time();
}

/** Changes what an issue says; who did it is known. */
export function rewrite(world: World, issue: Issue, by: User, { title, body }: Partial<IssueText>): void {
  if (title !== undefined && title !== issue.title) {
    const rename = { from: issue.title, to: title };
    issue.title = title;
    note(world, issue, { event: "renamed", actor: by, rename });
  }
  if (body !== undefined && body !== issue.body) {
    issue.body = body;
    // GitHub keeps what it was at first as the first of the edits.
    if (issue.edits.length === 0) issue.edits.push({ at: issue.createdAt, by: issue.user });
    issue.edits.push({ at: world.time(), by });
  }
  touch(world, issue);
}

export function note(world: World, issue: Issue, event: Omit<IssueEvent, "id" | "createdAt">): void {
  issue.events.push({ ...event, id: world.newId(), createdAt: world.time() });
  touch(world, issue);
}

export function addComment(
  world: World,
  issue: Issue,
  { by, body, app }: { by: User; body: string; app?: string | undefined },
): Comment {
  const at = world.time();
  const comment: Comment = { id: world.newId(), user: by, body, app, createdAt: at, updatedAt: at };
  issue.comments.push(comment);
  touch(world, issue);
  return comment;
}

export function editComment(world: World, comment: Comment, body: string): void {
  comment.body = body;
  comment.updatedAt = world.time();
  comment.editedAt = comment.updatedAt;
}

export function setState(world: World, issue: Issue, { by, state }: { by: User; state: Issue["state"] }): void {
  if (issue.state === state) return;
  issue.state = state;
  issue.closedAt = state === "closed" ? world.time() : undefined;
  note(world, issue, { event: state === "closed" ? "closed" : "reopened", actor: by });
}

export interface PullDraft extends IssueText {
  readonly head: { readonly repository: Repository; readonly branch: string };
  readonly base: string;
  readonly draft: boolean;
}

export function openPull(world: World, repository: Repository, by: User, draft: PullDraft): Issue {
  const issue = openIssue(world, repository, by, draft);
  const sha = branchHead(draft.head.repository.folder, draft.head.branch) ?? "";
  issue.pull = {
    head: { ...draft.head, sha },
    base: { branch: draft.base, sha: branchHead(repository.folder, draft.base) ?? "" },
    ...{ draft: draft.draft, merged: undefined, isDead: false, queued: false },
    ...{ reviews: [], reviewComments: [], requestedReviewers: new Set() },
  };
  return issue;
}

/** After branches changed: heads follow, and what lost its branch is closed. */
export function followBranches(world: World, repository: Repository): void {
  const heads = branchHeads(repository.folder);
  for (const issue of world.repositories.flatMap((one) => [...one.issues.values()])) {
    const { pull } = issue;
    if (!pull || issue.state === "closed") continue;
    if (pull.head.repository === repository) followHead(world, issue, heads.get(pull.head.branch));
    if (repository.issues.get(issue.number) === issue && !heads.has(pull.base.branch)) {
      pull.isDead = true;
      setState(world, issue, { by: repository.owner, state: "closed" });
    }
  }
}

function followHead(world: World, issue: Issue, sha: string | undefined): void {
  const { pull } = issue;
  if (!pull || pull.head.sha === sha) return;
  if (sha === undefined) {
    setState(world, issue, { by: issue.user, state: "closed" });
    return;
  }
  pull.head.sha = sha;
  touch(world, issue);
}

export function deleteBranch(world: World, repository: Repository, branch: string): void {
  git(repository.folder, ["update-ref", "-d", `refs/heads/${branch}`]);
  followBranches(world, repository);
}

/** Pull requests for it follow, those of it are closed: as GitHub does. */
export function renameBranch(world: World, repository: Repository, from: string, to: string): void {
  git(repository.folder, ["update-ref", `refs/heads/${to}`, `refs/heads/${from}`]);
  for (const issue of repository.issues.values()) {
    if (issue.pull?.base.branch !== from) continue;
    issue.pull.base.branch = to;
    touch(world, issue);
  }
  if (repository.defaultBranch === from) repository.defaultBranch = to;
  deleteBranch(world, repository, from);
}

export const canMerge = (repository: Repository, { head, base }: Pull): boolean => {
  const baseSha = branchHead(repository.folder, base.branch);
  if (baseSha === undefined) return false;
  fetchHead(repository, head);
  return isMergeable(repository.folder, baseSha, head.sha);
};

/** A fork's commits are in another folder. */
function fetchHead(repository: Repository, head: Pull["head"]): void {
  if (head.repository === repository) return;
  git(repository.folder, ["fetch", "--quiet", head.repository.folder, head.sha]);
}

/** False where the two conflict. */
export function merge(
  world: World,
  repository: Repository,
  issue: Issue,
  { by, method, message }: { by: User; method: MergeMethod; message: string },
): string | false {
  const { pull } = issue;
  const base = pull && branchHead(repository.folder, pull.base.branch);
  if (!pull || base === undefined) return false;
  fetchHead(repository, pull.head);
  const sha = mergedCommit(repository.folder, { base, head: pull.head.sha, method, message });
  if (sha === undefined) return false;
  git(repository.folder, ["update-ref", `refs/heads/${pull.base.branch}`, sha, base]);
  pull.merged = { at: world.time(), by, sha };
  pull.queued = false;
  setState(world, issue, { by, state: "closed" });
  followBranches(world, repository);
  return sha;
}

export interface ReviewText {
  readonly by: User;
  readonly state: Review["state"];
  readonly body: string;
  readonly commit?: string | undefined;
  readonly comments?: readonly {
    readonly path: string;
    readonly line?: number | undefined;
    readonly side?: "LEFT" | "RIGHT";
    readonly body: string;
    /** When it was written, in a review that was begun then and handed in now; now unless told. */
    readonly at?: string;
  }[];
}

export function addReview(world: World, issue: Issue, { by, state, body, commit, comments = [] }: ReviewText): Review {
  const pull = pullOf(issue);
  const review: Review = {
    id: world.newId(),
    user: by,
    state,
    body,
    commit: commit ?? pull.head.sha,
    submittedAt: world.time(),
  };
  pull.reviews.push(review);
  pull.requestedReviewers.delete(by);
  for (const one of comments) addReviewComment(world, issue, { by, review, ...one });
  touch(world, issue);
  return review;
}

export function addReviewComment(
  world: World,
  issue: Issue,
  one: {
    by: User;
    review: Review;
    body: string;
    path: string;
    line?: number | undefined;
    side?: "LEFT" | "RIGHT";
    at?: string;
    replyTo?: ReviewComment;
  },
): ReviewComment {
  const at = world.time();
  const id = world.newId();
  const comment: ReviewComment = {
    ...{
      id,
      user: one.by,
      app: undefined,
      body: one.body,
      createdAt: one.at ?? at,
      updatedAt: at,
      path: one.path,
      line: one.line,
    },
    ...{ side: one.side ?? "RIGHT", commit: one.review.commit, reviewId: one.review.id, replyTo: one.replyTo?.id },
    thread: one.replyTo?.thread ?? { id: `PRRT_${id}`, isResolved: false, resolvedBy: undefined },
  };
  pullOf(issue).reviewComments.push(comment);
  touch(world, issue);
  return comment;
}

function pullOf(issue: Issue): Pull {
  if (!issue.pull) throw new Error(`#${issue.number} is not a pull request`);
  return issue.pull;
}
