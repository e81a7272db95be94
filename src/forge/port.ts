import type { MergeMethod } from "../git/merge-method.ts";
import type { ClaimHow, ClaimOutcome, CloneClaim } from "../git/remote/claim.ts";
import type { FetchOutcome } from "../git/remote/fetch.ts";
import type { Pushed, PushOutcome } from "../git/remote/push.ts";
import type { PlanSource } from "../plan/plan-types.ts";

/** What a change request is made from. */
export interface ChangeRequestDraft {
  readonly planId: string;
  readonly head: string;
  /** The commit that the branch is at. */
  readonly sha?: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
}

export interface ChangeRequestState {
  readonly ref: string;
  readonly state: "open" | "merged" | "closed";
  readonly ready: boolean;
  readonly url?: string;
}

/** Where change requests live. */
export type Forge = LocalForge | { readonly name: "github"; server(): Promise<ServerForge> };

/** Change requests on this machine: its calls are part of the steps. Every call looks before it acts, so a repeated one changes nothing. */
export interface LocalForge {
  readonly name: "local";
  /** The change request of a head branch, if there is one. */
  find(planId: string, head: string): Promise<ChangeRequestState | undefined>;
  /** Opens it as a draft; the existing one when the head branch has one. */
  open(draft: ChangeRequestDraft): Promise<ChangeRequestState>;
  /** Leaves one that is closed or merged as it is. */
  markReady(planId: string, draft: ChangeRequestDraft): Promise<ChangeRequestState>;
  /** Ends it; undefined when there is none. One that was merged stays merged, one that was closed can still be merged. */
  close(planId: string, state: "merged" | "closed"): Promise<ChangeRequestState | undefined>;
}

/** What a change request is to say. Without a title or a base it keeps the one it has. */
export type Described = Omit<ChangeRequestDraft, "title" | "base"> &
  Partial<Pick<ChangeRequestDraft, "title" | "base">>;

/** What GitHub, or another server, said no to; it would say so again. */
export interface Refused {
  readonly refused: string;
}

/** A change request as its server tells it. */
export interface ServerChange extends ChangeRequestState {
  readonly url: string;
  /** The commit that it is at there, and the branch that it is for. */
  readonly head: string;
  readonly base: string;
  /** Of a merged one: the commit on its base. */
  readonly mergeSha?: string;
  /** Whether it needs what its base got since; undefined: that is not known now. */
  readonly needs?: "nothing" | NeedsBase;
  /** It is open, and in no merge queue; undefined: that was not asked. */
  readonly unqueued?: true;
}

/** A rule asks for what base got, or the two conflict. */
export type NeedsBase = "behind" | "conflict";

export interface AskedServerMerge {
  /** What was reviewed: nothing else is merged. */
  readonly sha: string;
  /** The branch that it is to be merged into: a person, or an outage, may have left it with another. */
  readonly base: string;
  readonly method?: MergeMethod | undefined;
  /** Whatever its checks say, as far as the server lets it. */
  readonly force?: boolean;
  /** Called right before the server is told to: throws where it is not wanted any more. */
  readonly confirm?: (() => void) | undefined;
  /** Called right before it is merged, when nothing that is known speaks against that. */
  readonly before?: () => Promise<void>;
}

export type ServerMerge =
  /** `head`: the commit that was merged, which is another one where a person has merged it before. */
  | { readonly kind: "merged"; readonly sha: string; readonly head: string; readonly method?: MergeMethod }
  /** The server merges it when its turn comes. */
  | { readonly kind: "queued" }
  /** The head is another one than what was reviewed. */
  | { readonly kind: "moved-on" }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Change requests on a server. What cannot be found out or done now throws, perhaps with `retryAfterMs`; what is refused is an answer. Every change
 * looks before it acts.
 */
export interface ServerForge {
  /** What time it is there, in milliseconds. */
  now(): number;
  push(pushed: Pushed): Promise<PushOutcome>;
  /** Brings the commits of a branch here. */
  fetch(branch: string): Promise<FetchOutcome>;
  /** Opens it as a draft; the existing one when the head branch has one that is open, or was merged at this commit. */
  open(draft: ChangeRequestDraft): Promise<ServerChange | Refused>;
  /** Our part of the body, and the base and the title where they are given; marks it ready where that is asked for. */
  describe(ref: string, draft: Described, ready: boolean): Promise<ServerChange | Refused>;
  /** Makes it a draft again, and takes it out of what merges it by itself. */
  takeBack(ref: string): Promise<ServerChange | Refused>;
  look(ref: string): Promise<ServerChange | "gone">;
  /** Whether a person has reviewed it: what they said has its place in the commits as they are. */
  isReviewed(ref: string): Promise<boolean>;
  merge(ref: string, asked: AskedServerMerge): Promise<ServerMerge>;
  close(ref: string): Promise<ServerChange | Refused>;
  /** Only if it is still at this commit. Change requests that have it as base get `instead`, or they would be closed for good. */
  deleteBranch(branch: string, expected: { readonly sha: string; readonly instead: string }): Promise<void>;
  /** Says that one clone makes the plan of a source, and what people call the source; undefined where it is none of this server. */
  claim(
    source: PlanSource,
    claim: CloneClaim,
    how: ClaimHow,
  ): Promise<(ClaimOutcome & { readonly name: string }) | undefined>;
  /** Takes that back, unless another clone has claimed it since. */
  release(source: PlanSource, claimer: string): Promise<void>;
}
