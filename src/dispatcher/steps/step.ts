import type { Door } from "../../gate/gate-record.ts";
import type { WorktreeHealth } from "../../git/worktree/worktrees.ts";
import type { PlanDoc, Todo } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Posting } from "../gates/posting.ts";
import type { WishedConfig } from "../settings/plan-config.ts";
import type { Place } from "./places.ts";

/** The state of the run that the record names. */
export type RunState =
  /** The record names no run, or one that was never started. */
  | "none"
  | "live"
  /** Its shim wrote an exit. */
  | "ended"
  /** Started, no exit, and no process of ours: the dispatcher or the machine died. */
  | "interrupted";

export type Dependencies =
  | { kind: "met" }
  | { kind: "waiting"; for: string[]; until?: "merged" | "in review" }
  | { kind: "failed"; reason: string };

export type AgentView =
  | { readonly kind: "free" }
  /** As many run as may; one that ends makes room. */
  | { readonly kind: "busy"; readonly why: string; readonly until?: number }
  /** Refused by their providers, or no money is left today. */
  | { readonly kind: "away"; readonly why: string; readonly until: number }
  | { readonly kind: "budget-spent"; readonly reason: string };

/** Everything `decide` looks at, as plain data. */
export interface PlanView {
  readonly record: PlanRecord;
  /** Undefined when the plan has no text, or none that can be read. */
  readonly doc: PlanDoc | undefined;
  readonly run: RunState;
  /** Processes of an earlier run may be alive, or its worktree may not be what it was. */
  readonly unrecovered?: true;
  readonly config: WishedConfig;
  readonly dependencies: Dependencies;
  readonly worktree: WorktreeHealth;
  /** A plugin's agent works in the plan's worktree. */
  readonly hookAgent: boolean;
  /** An agent implements the plan at this moment. */
  readonly implementing?: true;
  /** A person or a bridge has its branch merged at this moment. */
  readonly merging?: true;
  /** A person has it open (`prloom open`), or had until that process died without closing it. */
  readonly opened?: "held" | "left";
  /** Events that plugins have still to see, and events that wait for triage; `gatherUntil`: more of a review may come until then. */
  readonly bus: { fresh: number; pending: string[]; gatherUntil?: number };
  readonly change: "none" | "open" | "merged" | "closed";
  /** Its branch is to get what its base has. */
  readonly behind?: true;
  /** Where the branch stands; only with `review: end`, and only if that can be told without asking git. */
  readonly head?: string;
  readonly slots: { agent: boolean; open: boolean };
  /** Whether an agent of the stage that is due can be started, and whether there is anything left to spend. */
  readonly agent: AgentView;
  /** Whether it may be implemented. */
  readonly door: Door;
  /** Whether its change request may be marked ready, and merged. */
  readonly prDoor: Door;
  /** Its approval was taken back. */
  readonly withdrawn?: true;
  /** Something became of its gate that the thread was not told. */
  readonly untold?: true;
  /** Its gate is told, and not there to be seen yet. */
  readonly posting?: Posting;
  /** It waits at a gate that was switched off since. */
  readonly unasked?: true;
  readonly remindAfterMs: number;
  readonly cleanAfterMs: number;
  /** An earlier step of this plan failed: not before this time. */
  readonly retryAt?: number;
}

/** The smallest thing the dispatcher performs. Each looks before it acts, so doing one twice does it once. */
export type Step =
  | { readonly kind: "wait"; readonly why: string; readonly until?: number; readonly slot?: Place }
  | { readonly kind: "block"; readonly reason: string; readonly hint: string }
  | { readonly kind: "close-opened" }
  | { readonly kind: "call-plugins" }
  | { readonly kind: "activate" }
  | { readonly kind: "restore-worktree" }
  | { readonly kind: "clear-inbox" }
  | { readonly kind: "open-gate" }
  | { readonly kind: "tell-gate" }
  | { readonly kind: "gate-posted" }
  | { readonly kind: "give-up-gate"; readonly reason: string; readonly bridge?: string | undefined }
  | { readonly kind: "drop-gate" }
  | { readonly kind: "remind-of-gate" }
  | { readonly kind: "expire-gate" }
  | { readonly kind: "stop-run" }
  | { readonly kind: "stop-opened" }
  | { readonly kind: "begin-todo"; readonly todo: Todo }
  | { readonly kind: "begin-side"; readonly stage: "designer" | "triage" | "reviewer" }
  | { readonly kind: "drop-todo" }
  | { readonly kind: "rebase" }
  | { readonly kind: "catch-up" }
  | { readonly kind: "start-run" }
  | { readonly kind: "recover-run" }
  | { readonly kind: "verify" }
  | { readonly kind: "commit" }
  | { readonly kind: "tick" }
  | { readonly kind: "publish" }
  | { readonly kind: "settle-side" }
  | { readonly kind: "finish" }
  | { readonly kind: "mark-ready" }
  | { readonly kind: "reopen" }
  | { readonly kind: "end-plan"; readonly outcome: "merged" | "closed" }
  | { readonly kind: "clean-worktree" };
