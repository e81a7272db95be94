import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../kernel/clock.ts";
import type { PlanSummary } from "../plan/summary.ts";
import type { AgentOptions, PlanContent, PlanQuery } from "./contexts/context-types.ts";
import type { Awaitable } from "./contexts/hook-types.ts";
import type { StateStores } from "./state/state-stores.ts";

/** A line for people: what a plugin said, or how a call ended. */
export interface HookReport {
  readonly planId?: string;
  readonly level: "info" | "warn" | "bad";
  readonly text: string;
}

/** What hooks need of the dispatcher. */
export interface HookServices {
  /** Top of the main working tree. */
  readonly repoRoot: string;
  readonly clock: Clock;
  readonly stores: StateStores;
  /** How long a call may take. */
  timeoutMs(): number;
  /** Aborted when the dispatcher stops. */
  readonly stopSignal: AbortSignal;
  readPlan(planId: string): Awaitable<PlanContent | undefined>;
  listPlans(query: PlanQuery): Awaitable<PlanSummary[]>;
  runAgent(planId: string, prompt: string, options: AgentOptions & { readonly signal: AbortSignal }): Promise<string>;
  report(report: HookReport): void;
  /** Keeps where something was thrown, for the author of the plugin; the file that it is in. Undefined where nothing is known. */
  keepStack?(what: string, error: unknown): string | undefined;
  /** Tells the watchdog which call is under way, and when it is over. */
  entering(label: string): unknown;
  left(token: unknown): void;
}

/** The bus that a record lies on, and the plan that it belongs to. */
export interface HookScope {
  readonly bus: Bus;
  /** Absent: the global bus. */
  readonly planId?: string;
  readonly plan?: { readonly worktree?: string; readonly changeRequestRef?: string };
}
