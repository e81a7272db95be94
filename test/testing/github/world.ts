import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { git } from "./git.ts";

export type Permission = "admin" | "maintain" | "write" | "triage" | "read" | "none";

export interface User {
  readonly id: number;
  login: string;
  readonly type: "User" | "Bot";
}

export interface Comment {
  readonly id: number;
  readonly user: User;
  /** The app that wrote it in that user's name. */
  readonly app?: string | undefined;
  body: string;
  readonly createdAt: string;
  updatedAt: string;
  editedAt?: string;
}

export interface ReviewComment extends Comment {
  readonly path: string;
  readonly line: number | undefined;
  readonly side: "LEFT" | "RIGHT";
  readonly commit: string;
  readonly reviewId: number;
  readonly replyTo: number | undefined;
  readonly thread: Thread;
}

export interface Thread {
  readonly id: string;
  isResolved: boolean;
  resolvedBy: User | undefined;
}

export type ReviewState = "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED" | "DISMISSED";

export interface Review {
  readonly id: number;
  readonly user: User;
  state: ReviewState;
  readonly body: string;
  readonly commit: string;
  readonly submittedAt: string;
}

export interface IssueEvent {
  readonly id: number;
  readonly event:
    | "labeled"
    | "unlabeled"
    | "assigned"
    | "unassigned"
    | "closed"
    | "reopened"
    | "renamed"
    | "transferred";
  readonly actor: User;
  readonly createdAt: string;
  readonly label?: string;
  /** The app that did it in that user's name. */
  readonly app?: string;
  readonly assignee?: User;
  readonly rename?: { readonly from: string; readonly to: string };
}

export interface Issue {
  readonly id: number;
  readonly number: number;
  readonly user: User;
  title: string;
  body: string;
  state: "open" | "closed";
  locked: boolean;
  readonly labels: Set<string>;
  readonly assignees: Set<User>;
  milestone: number | undefined;
  readonly comments: Comment[];
  readonly events: IssueEvent[];
  readonly createdAt: string;
  updatedAt: string;
  closedAt: string | undefined;
  /** Of its text; those of its title are events. */
  readonly edits: { readonly at: string; readonly by: User }[];
  pull: Pull | undefined;
  /** The app that opened it in that user's name. */
  readonly app: string | undefined;
}

/** What an issue has besides when it is a pull request. */
export interface Pull {
  readonly head: { readonly repository: Repository; readonly branch: string; sha: string };
  base: { branch: string; sha: string };
  draft: boolean;
  merged: { readonly at: string; readonly by: User; readonly sha: string } | undefined;
  /** A base branch that was deleted closes it for good. */
  isDead: boolean;
  readonly reviews: Review[];
  readonly reviewComments: ReviewComment[];
  readonly requestedReviewers: Set<User>;
  queued: boolean;
}

export interface CheckRun {
  readonly id: number;
  readonly name: string;
  readonly sha: string;
  readonly app: string;
  status: "queued" | "in_progress" | "completed";
  conclusion: "success" | "failure" | "neutral" | "cancelled" | "skipped" | "timed_out" | "action_required" | undefined;
  readonly startedAt: string;
  completedAt: string | undefined;
  readonly annotations: readonly Annotation[];
  /** A check that GitHub Actions made belongs to a job of a run. */
  readonly workflowRun: number | undefined;
  readonly workflow: number | undefined;
  /** The run has jobs that are made when this one has ended. */
  readonly hasFollowers: boolean;
  readonly log: string;
  attempt: number;
}

export interface Annotation {
  readonly path: string;
  readonly line: number;
  readonly level: "notice" | "warning" | "failure";
  readonly message: string;
}

export interface CommitStatus {
  readonly id: number;
  readonly sha: string;
  readonly context: string;
  readonly state: "error" | "failure" | "pending" | "success";
  readonly description: string;
  readonly creator: User;
  readonly createdAt: string;
}

export interface BranchRules {
  readonly requiredChecks: readonly string[];
  readonly approvals: number;
  readonly mergeQueue: boolean;
  /** Branches must have what the base has before they are merged. */
  readonly upToDate?: boolean;
  /** Words with which a push is refused. */
  readonly refusePush: string | undefined;
  /** What GitHub's own trouble is called where git tells what became of a branch. */
  readonly failPush?: string;
}

export interface ProjectItem {
  readonly id: string;
  /** Undefined: a draft, which is on the board alone. */
  readonly issue: { readonly repository: Repository; readonly issue: Issue } | undefined;
  column: string;
  movedAt: string;
}

