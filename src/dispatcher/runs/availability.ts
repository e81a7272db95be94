import type { ErrorKind } from "../../agents/port.ts";
import type { Budget } from "../../config/config.ts";
import type { StageAgent } from "../../config/presets.ts";

/** Why an agent is not started for a while: its provider, or its program, said no. */
export interface AgentRefusal {
  readonly kind: ErrorKind;
  readonly reason: string;
  /** When the last of them may try it again. */
  readonly until: number;
  /** Refusals in a row, whatever their kinds; each makes the next wait longer. Those that come before a wait is over are one. */
  readonly count: number;
  /** When the first of them came. */
  readonly since: number;
  /** The plans whose runs were refused, two at most. */
  readonly plans: readonly string[];
  /** When each of these may try the agent by what it was told itself; where nothing is kept, at `until`. */
  readonly ends: Readonly<Record<string, number>>;
  /** When other plans may try the agent. */
  readonly othersUntil: number;
  /** When the limit ends, where it is its provider that said so and not our own waits. */
  readonly resetsAt?: number;
}

export interface AgentState {
  readonly running: number;
  readonly refusal?: AgentRefusal;
}

export type Availability =
  | { readonly kind: "free"; readonly agent: StageAgent }
  /** All that could be started run as often as they may. */
  | { readonly kind: "busy"; readonly why: string; readonly until?: number }
  | { readonly kind: "away"; readonly why: string; readonly until: number };

/** Pure: the first agent of a stage that can be started now, or when one can. */
export function chooseAgent(
  agents: readonly StageAgent[],
  states: ReadonlyMap<string, AgentState>,
  { now, planId }: { readonly now: number; readonly planId?: string },
): Availability {
  let busy: string | undefined;
  const away: { name: string; reason: string; until: number }[] = [];
  for (const agent of agents) {
    const { running = 0, refusal } = states.get(agent.name) ?? {};
    const until = refusal ? awayUntil(refusal, planId) : now;
    if (refusal && until > now) away.push({ name: agent.name, reason: refusal.reason, until });
    else if (agent.maxRunning !== undefined && running >= agent.maxRunning) busy ??= agent.name;
    else return { kind: "free", agent };
  }
  const first = away.toSorted((a, b) => a.until - b.until)[0];
  if (busy !== undefined) {
    const why = `waits for ${busy} (agents.${busy}.maxRunning)`;
    return { kind: "busy", why, ...(first === undefined ? {} : { until: first.until }) };
  }
  if (!first) return { kind: "away", why: "no agent is configured", until: Number.POSITIVE_INFINITY };
  const names = away.map(({ name, reason }) => `${name}: ${reason}`).join("; ");
  return { kind: "away", why: names, until: first.until };
}

function awayUntil(refusal: AgentRefusal, planId: string | undefined): number {
  return Math.max(ownEnd(refusal, planId) ?? 0, refusal.othersUntil);
}

function ownEnd({ plans, ends, until }: AgentRefusal, planId: string | undefined): number | undefined {
  const own = plans.find((plan) => plan === planId);
  return own === undefined ? undefined : (ends[own] ?? until);
}

interface Waits {
  readonly firstMs: number;
  readonly longestMs: number;
}

const MINUTE = 60_000;
/** How long an agent is left alone; doubles with each refusal in a row. A provider that says when to come back is obeyed. */
const WAITS: Readonly<Partial<Record<ErrorKind, Waits>>> = {
  "rate-limit": { firstMs: 15_000, longestMs: 15 * MINUTE },
  overloaded: { firstMs: 15_000, longestMs: 10 * MINUTE },
  network: { firstMs: 5000, longestMs: 5 * MINUTE },
  quota: { firstMs: 15 * MINUTE, longestMs: 300 * MINUTE },
  auth: { firstMs: 10 * MINUTE, longestMs: 10 * MINUTE },
};
/** Whatever is said about an agent: it is not left alone by plans that did not hear it themselves for longer without asking once more. */
const MAX_WAIT = 24 * 60 * MINUTE;
const FIRST_WAIT = 15 * MINUTE;
/** A limit that a provider names may be a month's. */
const MAX_NAMED = 31 * 24 * 60 * MINUTE;
/** The least that an agent is left alone for, whatever its provider says. */
const LEAST_WAIT = 15_000;

/** So long other plans leave an agent alone on the word of one plan's run. */
const ALONE_MS = 15_000;

