import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { ENCLOSURE_LEVELS, type EnclosureLevel } from "../../agents/enclosure-level.ts";
import { ERROR_KINDS } from "../../agents/port.ts";
import type { StageAgent } from "../../config/presets.ts";
import { type Clock, isoTime, timerMs } from "../../kernel/clock.ts";
import { errnoOf, PrloomError } from "../../kernel/errors.ts";
import { ensureDir, readTextIfExists, writeRunFile } from "../../kernel/files.ts";
import { PARSED_ONCE } from "../../kernel/json.ts";
import { asFields, isFields, ownJsonIn } from "../../kernel/json-fields.ts";
import { appendOwn } from "../../kernel/own-file.ts";
import type { Paths } from "../paths.ts";
import {
  type AgentRefusal,
  type AgentState,
  type Availability,
  afterRefusal,
  chooseAgent,
  dayOf,
  NOTHING_SPENT,
  needsPerson,
  type SpentSum,
  type Trouble,
} from "./availability.ts";

/** What is known about the agents of all plans: who is at work, who was refused, and what today cost. */
export interface AgentPool {
  choose(agents: readonly StageAgent[], planId: string): Availability;
  /** An agent has begun; to be called with what is returned when it has ended. */
  started(name: string): () => void;
  /** Agents that run or are about to, plugins' own included. */
  atWork(): number;
  /** Resolves when another agent may be free, or at a time; rejects with the signal. */
  changed(until: number | undefined, signal: AbortSignal): Promise<void>;
  /** Limits may be others now. */
  limitsChanged(): void;
  refused(name: string, trouble: Trouble): AgentRefusal | undefined;
  /** Whether only a person can help each of these agents. */
  needsPerson(agents: readonly StageAgent[]): boolean;
  /** A run of it has come to its end without a refusal: earlier ones count no longer. */
  answered(name: string): void;
  /** A person says that what was wrong is fixed: every agent may be tried again. */
  forgive(): void;
  /** Told when refusals count no longer: plans that were to wait for their end need not. */
  onFreed(listener: () => void): void;
  /** What a run that goes on has spent so far; `spend` takes its place. */
  spending(key: string, spent: SpentSum): void;
  /** Counts what a run spent, once, however often it is asked to. */
  spend(key: string, spent: SpentSum): void;
  /** What today cost, with what runs at work have spent so far. */
  today(): SpentSum;
  /** How runs are enclosed on this machine, for `prloom status`. */
  enclosed(level: EnclosureLevel, why?: string): void;
}

export interface Pooled {
  readonly pool: AgentPool;
}

export function agentPoolFile(paths: Paths): string {
  return join(paths.authority, "agents.json");
}

const agentPoolSchema = z.object({
  schemaVersion: z.literal(1),
  level: z.enum(ENCLOSURE_LEVELS).optional(),
  why: z.string().optional(),
  agents: z.record(
    z.string(),
    z.object({
      kind: z.enum(ERROR_KINDS),
      reason: z.string(),
      until: z.iso.datetime(),
      count: z.int(),
      since: z.iso.datetime(),
      plans: z.array(z.string()).default([]),
      ends: z.record(z.string(), z.iso.datetime()).default({}),
      othersUntil: z.iso.datetime().optional(),
      resetsAt: z.iso.datetime().exactOptional(),
    }),
  ),
  today: z.object({ day: z.string(), tokens: z.number(), usd: z.number(), ms: z.number() }),
});
export type AgentPoolFile = z.infer<typeof agentPoolSchema>;

/** Mostly no agent was refused, and the rest is checked by hand: `status` need not load the schema library for it. */
function poolIn(value: unknown): AgentPoolFile | undefined {
  const { schemaVersion, level, why, agents, today } = asFields(value);
  const { day, ...spent } = asFields(today);
  const isPlain =
    schemaVersion === 1 &&
    (level === undefined || ENCLOSURE_LEVELS.some((one) => one === level)) &&
    (why === undefined || typeof why === "string") &&
    typeof day === "string" &&
    [spent.tokens, spent.usd, spent.ms].every((sum) => Number.isFinite(sum));
  if (isPlain && isFields(agents) && Object.keys(agents).length === 0) return value as AgentPoolFile;
  return agentPoolSchema.safeParse(value, PARSED_ONCE).data;
}

/** The pool as it was left; undefined when there is none that can be read. It can be rebuilt, so nothing is lost. */
export function readAgentPool(paths: Paths): AgentPoolFile | undefined {
  try {
    return poolIn(JSON.parse(readTextIfExists(agentPoolFile(paths)) ?? "null"));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof PrloomError) return undefined;
    throw error;
  }
}

function writeAgentPool(paths: Paths, file: AgentPoolFile): void {
  try {
    ensureDir(paths.authority);
    writeRunFile(agentPoolFile(paths), `${JSON.stringify(file, null, 2)}\n`);
  } catch (error) {
    // Only people read it, and a full disk is told by everything else; the next change writes it whole.
    if (!(error instanceof PrloomError) && errnoOf(error) === undefined) throw error;
  }
}

const spendingSchema = z.object({ key: z.string(), tokens: z.number(), usd: z.number(), ms: z.number() });

/** The runs of one day and what they spent; the first line about a run counts. */
class SpendingLedger {
  readonly #dir: string;
  #day = "";
  readonly #keys = new Set<string>();
  #sum = NOTHING_SPENT;

  constructor(authority: string) {
    this.#dir = join(authority, "spending");
  }

  sum(day: string): SpentSum {
    this.#turnTo(day);
    return this.#sum;
  }

