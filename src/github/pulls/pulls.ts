import { setTimeout as sleep } from "node:timers/promises";
import type { ChangeRequestDraft } from "../../forge/port.ts";
import type { MergeMethod } from "../../git/merge-method.ts";
import type { Outcome } from "../client/outcome.ts";
import { safeBody, safeTitle } from "../outgoing.ts";
import { allPages, CallError } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { withOurPart } from "./body.ts";
import { type PullState, pullState, pullsSchema } from "./pull-state.ts";

export type PullDraft = Omit<ChangeRequestDraft, "planId">;

interface PullMerge {
  readonly sha: string;
  readonly method: MergeMethod;
  /** Also where the rules of the branch are not met, as far as GitHub lets the account of the token. */
  readonly force?: boolean;
  /** Called in the last moment; throws where it is not to be merged any more. */
  confirm?: (() => void) | undefined;
}

/** What a person or the next look can change. */
export interface PullRefused {
  readonly refused: string;
}

export type PullMergeOutcome =
  | { readonly kind: "merged"; readonly sha: string; readonly head: string }
  /** GitHub merges it when its turn comes. */
  | { readonly kind: "queued" }
  /** The head is another one than what was reviewed. */
  | { readonly kind: "moved-on" }
  | { readonly kind: "refused"; readonly reason: string };

/** The pull requests of one repository. What cannot be found out now throws; every change looks before it acts. */
export class Pulls {
  readonly #repository: RepositoryCalls;

  constructor(repository: RepositoryCalls) {
    this.#repository = repository;
  }

