import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { readChecked } from "../../kernel/json-files.ts";
import {
  type EndOptions,
  endProcesses,
  endRun,
  identityOf,
  isAlive,
  isOfThisBoot,
  processesWithVariable,
} from "../../kernel/system/process-tree.ts";
import { removeGroup } from "./process-limit.ts";
import { type InitRecord, type ProcessRecord, RUN_FILES, SHIM_VARIABLE } from "./run-files.ts";

const processSchema = z.object({
  runId: z.string(),
  kept: z.boolean().optional(),
  pid: z.int(),
  pgid: z.int(),
  startTicks: z.number(),
  bootId: z.string(),
  agentPid: z.int().optional(),
  agentPgid: z.int().optional(),
  agentStartTicks: z.number().optional(),
});

const initSchema = z.object({
  pid: z.int(),
  startTicks: z.number(),
  bootId: z.string(),
  group: z.string().exactOptional(),
});

const requestSchema = z.object({ runId: z.string().min(1) });

/**
 * The agent's group, if it is still the agent's. The kernel gives a pid away again only when no group has its number,
 * so a group without its leader is the old one; a leader with another start is a stranger.
 */
function agentGroup(record: ProcessRecord): number[] {
  const { agentPid, agentPgid, agentStartTicks } = record;
  if (agentPid === undefined || agentPgid === undefined) return [];
  const now = identityOf(agentPid);
  return now === undefined || now.startTicks === agentStartTicks ? [agentPgid] : [];
}

/** The first process of its pid namespace; undefined before the agent begins, and for a run that has none. */
export function readInit(runDir: string): InitRecord | undefined {
  return readChecked(join(runDir, RUN_FILES.init), initSchema);
}

/** Whether a process of the run's pid namespace still lives; a run that has an exit and is inhabited was not ended. */
export function isInhabited(runDir: string): boolean {
  const init = readInit(runDir);
  return init !== undefined && isAlive(init);
}

export interface EndedRun {
  readonly runDir: string;
  readonly runId: string;
  readonly groups?: readonly number[];
}

/** Ends all processes of a run but its shim: what its init knows of, what carries its id, and its groups. */
export async function endInhabitants({ runDir, runId, groups = [] }: EndedRun, options: EndOptions): Promise<number> {
  const init = readInit(runDir);
  const ended = await endRun({ id: runId, groups, init }, options);
  await removeGroup(init?.group);
  return ended;
}

/** The shim must go first: one that sees its agent die would write an exit for what we killed. */
async function endShim(runDir: string, runId: string, record: ProcessRecord | undefined): Promise<number> {
  // One that stays has left this run with its exit, and may have another.
  const hasLeft = record?.kept === true && existsSync(join(runDir, RUN_FILES.exit));
  const find = (): number[] => {
    const carrying = processesWithVariable(`${SHIM_VARIABLE}=${runId}`).map((found) => found.pid);
    const recorded = record && !hasLeft && isAlive(record) ? [record.pid] : [];
    return [...new Set([...carrying, ...recorded])];
  };
  return await endProcesses(find, { graceMs: 0 });
}

/**
 * Ends what is left of a run whose daemon died, whether or not it has an exit, and resolves with the number of processes
 * when all are gone; rejects, naming them, when some cannot be ended, and then nothing may touch their worktree. After it,
 * `readExit` tells for good whether the run was complete. Touches no other process: pids that were given away meanwhile,
 * and everything after a restart of the machine, are left alone.
 */
export async function endSurvivors(runDir: string, options: { readonly graceMs: number }): Promise<number> {
  const written = readChecked(join(runDir, RUN_FILES.process), processSchema);
  const runId = readChecked(join(runDir, RUN_FILES.request), requestSchema)?.runId ?? written?.runId;
  if (runId === undefined) return 0;
  if (written && !isOfThisBoot(written)) return 0;
  const shims = await endShim(runDir, runId, written);
  // Read again: the shim may have recorded its agent while we were ending it.
  const record = readChecked(join(runDir, RUN_FILES.process), processSchema) ?? written;
  const groups = record ? agentGroup(record) : [];
  const leader = record?.agentPid;
  const signalFirst = leader === undefined || groups.length === 0 ? [] : [leader];
  const ended = await endInhabitants({ runDir, runId, groups }, { graceMs: options.graceMs, signalFirst });
  return shims + ended;
}