  add(day: string, key: string, spent: SpentSum): void {
    this.#turnTo(day);
    if (this.#keys.has(key)) return;
    ensureDir(this.#dir);
    appendOwn(this.#file(), `\n${JSON.stringify({ key, ...spent })}\n`);
    this.#take(key, spent);
  }

  #file(): string {
    return join(this.#dir, `${this.#day}.jsonl`);
  }

  #take(key: string, spent: SpentSum): void {
    this.#keys.add(key);
    this.#sum = plus(this.#sum, spent);
  }

  #turnTo(day: string): void {
    if (this.#day === day) return;
    this.#day = day;
    this.#keys.clear();
    this.#sum = NOTHING_SPENT;
    for (const line of (readTextIfExists(this.#file()) ?? "").split("\n")) {
      // One that a kill has torn is counted again from the record of its plan.
      const entry = spendingSchema.safeParse(ownJsonIn(line)).data;
      if (entry && !this.#keys.has(entry.key)) this.#take(entry.key, entry);
    }
  }
}

type KeptRefusal = AgentPoolFile["agents"][string];

function readRefusal({ until, since, othersUntil = until, ends, resetsAt, ...rest }: KeptRefusal): AgentRefusal {
  const times = { until: Date.parse(until), since: Date.parse(since), othersUntil: Date.parse(othersUntil) };
  const own = Object.fromEntries(Object.entries(ends).map(([plan, end]) => [plan, Date.parse(end)]));
  return { ...rest, ...times, ends: own, ...(resetsAt === undefined ? {} : { resetsAt: Date.parse(resetsAt) }) };
}

function writtenRefusal({ until, since, othersUntil, ends, resetsAt, plans, ...rest }: AgentRefusal): KeptRefusal {
  const times = { until: isoTime(until), since: isoTime(since), othersUntil: isoTime(othersUntil) };
  const own = Object.fromEntries(Object.entries(ends).map(([plan, end]) => [plan, isoTime(end)]));
  return {
    ...rest,
    plans: [...plans],
    ends: own,
    ...times,
    ...(resetsAt === undefined ? {} : { resetsAt: isoTime(resetsAt) }),
  };
}

export function openAgentPool(paths: Paths, clock: Clock, readOnly: boolean): AgentPool {
  const before = readAgentPool(paths);
  const ledger = new SpendingLedger(paths.authority);
  const running = new Map<string, number>();
  const changes = new EventEmitter().setMaxListeners(0);
  const refusals = new Map<string, AgentRefusal>(
    Object.entries(before?.agents ?? {}).map(([name, kept]) => [name, readRefusal(kept)]),
  );
  let level: Pick<AgentPoolFile, "level" | "why"> = {};
  const atWork = new Map<string, SpentSum>();
  const today = (): SpentSum => [...atWork.values()].reduce(plus, ledger.sum(dayOf(clock.now())));
  const write = (): void => {
    if (readOnly) return;
    const agents = Object.fromEntries([...refusals].map(([name, refusal]) => [name, writtenRefusal(refusal)]));
    writeAgentPool(paths, { schemaVersion: 1, ...level, agents, today: { day: dayOf(clock.now()), ...today() } });
  };
  const states = (): Map<string, AgentState> => {
    const names = new Set([...running.keys(), ...refusals.keys()]);
    return new Map([...names].map((name) => [name, stateOf(running.get(name) ?? 0, refusals.get(name))]));
  };
  const freed = (): void => {
    write();
    changes.emit("changed");
    changes.emit("freed");
  };
  return {
    choose: (agents, planId) => chooseAgent(agents, states(), { now: clock.now(), planId }),
    started(name) {
      running.set(name, (running.get(name) ?? 0) + 1);
      let over = false;
      return () => {
        if (over) return;
        over = true;
        running.set(name, (running.get(name) ?? 1) - 1);
        changes.emit("changed");
      };
    },
    atWork: () => [...running.values()].reduce((sum, count) => sum + count, 0),
    changed: (until, signal) =>
      nextChange(changes, until === undefined ? undefined : timerMs(until, clock.now()), signal),
    limitsChanged: () => void changes.emit("changed"),
    refused(name, trouble) {
      const next = afterRefusal(refusals.get(name), trouble, clock.now());
      if (next) refusals.set(name, next);
      write();
      changes.emit("changed");
      return next;
    },
    needsPerson: (agents) => agents.every(({ name }) => needsPerson(refusals.get(name), clock.now())),
    answered(name) {
      if (!refusals.delete(name)) return;
      freed();
    },
    forgive() {
      if (refusals.size === 0) return;
      refusals.clear();
      freed();
    },
    onFreed: (listener) => void changes.on("freed", listener),
    spending: (key, spent) => void atWork.set(key, spent),
    spend(key, spent) {
      atWork.delete(key);
      ledger.add(dayOf(clock.now()), key, spent);
      write();
    },
    today,
    enclosed(next, why) {
      if (level.level === next && level.why === why) return;
      level = { level: next, ...(why === undefined ? {} : { why }) };
      write();
    },
  };
}

async function nextChange(changes: EventEmitter, withinMs: number | undefined, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const either = { signal: AbortSignal.any([signal, over.signal]) };
  const waits: Promise<unknown>[] = [once(changes, "changed", either)];
  if (withinMs !== undefined) waits.push(sleep(withinMs, undefined, either));
  try {
    await Promise.race(waits);
  } finally {
    over.abort();
    await Promise.allSettled(waits);
  }
}

function plus(a: SpentSum, b: SpentSum): SpentSum {
  return { tokens: a.tokens + b.tokens, usd: a.usd + b.usd, ms: a.ms + b.ms };
}

function stateOf(running: number, refusal: AgentRefusal | undefined): AgentState {
  return refusal === undefined ? { running } : { running, refusal };
}