  /**
   * The one of a branch of this very repository: a fork may have a branch of that name too. One that is open, or else was merged with
   * this very commit: a branch of that name may have been merged before this one began.
   */
  async find(branch: string, sha?: string): Promise<PullState | undefined> {
    const [owner = ""] = this.#repository.fullName.split("/");
    const query = { head: `${owner}:${branch}`, state: "all", sort: "created", direction: "desc" };
    const found = (await allPages(this.#repository, "/pulls", { query, schema: pullsSchema })).map(pullState);
    const ours = found.filter(({ head }) => head.repositoryId === this.#repository.id && head.branch === branch);
    return (
      ours.find(({ state }) => state === "open") ??
      ours.find(({ state, head }) => state === "merged" && head.sha === sha)
    );
  }

  async get(number: number): Promise<PullState | "gone"> {
    const outcome = await this.#repository.get(`/pulls/${number}`);
    if (outcome.kind === "not-found" || outcome.kind === "deleted") return "gone";
    return pullState(dataOf(`pull request #${number}`, outcome));
  }

  /** As `get`, and with what its rules say: GitHub finds that out when it is asked. */
  async getJudged(number: number): Promise<PullState | "gone"> {
    for (let asked = 1; ; asked += 1) {
      const pull = await this.get(number);
      if (pull === "gone" || pull.state !== "open" || pull.mergeState !== "unknown") return pull;
      if (asked === MAX_ASKED) throw new Error(`GitHub is still finding out whether #${number} can be merged`);
      await sleep(ASKED_EVERY_MS);
    }
  }

  /** As a draft, and as an ordinary one where the repository has no drafts. */
  async open({ head, sha, base, title, body }: PullDraft): Promise<PullState | PullRefused> {
    const found = await this.find(head, sha);
    if (found?.state === "open") return this.describe(found, { body, base });
    if (found) return found;
    const request = { head, base, title: titleFor(title, head), body: withOurPart("", safeBody(body)) };
    const drafted = await this.#repository.send("POST", "/pulls", { body: { ...request, draft: true } });
    const hasDrafts = drafted.kind !== "refused" || !NO_DRAFTS.test(drafted.reason);
    const outcome = hasDrafts ? drafted : await this.#repository.send("POST", "/pulls", { body: request });
    if (outcome.kind === "refused") {
      // One whose answer was lost may not have been in the list yet.
      const made = await this.find(head, sha);
      const isLate = made === undefined && (await this.#isLate(head, outcome.reason));
      if (isLate) throw new Error(`${outcome.reason} GitHub's other servers do not know of it yet.`);
      return made ?? { refused: outcome.reason };
    }
    return pullState(dataOf("opening a pull request", outcome));
  }

  /** Our words in it; those of people stay. Nothing is sent where nothing changes. */
  async describe(
    pull: PullState,
    { title, body, base }: Partial<Pick<PullDraft, "title" | "body" | "base">>,
  ): Promise<PullState | PullRefused> {
    const wanted = {
      ...(title === undefined ? {} : { title: titleFor(title, pull.head.branch) }),
      ...(body === undefined ? {} : { body: withOurPart(pull.body, safeBody(body)) }),
      ...(base === undefined ? {} : { base }),
    };
    const changed = Object.entries(wanted).filter(([name, value]) => pull[name as "title"] !== value);
    if (changed.length === 0) return pull;
    return this.#change(pull, Object.fromEntries(changed));
  }

  /** Gives all that have this branch as base another one; undefined when they have it. */
  async retarget(from: string, to: string): Promise<({ readonly number: number } & PullRefused) | undefined> {
    const query = { base: from, state: "open" };
    for (const pull of (await allPages(this.#repository, "/pulls", { query, schema: pullsSchema })).map(pullState)) {
      const changed = await this.#change(pull, { base: to });
      if ("refused" in changed) return { number: pull.number, ...changed };
    }
    return undefined;
  }

  async close(pull: PullState): Promise<PullState | PullRefused> {
    return pull.state === "open" ? this.#change(pull, { state: "closed" }) : pull;
  }

  async markReady(pull: PullState): Promise<PullState | PullRefused> {
    if (!pull.draft || pull.state !== "open") return pull;
    const outcome = await this.#repository.client.graphql(READY, { input: { pullRequestId: pull.nodeId } });
    if (outcome.kind === "refused") return { refused: outcome.reason };
    dataOf(`marking #${pull.number} as ready`, outcome);
    return { ...pull, draft: false };
  }

  /** A draft again, out of the queue first: what is in there is merged, whatever becomes of it. */
  async takeBack(pull: PullState): Promise<PullState | PullRefused> {
    if (pull.state !== "open") return pull;
    const { client } = this.#repository;
    if ((await this.#queueOf(pull)).isInMergeQueue)
      dataOf(`taking #${pull.number} out of the queue`, await client.graphql(DEQUEUE, { input: { id: pull.nodeId } }));
    if (pull.draft) return pull;
    const outcome = await client.graphql(DRAFT, { input: { pullRequestId: pull.nodeId } });
    if (outcome.kind === "refused") return { refused: outcome.reason };
    dataOf(`making #${pull.number} a draft`, outcome);
    return { ...pull, draft: true };
  }

  /** Exactly the commit that was reviewed, or nothing. */
  async merge(pull: PullState, { sha, method, force = false, confirm }: PullMerge): Promise<PullMergeOutcome> {
    if (pull.state === "merged") return { kind: "merged", sha: pull.mergeSha ?? "", head: pull.head.sha };
    if (pull.head.sha !== sha) return { kind: "moved-on" };
    const other = force ? undefined : await this.#byRules(pull, { sha, confirm });
    if (other) return other;
    confirm?.();
    const outcome = await this.#repository.send("PUT", `/pulls/${pull.number}/merge`, {
      body: { sha, merge_method: method },
    });
    if (outcome.kind === "ok") return { kind: "merged", sha: (outcome.data as { sha: string }).sha, head: sha };
    if (outcome.kind !== "refused") throw new CallError(`merging #${pull.number}`, outcome);
    if (outcome.status === CONFLICT) return { kind: "moved-on" };
    if (BASE_MOVED.test(outcome.reason))
      throw new CallError(`merging #${pull.number}`, {
        kind: "failed",
        reason: outcome.reason,
        mayHaveHappened: false,
      });
    const queue = await this.#queueOf(pull);
    return (await this.#enqueue(pull, queue, { sha, confirm })) ?? { kind: "refused", reason: outcome.reason };
  }

  /**
   * GitHub lets those merge who may bypass the rules of a branch, and an owner's token may: a person who asks for a merge here would do so
   * with that token. So the queue is taken, and what is not met is a no, before it is asked; undefined where nothing speaks against it.
   */
  async #byRules(pull: PullState, asked: Pick<PullMerge, "sha" | "confirm">): Promise<PullMergeOutcome | undefined> {
    const queue = await this.#queueOf(pull);
    const queued = await this.#enqueue(pull, queue, asked);
    const reason = whyBlocked(pull, queue.reviewDecision);
    return queued ?? (reason === undefined ? undefined : { kind: "refused", reason });
  }

  /** Undefined where the branch has no queue. */
  async #enqueue(
    pull: PullState,
    { isMergeQueueEnabled, isInMergeQueue }: Queue,
    { sha, confirm }: Pick<PullMerge, "sha" | "confirm">,
  ): Promise<PullMergeOutcome | undefined> {
    if (!isMergeQueueEnabled) return undefined;
    if (isInMergeQueue) return { kind: "queued" };
    confirm?.();
    const outcome = await this.#repository.client.graphql(ENQUEUE, {
      input: { pullRequestId: pull.nodeId, expectedHeadOid: sha },
    });
    if (outcome.kind === "refused") return { kind: "refused", reason: outcome.reason };
    dataOf(`queueing #${pull.number}`, outcome);
    return { kind: "queued" };
  }

  async #queueOf({ nodeId, number }: PullState): Promise<Queue> {
    const asked = await this.#repository.client.graphql(HAS_QUEUE, { id: nodeId });
    const { node } = dataOf(`looking for a merge queue of #${number}`, asked) as { node?: Queue };
    return node ?? {};
  }

  /** What was pushed or opened a moment ago may not be everywhere there yet. */
  async #isLate(branch: string, reason: string): Promise<boolean> {
    if (EXISTS.test(reason)) return true;
    if (!UNKNOWN_HEAD.test(reason)) return false;
    const found = await this.#repository.get(`/git/ref/heads/${branch}`);
    if (found.kind === "not-found") return false;
    dataOf(`the branch ${branch}`, found);
    return true;
  }

  async #change({ number }: PullState, body: Readonly<Record<string, unknown>>): Promise<PullState | PullRefused> {
    const outcome = await this.#repository.send("PATCH", `/pulls/${number}`, { body });
    if (outcome.kind === "refused") return { refused: outcome.reason };
    return pullState(dataOf(`changing #${number}`, outcome));
  }
}

