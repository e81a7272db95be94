import type { BuiltinBridge, DeliveryResult } from "../../bridges/contract.ts";
import { type RawUpsert, sourceOf } from "../../bridges/core/upsert.ts";
import type { InternalDelivery } from "../../bridges/outbox/deliver.ts";
import type { Routed } from "../../bridges/outbox/outbox.ts";
import { CORE_TARGET } from "../../bus/names.ts";
import { type Action, scopeOf } from "../../bus/types.ts";
import type { PluginAction } from "../../hooks/contexts/event-types.ts";
import { checkUpsert, routeAction } from "../../hooks/route.ts";
import type { HookScope } from "../../hooks/services.ts";
import { isoTime } from "../../kernel/clock.ts";
import { type PlanRecord, planSourceSchema } from "../../plan/record.ts";
import { countComment } from "../at-github/comment-rate.ts";
import type { Publishing, Reporting, Stopping, Timing, Waking } from "../capabilities.ts";
import type { Located } from "../paths.ts";
import { claimFor, oneByOne } from "../publishing/claims.ts";
import { NO_FORKS } from "../publishing/push-refusals.ts";
import { blockPlan, type Records, updateRecord } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Bridging } from "./bridging.ts";
import { type Extended, withHook } from "./extensions.ts";
import { refusalOf } from "./rights.ts";
import { isBusy, keepProposal, type Upserted, type Upserting } from "./upsert.ts";
import { UpsertBatches } from "./upsert-batches.ts";

/** Where an action goes: rights first, which no plugin can change, then beforeRoute of the global plugins. */
export function routeOn(
  loom: Located & Configured & Records & Extended & Reporting,
  scope: HookScope,
  action: Action,
): Promise<Routed> | Routed {
  const refusal = refusalOf(action) ?? nowhere(loom, scope.planId, action);
  if (refusal !== undefined) {
    if (action.payload.type === "upsert_plan") propose(loom, action);
    loom.report({ ...scopeOf(scope.planId), level: "warn", text: `not delivered: ${refusal}` });
    return { kind: "refused", reason: refusal };
  }
  const unsaid = tooMany(loom, scope.planId, action);
  if (unsaid !== undefined) return { kind: "unsaid", reason: unsaid };
  const plugins = withHook(loom.extensions.globalPlugins, "beforeRoute");
  if (plugins.length === 0) return { kind: "deliver", target: action.target };
  return routeAction(loom.hookServices, scope, { plugins, action });
}

/** Why something is not said at the issue of a plan, where that is gone. Each would be a dead letter else, and no retry helps. */
function nowhere({ store }: Records, planId: string | undefined, { target: { token } }: Action): string | undefined {
  const { issueGone, source } = (planId === undefined ? undefined : store.byId(planId)) ?? {};
  return issueGone === undefined || token !== source?.id ? undefined : `its issue ${issueGone}`;
}

/** Blocks a plan that says more on GitHub than it may, or than all may together; returns why this is not said. */
function tooMany(
  loom: Configured & Records & Extended & Reporting,
  planId: string | undefined,
  action: Action,
): string | undefined {
  const isThere = loom.extensions.registry.byTarget(action.target.target)?.name === "github";
  const record = planId === undefined || !isThere ? undefined : loom.store.byId(planId);
  if (planId === undefined || !record || record.deleted) return undefined;
  const { comments: before = [] } = record;
  const others = () => commentsOfOthers(loom, planId);
  const most = loom.config.limits.commentsPerHour;
  const counted = countComment(before, action, { now: loom.clock.now(), most, others });
  if ("made" in counted) {
    // On record before it goes out.
    if (counted.made !== before) updateRecord(loom, planId, () => ({ comments: counted.made }));
    return undefined;
  }
  const { why, hint } = OVER[counted.over];
  const reason = why(counted.most);
  const room = isoTime(counted.roomAt);
  if (!record.blocked && record.status !== "done")
    blockPlan(loom, planId, { reason, hint: hint(planId, action.id, room), cause: "step" });
  return reason;
}

