import type { MergeMethod } from "../../git/merge-method.ts";
import type { Outcome } from "../client/outcome.ts";
import { safeBody, safeTitle } from "../outgoing.ts";
import { allPages, CallError } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { withOurPart } from "./body.ts";
import { type PullState, pullState, pullsSchema } from "./pull-state.ts";

export interface PullDraft {
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
}

/** What a person or the next look can change. */
export interface Refused {
  readonly refused: string;
}

export type Merged =
  | { readonly kind: "merged"; readonly sha: string }
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

  /** The one of a branch of this very repository, an open one first: a fork may have a branch of that name too. */
  async find(branch: string): Promise<PullState | undefined> {
    const [owner = ""] = this.#repository.fullName.split("/");
    const query = { head: `${owner}:${branch}`, state: "all", sort: "created", direction: "desc" };
    const found = (await allPages(this.#repository, "/pulls", { query, schema: pullsSchema })).map(pullState);
    const ours = found.filter(({ head }) => head.repositoryId === this.#repository.id && head.branch === branch);
    return ours.find(({ state }) => state === "open") ?? ours[0];
  }

  async get(number: number): Promise<PullState | "gone"> {
    const outcome = await this.#repository.get(`/pulls/${number}`);
    if (outcome.kind === "not-found" || outcome.kind === "deleted") return "gone";
    return pullState(dataOf(`pull request #${number}`, outcome));
  }

  /** As a draft, and as an ordinary one where the repository has no drafts. */
  async open({ head, base, title, body }: PullDraft): Promise<PullState | Refused> {
    const found = await this.find(head);
    if (found?.state === "open") return this.describe(found, { title, body, base });
    if (found?.state === "merged") return found;
    const request = { head, base, title: safeTitle(title), body: withOurPart("", safeBody(body)) };
    const drafted = await this.#repository.send("POST", "/pulls", { body: { ...request, draft: true } });
    const outcome =
      drafted.kind === "refused" ? await this.#repository.send("POST", "/pulls", { body: request }) : drafted;
    if (outcome.kind === "refused") {
      // One whose answer was lost may not have been in the list yet.
      const made = await this.find(head);
      return made?.state === "open" ? made : { refused: outcome.reason };
    }
    return pullState(dataOf("opening a pull request", outcome));
  }

  /** Our words in it; those of people stay. Nothing is sent where nothing changes. */
  async describe(
    pull: PullState,
    { title, body, base }: Partial<Pick<PullDraft, "title" | "body" | "base">>,
  ): Promise<PullState | Refused> {
    const wanted = {
      ...(title === undefined ? {} : { title: safeTitle(title) }),
      ...(body === undefined ? {} : { body: withOurPart(pull.body, safeBody(body)) }),
      ...(base === undefined ? {} : { base }),
    };
    const changed = Object.entries(wanted).filter(([name, value]) => pull[name as "title"] !== value);
    if (changed.length === 0) return pull;
    return this.#change(pull, Object.fromEntries(changed));
  }

  /** Gives all that have this branch as base another one; undefined when they have it. */
  async retarget(from: string, to: string): Promise<({ readonly number: number } & Refused) | undefined> {
    const query = { base: from, state: "open" };
    for (const pull of (await allPages(this.#repository, "/pulls", { query, schema: pullsSchema })).map(pullState)) {
      const changed = await this.#change(pull, { base: to });
      if ("refused" in changed) return { number: pull.number, ...changed };
    }
    return undefined;
  }

  async close(pull: PullState): Promise<PullState | Refused> {
    return pull.state === "open" ? this.#change(pull, { state: "closed" }) : pull;
  }

  async markReady(pull: PullState): Promise<PullState | Refused> {
    if (!pull.draft || pull.state !== "open") return pull;
    const outcome = await this.#repository.client.graphql(READY, { input: { pullRequestId: pull.nodeId } });
    if (outcome.kind === "refused") return { refused: outcome.reason };
    dataOf(`marking #${pull.number} as ready`, outcome);
    return { ...pull, draft: false };
  }

  /** Exactly the commit that was reviewed, or nothing. */
  async merge(
    pull: PullState,
    { sha, method }: { readonly sha: string; readonly method: MergeMethod },
  ): Promise<Merged> {
    if (pull.state === "merged") return { kind: "merged", sha: pull.mergeSha ?? "" };
    if (pull.head.sha !== sha) return { kind: "moved-on" };
    const outcome = await this.#repository.send("PUT", `/pulls/${pull.number}/merge`, {
      body: { sha, merge_method: method },
    });
    if (outcome.kind === "ok") return { kind: "merged", sha: (outcome.data as { sha: string }).sha };
    if (outcome.kind !== "refused") throw new CallError(`merging #${pull.number}`, outcome);
    if (outcome.status === CONFLICT) return { kind: "moved-on" };
    return (await this.#enqueue(pull, sha)) ?? { kind: "refused", reason: outcome.reason };
  }

  /** Undefined where the branch has no queue. */
  async #enqueue({ nodeId, number }: PullState, sha: string): Promise<Merged | undefined> {
    const asked = await this.#repository.client.graphql(HAS_QUEUE, { id: nodeId });
    const { node } = dataOf(`looking for a merge queue of #${number}`, asked) as {
      node?: { isMergeQueueEnabled?: boolean; isInMergeQueue?: boolean };
    };
    if (!node?.isMergeQueueEnabled) return undefined;
    if (node.isInMergeQueue) return { kind: "queued" };
    const outcome = await this.#repository.client.graphql(ENQUEUE, {
      input: { pullRequestId: nodeId, expectedHeadOid: sha },
    });
    if (outcome.kind === "refused") return { kind: "refused", reason: outcome.reason };
    dataOf(`queueing #${number}`, outcome);
    return { kind: "queued" };
  }

  async #change({ number }: PullState, body: Readonly<Record<string, unknown>>): Promise<PullState | Refused> {
    const outcome = await this.#repository.send("PATCH", `/pulls/${number}`, { body });
    if (outcome.kind === "refused") return { refused: outcome.reason };
    return pullState(dataOf(`changing #${number}`, outcome));
  }
}

const CONFLICT = 409;
const READY =
  "mutation ($input: MarkPullRequestReadyForReviewInput!) { markPullRequestReadyForReview(input: $input) { pullRequest { isDraft } } }";
const HAS_QUEUE = "query ($id: ID!) { node(id: $id) { ... on PullRequest { isMergeQueueEnabled isInMergeQueue } } }";
const ENQUEUE =
  "mutation ($input: EnqueuePullRequestInput!) { enqueuePullRequest(input: $input) { mergeQueueEntry { state } } }";

function dataOf(what: string, outcome: Outcome): unknown {
  if (outcome.kind === "ok") return outcome.data;
  throw new CallError(what, outcome);
}