interface Queue {
  readonly isMergeQueueEnabled?: boolean;
  readonly isInMergeQueue?: boolean;
  readonly reviewDecision?: string | null;
}

/** Pure: which rule of its base is not met, as far as GitHub tells that. */
function whyBlocked({ base, mergeState }: PullState, reviewDecision: Queue["reviewDecision"]): string | undefined {
  if (mergeState === "behind") return `${base} got something since, and a rule asks for branches that have it`;
  if (mergeState !== "blocked") return undefined;
  if (reviewDecision === "REVIEW_REQUIRED") return `a rule of ${base} asks for a review that approves it`;
  if (reviewDecision === "CHANGES_REQUESTED") return "a review asks for changes";
  return `a rule of ${base} is not met: a check that is required has not passed, or something else that its page tells`;
}

/** A title of nothing but signs would leave none, which GitHub refuses. */
const titleFor = (title: string, branch: string): string => safeTitle(title) || branch;

/** GitHub's words: it tells no code for these. */
const EXISTS = /already exists/;
const NO_DRAFTS = /draft/i;
/** Of the branch that is to be merged, by its field or in words. */
const UNKNOWN_HEAD = /\bhead(_sha|_ref)? (invalid|missing_field)\b|\bHead sha can't be blank/;
const CONFLICT = 409;
/** Something else was merged at that moment: asked again, it does it. */
const BASE_MOVED = /^Base branch was modified/;
const MAX_ASKED = 10;
const ASKED_EVERY_MS = 1000;
const READY =
  "mutation ($input: MarkPullRequestReadyForReviewInput!) { markPullRequestReadyForReview(input: $input) { pullRequest { isDraft } } }";
const DRAFT =
  "mutation ($input: ConvertPullRequestToDraftInput!) { convertPullRequestToDraft(input: $input) { pullRequest { isDraft } } }";
const DEQUEUE =
  "mutation ($input: DequeuePullRequestInput!) { dequeuePullRequest(input: $input) { mergeQueueEntry { state } } }";
const HAS_QUEUE =
  "query ($id: ID!) { node(id: $id) { ... on PullRequest { isMergeQueueEnabled isInMergeQueue reviewDecision } } }";
const ENQUEUE =
  "mutation ($input: EnqueuePullRequestInput!) { enqueuePullRequest(input: $input) { mergeQueueEntry { state } } }";

function dataOf(what: string, outcome: Outcome): unknown {
  if (outcome.kind === "ok") return outcome.data;
  throw new CallError(what, outcome);
}