export interface Trouble {
  /** The plan whose run it was; undefined when prloom saw it by itself. */
  readonly planId?: string;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** Whether a run that ended like that was refused by its provider: then it does not count as an attempt. */
export function isRefusal({ kind }: Trouble): boolean {
  return WAITS[kind] !== undefined;
}

/** Pure: what follows from one more refusal. */
export function afterRefusal(
  before: AgentRefusal | undefined,
  trouble: Trouble,
  now: number,
): AgentRefusal | undefined {
  const waits = WAITS[trouble.kind];
  if (!waits) return before;
  // Runs of several plans meet the same limit at once: only an agent that was left alone for its time, and refused again, waits longer.
  const { planId, retryAfterMs } = trouble;
  const isTogether = before !== undefined && now < (ownEnd(before, planId) ?? before.until);
  const count = isTogether ? before.count : (before?.count ?? 0) + 1;
  const wait = Math.min(waitMs(waits, count, retryAfterMs), longestWait(trouble, count));
  const own = retryAfterMs === undefined ? now + wait : endSaidBefore(before, now + wait);
  const earlier = before?.plans ?? [];
  const plans = planId === undefined || earlier.includes(planId) ? earlier : [...earlier, planId].slice(-2);
  const ends = Object.fromEntries(
    plans.map((plan) => [plan, plan === planId ? own : ((before && ownEnd(before, plan)) ?? own)]),
  );
  const until = Math.max(own, ...Object.values(ends));
  // A command that a program runs can print a refusal in the program's name, and end it. It can do so in its own plan
  // only: the others believe it when a second plan was refused too, as far as both go, and till then leave the agent alone for moments.
  const believed =
    plans.length > 1 ? Math.max(before?.until ?? 0, now + waitMs(waits, count, undefined)) : now + ALONE_MS;
  // Two plans may lie as well: once a day another one asks, which costs a limit that is real one refusal and no attempt.
  const othersUntil = planId === undefined ? own : Math.min(own, believed, now + MAX_WAIT);
  const { kind, message: reason } = trouble;
  // After a limit that was waited for, being refused begins anew.
  const since = before?.resetsAt === undefined ? (before?.since ?? now) : now;
  const isNamed = until === own ? retryAfterMs !== undefined && retryAfterMs >= wait : before?.resetsAt === until;
  return { kind, reason, until, count, since, plans, ends, othersUntil, ...(isNamed ? { resetsAt: until } : {}) };
}

/** Several plans are told the same end, each some moments off: it is the latest of these. */
function endSaidBefore(before: AgentRefusal | undefined, end: number): number {
  const said = before?.resetsAt ?? end;
  return said > end && said - end < MINUTE ? said : end;
}

function waitMs({ firstMs, longestMs }: Waits, count: number, namedMs: number | undefined): number {
  const doubled = Math.min(firstMs * 2 ** (count - 1), longestMs);
  if (namedMs === undefined) return doubled;
  // A provider that says when is believed; one that refuses again by then is not asked more and more often.
  return Math.max(count === 1 ? Math.min(doubled, LEAST_WAIT) : doubled, namedMs);
}

/**
 * What a program prints may be forged by what it runs, but for its own plan only: that one waits as long as its provider says.
 * A word that no plan's run said must not stop all plans for a day.
 */
function longestWait({ planId }: Trouble, count: number): number {
  if (planId !== undefined) return MAX_NAMED;
  return count === 1 ? FIRST_WAIT : MAX_WAIT;
}

/** A refusal that lasts longer will not fix itself. */
const PATIENCE = 24 * 60 * MINUTE;

/** Pure: whether only a person can help: time does not fix a login, nor what was refused for a day with no end named. */
export function needsPerson(refusal: AgentRefusal | undefined, now: number): boolean {
  if (refusal === undefined) return false;
  return refusal.kind === "auth" || (refusal.resetsAt === undefined && now - refusal.since > PATIENCE);
}

export interface SpentSum {
  readonly tokens: number;
  readonly usd: number;
  readonly ms: number;
}

export const NOTHING_SPENT: SpentSum = { tokens: 0, usd: 0, ms: 0 };

/** Pure: which part of a budget is used up, in words; undefined when there is still some of each. */
export function overBudget(spent: SpentSum, budget: Budget): string | undefined {
  if (budget.tokens !== undefined && spent.tokens >= budget.tokens)
    return `${spent.tokens} of ${budget.tokens} tokens are used`;
  if (budget.usd !== undefined && spent.usd >= budget.usd)
    return `$${spent.usd.toFixed(2)} of $${budget.usd.toFixed(2)} are spent`;
  if (budget.minutes !== undefined && spent.ms >= budget.minutes * MINUTE)
    return `${Math.floor(spent.ms / MINUTE)} of ${budget.minutes} minutes are used`;
  return undefined;
}

/** The day of a moment where this machine is, as `2026-11-15`. */
export function dayOf(now: number): string {
  const date = new Date(now);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** When the day after `now` begins. */
export function nextDay(now: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
}