/** A board; it belongs to an organisation or a person, and has items of any repository. */
export interface Project {
  readonly id: string;
  readonly owner: User;
  readonly isOrganization: boolean;
  readonly number: number;
  /** Of the field Status, by their ids. */
  readonly columns: Map<string, string>;
  readonly items: ProjectItem[];
  /** Undefined: all. */
  readonly readers: ReadonlySet<User> | undefined;
  updatedAt: string;
}

export interface Repository {
  readonly id: number;
  owner: User;
  name: string;
  /** `owner/name` in lower case, as it was called before. */
  readonly formerNames: Set<string>;
  readonly isPrivate: boolean;
  readonly forkOf: Repository | undefined;
  readonly folder: string;
  defaultBranch: string;
  readonly permissions: Map<User, Permission>;
  readonly labels: Set<string>;
  readonly milestones: string[];
  readonly issues: Map<number, Issue>;
  readonly gone: Map<
    number,
    { readonly why: "deleted" } | { readonly why: "moved"; readonly to: Issue; readonly repository: Repository }
  >;
  /** The numbers of pull requests that lists do not show yet. */
  readonly unlisted: Set<number>;
  readonly checkRuns: CheckRun[];
  readonly statuses: CommitStatus[];
  readonly rules: Map<string, BranchRules>;
  allow: { squash: boolean; merge: boolean; rebase: boolean; drafts: boolean };
}

/** Everything that this GitHub knows, without HTTP; what people do to it is in `people.ts`. */
export class World {
  readonly users = new Map<string, User>();
  readonly repositories: Repository[] = [];
  readonly projects: Project[] = [];
  readonly #folder: string;
  readonly #now: () => number;
  /** So far its clock is ahead of that of everyone else. */
  aheadMs = 0;
  #lastId = 1000;

  constructor(folder: string, now: () => number = Date.now) {
    this.#folder = folder;
    this.#now = now;
  }

  now(): number {
    return this.#now() + this.aheadMs;
  }

  /** To the second, as GitHub tells it. */
  time(): string {
    return new Date(this.#now()).toISOString().replace(/\.\d+Z$/, "Z");
  }

  /** Ids of all kinds grow, and none is given twice. */
  newId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  user(login: string, type: User["type"] = "User"): User {
    const known = this.users.get(login.toLowerCase());
    if (known) return known;
    const user: User = { id: this.newId(), login, type };
    this.users.set(login.toLowerCase(), user);
    return user;
  }

  /** The same login, another person: what happens when an account was deleted and its name taken. */
  registerAgain(login: string): User {
    this.users.delete(login.toLowerCase());
    return this.user(login);
  }

  addRepository(fullName: string, options: Partial<Pick<Repository, "isPrivate" | "forkOf">> = {}): Repository {
    const [owner = "", name = ""] = fullName.split("/");
    const id = this.newId();
    const folder = join(this.#folder, `${id}.git`);
    mkdirSync(folder, { recursive: true });
    git(folder, ["init", "--quiet", "--bare", "--initial-branch=main"]);
    const repository: Repository = {
      ...{ id, name, folder, owner: this.user(owner), defaultBranch: "main" },
      ...{ isPrivate: options.isPrivate ?? false, forkOf: options.forkOf },
      ...{ formerNames: new Set(), permissions: new Map(), labels: new Set(), milestones: [] },
      ...{ issues: new Map(), gone: new Map(), unlisted: new Set() },
      ...{ checkRuns: [], statuses: [], rules: new Map() },
      allow: { squash: true, merge: true, rebase: true, drafts: true },
    };
    repository.permissions.set(repository.owner, "admin");
    this.repositories.push(repository);
    return repository;
  }

  /** Found by its name of today; or by an earlier one, and then it has moved. */
  find(owner: string, name: string): { repository: Repository; moved: boolean } | undefined {
    const asked = `${owner}/${name}`.toLowerCase();
    const now = this.repositories.find((one) => fullNameOf(one).toLowerCase() === asked);
    if (now) return { repository: now, moved: false };
    const before = this.repositories.find((one) => one.formerNames.has(asked));
    return before && { repository: before, moved: true };
  }
}

export const fullNameOf = ({ owner, name }: Pick<Repository, "owner" | "name">): string => `${owner.login}/${name}`;

export function permissionOf(repository: Repository, user: User): Permission {
  return repository.permissions.get(user) ?? (repository.isPrivate ? "none" : "read");
}

const RANKS: readonly Permission[] = ["none", "read", "triage", "write", "maintain", "admin"];

export function mayDo(repository: Repository, user: User, least: Permission): boolean {
  return RANKS.indexOf(permissionOf(repository, user)) >= RANKS.indexOf(least);
}