function commentsOfOthers({ store }: Records, planId: string): NonNullable<PlanRecord["comments"]>[] {
  const { records } = store.list();
  return records.flatMap(({ id, comments }) => (id === planId || !comments ? [] : [comments]));
}

const OVER = {
  plan: {
    why: (most: number) => `It made ${most} new comments in an hour, and would make more (limits.commentsPerHour).`,
    hint: (planId: string, action: string) =>
      `See in its threads who it talks to; \`prloom unblock ${planId}\` goes on, and \`prloom retry ${action}\` says what was not said.`,
  },
  token: {
    why: (most: number) =>
      `All plans together made ${most} new comments in an hour, which is as many as prloom makes with one token, and it would make more.`,
    hint: (planId: string, action: string, room: string) =>
      `See in their threads who they talk to; there is room from ${room} on: then \`prloom unblock ${planId}\`, and \`prloom retry ${action}\` says what was not said.`,
  },
};

/** An upsert by an author who may not write, onto a plan that is not done, is kept for people as one proposal. */
function propose(loom: Located & Records, action: Action): void {
  if (action.payload.type !== "upsert_plan" || action.payload.planMarkdown === undefined) return;
  const record = planOfSource(loom, action.payload.source);
  if (!record || record.status === "done") return;
  const by = action.author?.login ?? "unknown";
  keepProposal(loom, record, { by, text: action.payload.planMarkdown, at: isoTime(loom.clock.now()) });
}

/** What it takes to make plans. */
type Made = Upserting & Extended & Bridging & Publishing;

/** prloom-core as the outbox of one bus sees it: beforeUpsert, then the plan. */
export function coreBridge(loom: Made & Waking & Stopping, scope: HookScope): BuiltinBridge {
  const batches = new UpsertBatches(loom);
  return {
    name: CORE_TARGET,
    targets: [CORE_TARGET],
    actions: (_ctx, action) => upsertAndWake(loom, scope, { action, batches }) as Promise<DeliveryResult>,
  };
}

/** Upserts that are made together, where no hook is asked about them: then one waits for nothing but the disk. */
const MAX_UPSERTS = 100;

/** How many upserts may be under way, where it is not the usual number of calls. */
export function upsertsAtOnce({ extensions }: Extended): number | undefined {
  return withHook(extensions.globalPlugins, "beforeUpsert").length === 0 ? MAX_UPSERTS : undefined;
}

/** Whatever came of it: a plan that let it go first goes on now. */
async function upsertAndWake(
  loom: Made & Waking,
  scope: HookScope,
  { action, batches }: Pick<Upsert, "action" | "batches">,
): Promise<InternalDelivery> {
  const concerned = new Set<string>();
  for (const [planId, waiting] of loom.upsertsWaiting) if (waiting.has(action.id)) concerned.add(planId);
  const { payload } = action;
  const plan = payload.type === "upsert_plan" ? planOfSource(loom, payload.source) : undefined;
  if (plan) concerned.add(plan.id);
  try {
    return await upsert(loom, scope, { action, batches, concerned });
  } finally {
    for (const planId of concerned) loom.wake(planId);
  }
}

interface Upsert {
  readonly action: PluginAction;
  readonly batches: UpsertBatches;
  /** Plans that it is about; a plugin may have given it another source. */
  readonly concerned: Set<string>;
}

function planOfSource(loom: Records, given: unknown): PlanRecord | undefined {
  const source = planSourceSchema.safeParse(given);
  const record = source.success ? loom.store.bySource(source.data) : undefined;
  return record?.deleted ? undefined : record;
}

