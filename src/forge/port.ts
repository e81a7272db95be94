/** What a change request is made from. */
export interface ChangeRequestDraft {
  readonly planId: string;
  readonly head: string;
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

/** Where change requests live. Every call looks before it acts, so a repeated one changes nothing. */
export interface Forge {
  readonly name: string;
  /** Makes the branch visible to reviewers; a forge without a server has nothing to do. */
  publish(branch: string): Promise<void>;
  /** The change request of a head branch, if there is one. */
  find(planId: string, head: string): Promise<ChangeRequestState | undefined>;
  /** Opens it as a draft; the existing one when the head branch has one. */
  open(draft: ChangeRequestDraft): Promise<ChangeRequestState>;
  /** Leaves one that is closed or merged as it is. */
  markReady(planId: string, draft: ChangeRequestDraft): Promise<ChangeRequestState>;
  /** Ends it; undefined when there is none. One that was merged stays merged, one that was closed can still be merged. */
  close(planId: string, state: "merged" | "closed"): Promise<ChangeRequestState | undefined>;
}
