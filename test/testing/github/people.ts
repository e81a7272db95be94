import {
  addComment,
  addReview,
  addReviewComment,
  deleteBranch,
  editComment,
  followBranches,
  type IssueText,
  merge,
  note,
  openIssue,
  openPull,
  type ReviewText,
  renameBranch,
  rewrite,
  setState,
  touch,
} from "./deeds.ts";
import { branchHead, branchHeads, git } from "./git.ts";
import type {
  Annotation,
  CheckRun,
  Comment,
  CommitStatus,
  Issue,
  Repository,
  Review,
  ReviewComment,
  User,
  World,
} from "./world.ts";

/** What a person does on the web site or with git, in one repository. */
export class Person {
  readonly user: User;
  readonly #world: World;
  readonly #repository: Repository;

  constructor(world: World, repository: Repository, user: User) {
    this.#world = world;
    this.#repository = repository;
    this.user = user;
  }

  opens(text: IssueText): Issue {
    return openIssue(this.#world, this.#repository, this.user, text);
  }

  opensPull({ head, base, ...text }: IssueText & { readonly head: string; readonly base: string }): Issue {
    const from = { repository: this.#repository, branch: head };
    return openPull(this.#world, this.#repository, this.user, { ...text, head: from, base, draft: false });
  }

  edits(number: number, text: Partial<IssueText>): void {
    rewrite(this.#world, this.issue(number), this.user, text);
  }

  comments(number: number, body: string, app?: string): Comment {
    return addComment(this.#world, this.issue(number), { by: this.user, body, app });
  }

  editsComment(comment: Comment, body: string): void {
    editComment(this.#world, comment, body);
  }

  deletesComment(number: number, id: number): void {
    const { comments } = this.issue(number);
    comments.splice(
      comments.findIndex((one) => one.id === id),
      1,
    );
  }

  labels(number: number, label: string, app?: string): void {
    const issue = this.issue(number);
    this.#repository.labels.add(label);
    issue.labels.add(label);
    note(this.#world, issue, { event: "labeled", actor: this.user, label, ...(app === undefined ? {} : { app }) });
  }

  unlabels(number: number, label: string): void {
    const issue = this.issue(number);
    issue.labels.delete(label);
    note(this.#world, issue, { event: "unlabeled", actor: this.user, label });
  }

  assigns(number: number, assignee: User): void {
    const issue = this.issue(number);
    issue.assignees.add(assignee);
    note(this.#world, issue, { event: "assigned", actor: this.user, assignee });
  }

  closes(number: number): void {
    setState(this.#world, this.issue(number), { by: this.user, state: "closed" });
  }

  reopens(number: number): void {
    setState(this.#world, this.issue(number), { by: this.user, state: "open" });
  }

  locks(number: number): void {
    this.issue(number).locked = true;
  }

  deletes(number: number): void {
    this.#repository.issues.delete(number);
    this.#repository.gone.set(number, { why: "deleted" });
  }

  transfers(number: number, to: Repository): Issue {
    const issue = this.issue(number);
    const { title, body } = issue;
    const moved = openIssue(this.#world, to, issue.user, { title, body });
    moved.comments.push(...issue.comments);
    this.#repository.issues.delete(number);
    this.#repository.gone.set(number, { why: "moved", to: moved, repository: to });
    return moved;
  }

  reviews(number: number, review: Omit<ReviewText, "by">): Review {
    return addReview(this.#world, this.issue(number), { by: this.user, ...review });
  }

  dismisses(number: number, review: Review): void {
    Object.assign(review, { state: "DISMISSED" });
    touch(this.#world, this.issue(number));
  }

  replies(number: number, replyTo: ReviewComment, body: string): ReviewComment {
    const issue = this.issue(number);
    const review = addReview(this.#world, issue, { by: this.user, state: "COMMENTED", body: "" });
    return addReviewComment(this.#world, issue, {
      by: this.user,
      review,
      body,
      path: replyTo.path,
      line: replyTo.line,
      replyTo,
    });
  }

  resolves({ thread }: ReviewComment): void {
    Object.assign(thread, { isResolved: true, resolvedBy: this.user });
  }

  merges(number: number): void {
    const done = merge(this.#world, this.#repository, this.issue(number), {
      by: this.user,
      method: "squash",
      message: `Merge #${number}`,
    });
    if (done === false) throw new Error(`#${number} cannot be merged`);
  }

  deletesBranch(branch: string): void {
    deleteBranch(this.#world, this.#repository, branch);
  }

  renamesBranch(from: string, to: string): void {
    renameBranch(this.#world, this.#repository, from, to);
  }

  /** Takes the newest commit of a branch away. */
  setsBack(branch: string): void {
    git(this.#repository.folder, ["update-ref", `refs/heads/${branch}`, `refs/heads/${branch}^`]);
    followBranches(this.#world, this.#repository);
  }

  convertsToDraft(number: number): void {
    const issue = this.issue(number);
    if (issue.pull) issue.pull.draft = true;
    touch(this.#world, issue);
  }

  /** Commits files onto a branch, which begins at the default branch when it is new; with `force` anew from nothing. */
  pushes(branch: string, files: Readonly<Record<string, string>>, { force = false } = {}): string {
    const { folder, defaultBranch } = this.#repository;
    const heads = branchHeads(folder);
    const from = force ? undefined : (heads.get(branch) ?? heads.get(defaultBranch));
    const by = `${this.user.login} <${this.user.login}@example.test> ${Math.floor(this.#world.now() / 1000)} +0000`;
    const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
    const lines = [
      `commit refs/heads/${branch}\nauthor ${by}\ncommitter ${by}\n${data(`Change ${Object.keys(files).join(", ")}`)}`,
      ...(from === undefined ? [] : [`from ${from}\n`]),
      ...Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`),
    ];
    git(folder, ["fast-import", "--quiet", "--force"], lines.join(""));
    followBranches(this.#world, this.#repository);
    return branchHead(folder, branch) ?? "";
  }

  issue(number: number): Issue {
    const issue = this.#repository.issues.get(number);
    if (!issue) throw new Error(`there is no #${number}`);
    return issue;
  }
}

export interface CheckReport {
  readonly sha: string;
  readonly name: string;
  /** Still running when absent. */
  readonly conclusion?: CheckRun["conclusion"];
  readonly log?: string;
  readonly annotations?: readonly Annotation[];
  /** Of GitHub Actions unless told. */
  readonly app?: string;
  /** A further job of the run of this one; else it is the first of a run. */
  readonly beside?: CheckRun;
  readonly hasFollowers?: boolean;
}

/** A check of a commit, as a CI system tells it; the same name again is another run, and the older one stays in lists. */
export function reportCheck(world: World, repository: Repository, report: CheckReport): CheckRun {
  const { sha, name, conclusion, log = "", annotations = [], app = "github-actions", beside } = report;
  const at = world.time();
  const ofActions = app === "github-actions";
  const before = repository.checkRuns.find((one) => one.name === name && one.app === app);
  const check: CheckRun = {
    ...{ id: world.newId(), name, sha, app, status: conclusion ? "completed" : "in_progress", conclusion },
    ...{ startedAt: at, completedAt: conclusion ? at : undefined, annotations, log, attempt: 1 },
    ...{
      workflowRun: ofActions ? (beside?.workflowRun ?? world.newId()) : undefined,
      workflow: ofActions ? ((beside ?? before)?.workflow ?? world.newId()) : undefined,
      hasFollowers: report.hasFollowers ?? false,
    },
  };
  repository.checkRuns.push(check);
  return check;
}

export function reportStatus(
  world: World,
  repository: Repository,
  status: Pick<CommitStatus, "sha" | "context" | "state">,
): void {
  repository.statuses.push({
    ...status,
    id: world.newId(),
    description: "",
    creator: repository.owner,
    createdAt: world.time(),
  });
}

/** The merge queue gives a pull request up, as it does when checks of the merge fail. */
export function leaveQueue({ pull }: Issue): void {
  if (pull) pull.queued = false;
}

/** The merge queue does its work. */
export function runQueue(world: World, repository: Repository): void {
  for (const issue of repository.issues.values()) {
    if (issue.pull?.queued)
      merge(world, repository, issue, {
        by: repository.owner,
        method: "squash",
        message: `Merge #${issue.number} from the queue`,
      });
  }
}