async function upsert(loom: Made, scope: HookScope, { action, batches, concerned }: Upsert): Promise<InternalDelivery> {
  const { payload } = action;
  if (payload.type !== "upsert_plan") return refused(`prloom-core takes upsert_plan only, not "${payload.type}"`);
  const busy = busyPlan(loom, payload.source);
  // Asked before the hooks, so that they are called once and not at every look at a plan that is being worked on.
  if (busy !== undefined) return later(loom, busy, action.id);
  const plugins = withHook(loom.extensions.globalPlugins, "beforeUpsert");
  const checked = await checkUpsert(loom.hookServices, scope, { plugins, action });
  if (checked.kind === "waiting") return { later: { reason: "beforeUpsert waits", until: checked.until } };
  if (checked.kind === "rejected") {
    const text = `upsert rejected by ${checked.by}: ${checked.reason}`;
    loom.report({ ...scopeOf(scope.planId), level: "warn", text });
    return { success: true };
  }
  if (checked.kind === "dead") return refused(`beforeUpsert of ${checked.by} gave up: ${checked.reason}`);
  const done = await claimedFirst(loom, checked.payload, () => batches.upsert(checked.payload));
  if ("later" in done) return done;
  if (done.kind === "refused") return refused(done.reason);
  if (done.kind === "none") return { success: true };
  if (done.kind === "brought") return { later: { reason: done.reason, until: loom.clock.now() + BROUGHT_WAIT_MS } };
  concerned.add(done.planId);
  if (done.kind === "busy") return later(loom, done.planId, action.id);
  if (done.kind !== "unchanged") {
    loom.report({ planId: done.planId, level: "info", text: `${done.kind} by ${sourceName(payload.source)}` });
  }
  return { success: true };
}

const NONE = { kind: "none" } as const;
const CLAIM_WAIT_MS = 30_000;
const CLAIM_HINT = "the token has to push to refs/prloom/claims; `github.claim: false` makes plans without it";

/** Makes a plan once its source is claimed. One that is there already was made with its claim. */
async function claimedFirst(
  loom: Made,
  payload: RawUpsert,
  make: () => Promise<Upserted>,
): Promise<Upserted | Extract<InternalDelivery, { later: unknown }>> {
  const source = sourceOf(payload);
  const record = planOfSource(loom, source);
  const isMade = record ? record.status === "done" : payload.create !== false;
  if (!source || !isMade) return make();
  return oneByOne(loom, source, async () => {
    const claimed = await claimFor(loom, source);
    if (claimed.kind === "ours") return make();
    if (claimed.kind === "theirs") {
      const { name, by, at } = claimed.claim;
      const since = at === "" ? "" : ` since ${at}`;
      loom.report({ level: "warn", text: `no plan is made of ${name}: it is claimed by ${by}${since}` });
      return NONE;
    }
    if (claimed.kind === "refused") {
      const hint = claimed.mayNotWrite ? NO_FORKS : CLAIM_HINT;
      return { kind: "refused", reason: `${claimed.reason} (${hint})` };
    }
    const { reason, retryAfterMs = CLAIM_WAIT_MS } = claimed;
    return { later: { reason, until: loom.clock.now() + retryAfterMs } };
  });
}

/** Nothing tells when another branch is checked out. */
const BROUGHT_WAIT_MS = 30_000;

function sourceName(source: { system?: string; kind?: string; id?: string }): string {
  return `${source.system} ${source.kind} ${source.id}`;
}

function refused(error: string): InternalDelivery {
  return { success: false, error, retryable: false };
}

function busyPlan(loom: Records & AtWork, given: unknown): string | undefined {
  const record = planOfSource(loom, given);
  return record && isBusy(loom, record) ? record.id : undefined;
}

/** Merged at the run's end. The wait is only for a lost wake-up: the plan itself calls when it is free. */
const BUSY_WAIT_MS = 60_000;

function later(loom: Timing & Bridging, planId: string, id: string): InternalDelivery {
  const waiting = loom.upsertsWaiting.get(planId) ?? new Set();
  loom.upsertsWaiting.set(planId, waiting.add(id));
  return { later: { reason: `${planId} is being worked on`, until: loom.clock.now() + BUSY_WAIT_MS } };
}
