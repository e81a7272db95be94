import { type EnclosureLevel, hasSandbox, isHost, withoutSandbox, withPolicy } from "../../agents/enclosure-level.ts";
import type { ErrorKind } from "../../agents/port.ts";
import { probeSandbox } from "../../agents/sandbox/probe.ts";
import type { AgentConfig, Budget } from "../../config/config.ts";
import type { PlanConfig } from "../../config/presets.ts";
import { messageOf } from "../../kernel/errors.ts";
import { findProgram } from "../../kernel/system/find-program.ts";
import type { Timing } from "../capabilities.ts";
import type { Located, Paths } from "../paths.ts";
import { type AgentPoolFile, readAgentPool } from "../runs/agent-pool.ts";
import { dayOf, type SpentSum } from "../runs/availability.ts";
import type { Configured } from "../settings/pinned.ts";

/** How runs are enclosed. `refused`: they do not start, because the agent must have a sandbox and there is none. */
export type AgentLevel = EnclosureLevel | "refused";

export interface AgentReport {
  readonly name: string;
  readonly adapter: AgentConfig["adapter"];
  readonly level: AgentLevel;
  /** Runs of it that are at work. */
  readonly running: number;
  readonly backsOff?: BackOff;
}

/** An agent is left alone until then, because its provider or its program said no. */
export interface BackOff {
  readonly until: string;
  readonly kind: ErrorKind;
  readonly reason: string;
  /** `until` is the end of a limit, as its provider said. */
  readonly resetsAt?: string;
  /** Plans whose runs were refused, two at most. */
  readonly plans: readonly string[];
  /** A plan that is still there: `prloom unblock` of it lets the agent be tried now. */
  readonly unblock?: string;
}

/** What `prloom status` tells about the agents of the config. */
export interface AgentsReport {
  /** How runs are enclosed on this machine, unless an agent's config says otherwise. */
  readonly sandbox: EnclosureLevel;
  /** Why there is no sandbox. */
  readonly sandboxWhy?: string;
  readonly agents: readonly AgentReport[];
  readonly today: SpentSum & { readonly day: string };
  readonly dailyBudget: Budget;
}

export interface Probe {
  readonly sandbox: EnclosureLevel;
  readonly sandboxWhy?: string;
}

/** Pure but for the pool's file: the agents, how they are enclosed, who backs off, and what today cost. */
export function readAgents(
  loom: Located & Timing & Configured,
  {
    machine,
    working,
    plans,
  }: { readonly machine: Probe; readonly working: readonly string[]; readonly plans: readonly string[] },
): AgentsReport {
  const now = loom.clock.now();
  const pool = readAgentPool(loom.paths);
  const agents = Object.entries(loom.config.agents).map(([name, { adapter, sandbox }]): AgentReport => {
    const backsOff = backOff(pool, name, { now, plans });
    return {
      name,
      adapter,
      level: levelOf({ adapter, sandbox }, machine.sandbox),
      running: working.filter((agent) => agent === name).length,
      ...(backsOff === undefined ? {} : { backsOff }),
    };
  });
  return { ...machine, agents, today: spentToday(pool, dayOf(now)), dailyBudget: loom.config.limits.dailyBudget };
}

function backOff(
  pool: AgentPoolFile | undefined,
  name: string,
  { now, plans: there }: { readonly now: number; readonly plans: readonly string[] },
): BackOff | undefined {
  const refusal = pool?.agents[name];
  if (!refusal || Date.parse(refusal.until) <= now) return undefined;
  const { until, kind, reason, resetsAt, plans } = refusal;
  // Those that were refused may be deleted by now, and the agent is left alone all the same: any other ends that too.
  const unblock = plans.length === 0 ? undefined : (plans.find((plan) => there.includes(plan)) ?? there[0]);
  const optional = { ...(resetsAt === undefined ? {} : { resetsAt }), ...(unblock === undefined ? {} : { unblock }) };
  return { until, kind, reason, plans, ...optional };
}

/** The agents of a plan that are left alone for a while, by name. */
export function readBackOffs(
  loom: Located & Timing,
  ofStages: PlanConfig["agents"],
  planId: string,
): Readonly<Record<string, BackOff>> {
  const pool = readAgentPool(loom.paths);
  const found: Record<string, BackOff> = {};
  for (const { name } of Object.values(ofStages).flat()) {
    const backsOff = backOff(pool, name, { now: loom.clock.now(), plans: [planId] });
    if (backsOff) found[name] = backsOff;
  }
  return found;
}

/** What holds for runs of an agent where a sandbox gives so much. */
export function levelOf(agent: Pick<AgentConfig, "adapter" | "sandbox">, machine: EnclosureLevel): AgentLevel {
  if (agent.sandbox === "bwrap" && !hasSandbox(machine)) return "refused";
  const level = agent.sandbox === "none" ? withoutSandbox(machine) : machine;
  return isHost(agent.adapter) ? withPolicy(level) : level;
}

function spentToday(pool: AgentPoolFile | undefined, day: string): AgentsReport["today"] {
  return pool?.today.day === day ? pool.today : { day, tokens: 0, usd: 0, ms: 0 };
}

/** What the newest dispatcher has found out; undefined when none has. */
function knownProbe(paths: Paths): Probe | undefined {
  const { level, why } = readAgentPool(paths) ?? {};
  if (level === undefined) return undefined;
  return { sandbox: level, ...(why === undefined ? {} : { sandboxWhy: why }) };
}

/** A dispatcher that runs has asked already. What the last one found to work still does as long as the program is there. */
export async function machineLevel(paths: Paths, running: boolean): Promise<Probe> {
  const known = knownProbe(paths);
  const isLikely = known && hasSandbox(known.sandbox) && findProgram("bwrap", process.env.PATH, paths.root);
  if (known && (running || isLikely)) return known;
  try {
    const probe = await probeSandbox();
    return probe.works ? { sandbox: "sandbox" } : { sandbox: "none", sandboxWhy: probe.why };
  } catch (error) {
    // A machine with nothing left has not answered; the rest is shown all the same.
    return { sandbox: "none", sandboxWhy: `not known: ${messageOf(error)}` };
  }
}
