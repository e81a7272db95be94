import { addReview, canMerge, merge, openPull, setState, touch } from "../deeds.ts";
import { branchHead, git, type MergeMethod } from "../git.ts";
import { unmetRules } from "../rules.ts";
import { fullPullShape, pullShape, reviewShape } from "../shapes/pull.ts";
import { type Issue, mayDo, type Pull, type Repository, type Review } from "../world.ts";
import {
  bodyText,
  byUpdate,
  type Call,
  created,
  invalid,
  issueOf,
  notFound,
  ok,
  paged,
  Refusal,
  type Route,
  reads,
  requireText,
  requireUnlocked,
  text,
  writes,
} from "./route.ts";

type PullIssue = Issue & { pull: Pull };

export function pullOf(call: Call): PullIssue {
  const issue = issueOf(call);
  if (!issue.pull) throw notFound();
  return issue as PullIssue;
}

const full = (call: Call, issue: PullIssue): unknown => fullPullShape(call.api, call.repository, issue);

export const pullRoutes: readonly Route[] = [
  {
    ...{ method: "GET", path: "/pulls", needs: reads("pull_requests") },
    handle(call) {
      const [state, head, base] = ["state", "head", "base"].map((name) => call.query.get(name));
      const all = [...call.repository.issues.values()].filter((issue): issue is PullIssue => {
        if (
          !issue.pull ||
          call.repository.unlisted.has(issue.number) ||
          ((state ?? "open") !== "all" && issue.state !== (state ?? "open"))
        )
          return false;
        const { repository, branch } = issue.pull.head;
        return (!head || head === `${repository.owner.login}:${branch}`) && (!base || base === issue.pull.base.branch);
      });
      return paged(call, "/pulls", {
        all: byUpdate(call, all),
        shape: (issue) => pullShape(call.api, call.repository, issue),
      });
    },
  },
  {
    ...{ method: "POST", path: "/pulls", needs: writes("pull_requests", "read") },
    handle: (call) => created(full(call, open(call))),
  },
  {
    ...{ method: "GET", path: "/pulls/{number}", needs: reads("pull_requests") },
    handle: (call) => ok(full(call, pullOf(call))),
  },
  {
    ...{ method: "PATCH", path: "/pulls/{number}", needs: writes("pull_requests", "read") },
    handle(call) {
      const issue = pullOf(call);
      if (issue.user !== call.user && !mayDo(call.repository, call.user, "write"))
        throw new Refusal(403, "Must have admin rights to Repository.");
      issue.title = text(call, "title") ?? issue.title;
      issue.body = bodyText(text(call, "body") ?? issue.body);
      retarget(call, issue);
      touch(call.world, issue);
      const state = text(call, "state");
      if (state === "open") reopen(call, issue);
      if (state === "closed") setState(call.world, issue, { by: call.user, state });
      return ok(full(call, issue));
    },
  },
  {
    ...{ method: "PUT", path: "/pulls/{number}/merge", needs: writes("contents") },
    handle: (call) => ok(mergePull(call)),
  },
  {
    ...{ method: "GET", path: "/pulls/{number}/reviews", needs: reads("pull_requests") },
    handle(call) {
      const issue = pullOf(call);
      return paged(call, `/pulls/${issue.number}/reviews`, {
        all: issue.pull.reviews,
        shape: (review) => reviewShape(call.api, call.repository, { issue, review }),
      });
    },
  },
  {
    ...{ method: "POST", path: "/pulls/{number}/reviews", needs: writes("pull_requests", "read") },
    handle: (call) => ok(review(call)),
  },
  {
    ...{ method: "POST", path: "/pulls/{number}/requested_reviewers", needs: writes("pull_requests") },
    handle(call) {
      const issue = pullOf(call);
      for (const login of (call.body.reviewers as string[] | undefined) ?? []) {
        const user = call.world.users.get(login.toLowerCase());
        if (!user || !call.repository.permissions.has(user)) {
          throw new Refusal(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the repository.",
          );
        }
        if (user === issue.user) throw new Refusal(422, "Review cannot be requested from pull request author.");
        issue.pull.requestedReviewers.add(user);
      }
      touch(call.world, issue);
      return created(pullShape(call.api, call.repository, issue));
    },
  },
];

function open(call: Call): PullIssue {
  const { repository } = call;
  const head = headOf(call, requireText(call, "head", "PullRequest"));
  const base = requireText(call, "base", "PullRequest");
  const headSha = head && branchHead(head.repository.folder, head.branch);
  if (!head || headSha === undefined) throw invalid({ resource: "PullRequest", field: "head", code: "invalid" });
  const baseSha = branchHead(repository.folder, base);
  if (baseSha === undefined) throw invalid({ resource: "PullRequest", field: "base", code: "invalid" });
  const name = `${head.repository.owner.login}:${head.branch}`;
  const custom = (message: string): Refusal => invalid({ resource: "PullRequest", code: "custom", message });
  const isThere = [...repository.issues.values()].some(
    ({ state, pull }) =>
      state === "open" &&
      pull?.head.repository === head.repository &&
      pull.head.branch === head.branch &&
      pull.base.branch === base,
  );
  if (isThere) throw custom(`A pull request already exists for ${name}.`);
  if (headSha === baseSha) throw custom(`No commits between ${base} and ${head.branch}`);
  const draft = call.body.draft === true;
  if (draft && !repository.allow.drafts)
    throw new Refusal(422, "Draft pull requests are not supported in this repository.");
  if (!mayDo(head.repository, call.user, "write")) throw notFound();
  const title = requireText(call, "title", "PullRequest");
  return openPull(call.world, repository, call.user, {
    title,
    body: bodyText(text(call, "body") ?? ""),
    head,
    base,
    draft,
  }) as PullIssue;
}

