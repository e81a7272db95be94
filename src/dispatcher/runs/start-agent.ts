import { join } from "node:path";
import { adapterOf, programOf } from "../../agents/adapters.ts";
import { agentEnvironment } from "../../agents/environment.ts";
import type { AgentEvent, LiveRun, RunExit, RunLimits, Stage } from "../../agents/port.ts";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import type { PlanConfig, StageAgent } from "../../config/presets.ts";
import { repairGitFile } from "../../git/worktree/repair.ts";
import { messageOf } from "../../kernel/errors.ts";
import { ensureDir } from "../../kernel/files.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting, Stopping } from "../capabilities.ts";
import { overlaid } from "../enclosure/command-run.ts";
import { clearEnclosure, type EncloseOptions, type Enclosure, enclose } from "../enclosure/enclose.ts";
import type { Governance } from "../governing/governed.ts";
import { type Located, worktreeOf } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { requireAgentPinned } from "../settings/require-pinned.ts";
import type { Pooled } from "./agent-pool.ts";
import { followAgent } from "./follow.ts";
import { instructionsFor } from "./instructions.ts";
import type { AtWork } from "./occupancy.ts";
import { refuseStart } from "./refuse-start.ts";

/** Makes what an agent is to work in, whether a step, a plugin or a person asks for it. `clearEnclosure` takes it away. */
export async function encloseAgent(
  loom: Located & Configured & Reporting,
  record: PlanRecord,
  options: EncloseOptions,
): Promise<Enclosure> {
  requireAgentPinned(loom, options.agent);
  ensureDir(join(options.runDir, RUN_FILES.agentDir));
  await repairGitFile(worktreeOf(loom, record));
  return enclose(loom, record, options);
}

/** The whole environment of an agent's run. */
export function environmentOf(
  loom: Configured,
  agent: StageAgent,
  { vars, enclosure }: { vars: Readonly<Record<string, string>>; enclosure: Enclosure },
): Record<string, string> {
  const program = programOf(agent);
  // Where a program's files lie is told by us in a sandbox, and by the user's environment without one.
  const places = enclosure.sandboxed ? [] : (program?.placeVariables ?? []);
  const pass = [...agent.passEnv, ...(program?.variables ?? []), ...places];
  return overlaid(agentEnvironment(loom.environment, { vars, extra: agent.env, pass }), enclosure.env);
}

/** An agent that is enclosed and about to start. */
export interface AgentStart extends Governance {
  /** As what it is in the worktree. */
  readonly kind: "agent" | "plugin-agent";
  readonly stage: Stage;
  readonly agent: StageAgent;
  readonly runDir: string;
  readonly runId: string;
  readonly enclosure: Enclosure;
  readonly prompt: string;
  readonly model: string | undefined;
  /** The conversation that goes on. */
  readonly sessionId?: string | undefined;
  readonly vars: Readonly<Record<string, string>>;
  readonly limits: RunLimits;
  /** What the plan and the day may spend. */
  readonly budgets: PlanConfig["limits"];
  /** Ends it, besides what `Occupancy` can end. */
  readonly signal?: AbortSignal;
  hear(event: AgentEvent): void;
  /** It is over and has left the worktree. Called with no pause in between, so nothing of the plan is decided before it. */
  onEnd(exit: RunExit | "interrupted"): void;
}

const FULL_DISK = "No space left on the disk: its run waits for some.";

/** Makes the start ready; what it returns starts the agent, at once, and is the run that is then in the worktree. */
export async function prepareStart(
  loom: Located & Configured & Records & Pooled & AtWork & Reporting & Stopping,
  record: PlanRecord,
  start: AgentStart,
): Promise<() => Promise<RunExit | "interrupted">> {
  const instructions = await instructionsFor(loom, record, start);
  // Whatever becomes of the agent, the record knows that it was started.
  await loom.store.synced();
  return () => {
    refuseStart(loom, record);
    requireAgentPinned(loom, start.agent);
    const { agent, stage, prompt, runDir, runId, limits, enclosure, model, sessionId } = start;
    const controller = new AbortController();
    const stream = adapterOf(agent).start({
      ...{ stage, prompt, runDir, runId, limits, wrapper: enclosure.wrapper, sandboxed: enclosure.sandboxed },
      cwd: worktreeOf(loom, record).path,
      shims: loom.shims,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(model === undefined ? {} : { model }),
      ...(instructions === undefined ? {} : { instructions }),
      ...(start.governed === undefined ? {} : { governed: start.governed }),
      ...(start.overseer === undefined ? {} : { overseer: start.overseer }),
      env: environmentOf(loom, agent, { vars: { ...start.vars, PRLOOM_RUN_ID: runId }, enclosure }),
      onFullDisk: () => loom.report({ planId: record.id, level: "bad", text: FULL_DISK }),
      signal: AbortSignal.any([controller.signal, ...(start.signal ? [start.signal] : [])]),
    });
    const stopNow = (): void => controller.abort();
    const followed = { planId: record.id, key: runId, runDir, agent, limits: start.budgets, stop: stopNow };
    const ended = followAgent(loom, stream, followed, start.hear).catch((error) => {
      // Then the run has no exit that we know of; recovery ends what is left of it before anything else.
      loom.report({ planId: record.id, level: "bad", text: `following the agent failed: ${messageOf(error)}` });
      return "interrupted" as const;
    });
    const stop = async (): Promise<void> => {
      stopNow();
      await ended;
    };
    const run: LiveRun = { runDir, ended, stop, send: (message) => stream.send(message) };
    const leave = loom.occupancy.enter(record.id, start.kind, {
      run,
      ...(stage === "worker" ? { implements: true } : {}),
    });
    return leaveAtEnd(loom, record, { start, ended, leave });
  };
}

interface Ending {
  readonly start: AgentStart;
  readonly ended: LiveRun["ended"];
  leave(): void;
}

async function leaveAtEnd(
  loom: Reporting,
  record: PlanRecord,
  { start, ended, leave }: Ending,
): Promise<RunExit | "interrupted"> {
  const exit = await ended;
  await start.settled?.();
  await clearAfter(loom, record.id, start.runDir);
  leave();
  start.onEnd(exit);
  return exit;
}

/** Only disk space is lost where this fails; the next start tries again. */
async function clearAfter(loom: Reporting, id: string, runDir: string): Promise<void> {
  try {
    await clearEnclosure(runDir);
  } catch (error) {
    loom.report({ planId: id, level: "warn", text: `its sandbox could not be cleared away: ${messageOf(error)}` });
  }
}
