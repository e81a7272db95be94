import type { Bus } from "../bus/bus.ts";
import type { RetryLimits } from "../bus/limits.ts";
import { scopeOf } from "../bus/types.ts";
import type { PlanContent, PlanQuery, PluginLog } from "../hooks/contexts/context-types.ts";
import type { Awaitable } from "../hooks/contexts/hook-types.ts";
import type { Clock } from "../kernel/clock.ts";
import { PrloomError } from "../kernel/errors.ts";
import type { JsonValue } from "../kernel/json.ts";
import type { PlanSource } from "../plan/plan-types.ts";
import type { PlanSummary } from "../plan/summary.ts";
import type { BridgeContext } from "./contract.ts";
import type { LoadedBridge } from "./load.ts";

/** Whose state a bridge's cursor is: of its work for one plan, or for the repository. */
export interface BridgeStateRef {
  readonly kind: "bridge";
  readonly planId?: string;
  readonly name: string;
}

/** A plan as a bridge names it. */
export type PlanName = { readonly id: string } | { readonly source: PlanSource };

/** What the bridges need of the program around them. */
export interface BridgeServices {
  readonly repoRoot: string;
  readonly clock: Clock;
  /** What settlements said last about a bridge: `state` and `seq`. */
  readonly stores: { read(ref: BridgeStateRef): Readonly<Record<string, JsonValue | undefined>> };
  bridgeTimeoutMs(): number;
  /** How long an action that does not get through is tried. */
  maxAgeMs(): number;
  /** How long to wait between tries. */
  retryLimits(): RetryLimits;
  /** Aborted when the dispatcher stops: calls under way are told, and no new one is begun. */
  readonly stopSignal: AbortSignal;
  /** The id of a plan; undefined when there is none, or it was deleted. */
  findPlan(name: PlanName): string | undefined;
  planBus(planId: string): Bus;
  /** There is something new on the bus of a plan. */
  wakePlan(planId: string): void;
  readPlan(planId: string): Awaitable<PlanContent | undefined>;
  listPlans(query?: PlanQuery): Awaitable<PlanSummary[]>;
  planFacts(planId: string): { readonly worktree?: string; readonly changeRequestRef?: string };
  report(line: { readonly planId?: string; readonly level: "info" | "warn" | "bad"; readonly text: string }): void;
  /** Tell the watchdog whose code is running: only its synchronous part can block the loop. */
  entering(label: string): unknown;
  left(token: unknown): void;
}

/** The bus that a bridge works for, and whose it is. */
export interface BridgeScope {
  readonly bus: Bus;
  /** Absent: the repository's own bus. */
  readonly planId?: string;
}

export interface ContextOptions {
  readonly loaded: LoadedBridge;
  readonly planId: string | undefined;
  readonly signal: AbortSignal;
}

/** What a bridge gets with one call. Global bridges are told of no plan, whichever bus they work for. */
export function bridgeContext(services: BridgeServices, { loaded, planId, signal }: ContextOptions): BridgeContext {
  const own = loaded.kind === "global" ? undefined : planId;
  const facts = own === undefined ? {} : services.planFacts(own);
  return {
    repoRoot: services.repoRoot,
    signal,
    log: logOf(services, loaded.name, planId),
    config: loaded.config,
    ...scopeOf(own),
    ...(facts.worktree === undefined ? {} : { worktree: facts.worktree }),
    ...(facts.changeRequestRef === undefined ? {} : { changeRequestRef: facts.changeRequestRef }),
    readPlan: async (id: unknown) => services.readPlan(requirePlanId(id)),
    listPlans: async (query) => services.listPlans(query),
  };
}

/** JavaScript authors have no compiler that tells them. */
function requirePlanId(id: unknown): string {
  if (typeof id === "string" && id !== "") return id;
  const given = id === undefined ? "left out" : `a value of type ${typeof id}`;
  throw new PrloomError(
    "usage",
    `readPlan(planId) of a bridge needs the parameter planId; it was ${given}.`,
    "Write readPlan(ctx.planId) for the plan that a plan's bridge is called for, or take an id from listPlans().",
  );
}

function logOf(services: BridgeServices, name: string, planId: string | undefined): PluginLog {
  const at = (level: "info" | "warn" | "bad") => (text: string) =>
    services.report({ ...scopeOf(planId), level, text: `${name}: ${text}` });
  return { info: at("info"), warn: at("warn"), error: at("bad") };
}