function headOf(call: Call, given: string): { repository: Repository; branch: string } | undefined {
  if (!given.includes(":")) return { repository: call.repository, branch: given };
  const [owner = "", branch = ""] = given.split(":");
  const repository = [
    call.repository,
    ...call.world.repositories.filter(({ forkOf }) => forkOf === call.repository),
  ].find((one) => one.owner.login.toLowerCase() === owner.toLowerCase());
  return repository && { repository, branch };
}

function retarget(call: Call, issue: PullIssue): void {
  const base = text(call, "base");
  if (base === undefined || base === issue.pull.base.branch) return;
  const sha = branchHead(call.repository.folder, base);
  if (sha === undefined) throw invalid({ resource: "PullRequest", field: "base", code: "invalid" });
  if (issue.state === "closed") throw new Refusal(422, "Cannot change the base branch of a closed pull request.");
  issue.pull.base = { branch: base, sha };
}

function reopen(call: Call, issue: PullIssue): void {
  const { pull } = issue;
  if (issue.state === "open") return;
  if (pull.merged || pull.isDead || branchHead(pull.head.repository.folder, pull.head.branch) === undefined) {
    throw invalid({
      resource: "PullRequest",
      code: "custom",
      field: "state",
      message: "state cannot be changed. The pull request cannot be reopened.",
    });
  }
  setState(call.world, issue, { by: call.user, state: "open" });
}

function mergePull(call: Call): unknown {
  const issue = pullOf(call);
  const { pull } = issue;
  const method = (text(call, "merge_method") ?? "merge") as MergeMethod;
  const sha = text(call, "sha");
  if (pull.merged || issue.state === "closed") throw new Refusal(405, "Pull Request is not mergeable");
  if (sha !== undefined && sha !== pull.head.sha)
    throw new Refusal(409, "Head branch was modified. Review and try the merge again.");
  if (pull.draft) throw new Refusal(405, "Pull Request is still a draft");
  if (!call.repository.allow[method]) throw new Refusal(405, `${WORDS[method]} are not allowed on this repository.`);
  const unmet = unmetRules(call.repository, pull);
  // As long as no rule says otherwise, they may do without.
  if (unmet !== undefined && !mayDo(call.repository, call.user, "admin")) throw new Refusal(405, unmet);
  if (!canMerge(call.repository, pull)) throw new Refusal(405, "Pull Request has merge conflicts");
  const title = text(call, "commit_title") ?? `${issue.title} (#${issue.number})`;
  const message = `${title}\n\n${text(call, "commit_message") ?? ""}`.trim();
  const merged = merge(call.world, call.repository, issue, { by: call.user, method, message });
  if (merged === false) throw new Refusal(405, "Pull Request is not mergeable");
  return { sha: merged, merged: true, message: "Pull Request successfully merged" };
}

const WORDS: Readonly<Record<MergeMethod, string>> = {
  merge: "Merge commits",
  squash: "Squash merges",
  rebase: "Rebase merges",
};

const STATES: Readonly<Record<string, Review["state"]>> = {
  APPROVE: "APPROVED",
  REQUEST_CHANGES: "CHANGES_REQUESTED",
  COMMENT: "COMMENTED",
};

function review(call: Call): unknown {
  const issue = pullOf(call);
  requireUnlocked(call, issue);
  const event = text(call, "event") ?? "";
  const state = STATES[event];
  if (state === undefined)
    throw new Refusal(422, "Unprocessable Entity", {
      errors: [`Variable $event of type PullRequestReviewEvent was provided invalid value`],
    });
  if (issue.user === call.user && state !== "COMMENTED") {
    throw new Refusal(422, "Unprocessable Entity", {
      errors: [`Can not ${event === "APPROVE" ? "approve" : "request changes on"} your own pull request`],
    });
  }
  const body = bodyText(text(call, "body") ?? "");
  const comments = ((call.body.comments as { path: string; line?: number; body: string }[] | undefined) ?? []).map(
    (one) => {
      requireInDiff(issue, one.path);
      return one;
    },
  );
  if (state !== "APPROVED" && body === "" && comments.length === 0)
    throw new Refusal(422, "Unprocessable Entity", { errors: ["Body cannot be blank"] });
  const added = addReview(call.world, issue, { by: call.user, state, body, commit: text(call, "commit_id"), comments });
  return reviewShape(call.api, call.repository, { issue, review: added });
}

export const emptyReview = (call: Call, issue: PullIssue): Review =>
  addReview(call.world, issue, { by: call.user, state: "COMMENTED", body: "" });

/** Only what the pull request changes can be commented on. */
export function requireInDiff({ pull }: PullIssue, path: string): void {
  const files = git(pull.head.repository.folder, ["diff", "--name-only", `${pull.base.sha}...${pull.head.sha}`]).split(
    "\n",
  );
  if (files.includes(path)) return;
  throw new Refusal(422, "Unprocessable Entity", { errors: [`Path could not be resolved`] });
}
