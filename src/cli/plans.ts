import { RUN_ID_VARIABLE } from "../agents/runner/run-files.ts";
import { nearest } from "../config/problems/nearest.ts";
import { liveDaemon } from "../dispatcher/commands/live-daemon.ts";
import { type OpenLoomOptions, openForReading } from "../dispatcher/commands/open-for-reading.ts";
import type { Loom } from "../dispatcher/loom.ts";
import { pathsOf } from "../dispatcher/paths.ts";
import { openRepository } from "../git/repository.ts";
import { PrloomError } from "../kernel/errors.ts";
import { variableAbove } from "../kernel/system/process-tree.ts";
import type { Call } from "./output.ts";

/** Refuses to change anything for a process that an agent's run started. */
export function refuseInsideRun(call: Call): void {
  if (call.env.PRLOOM_RUN_ID) throw insideRun();
}

/**
 * The same also where the agent has unset what tells of its run: it is not to answer its own gate. A process that left its
 * parents is not found; only the sandbox keeps that one away.
 */
export async function refuseAgents(
  call: Call,
  tried: { readonly plan: string; readonly command: string },
): Promise<void> {
  const run = call.env.PRLOOM_RUN_ID || variableAbove(RUN_ID_VARIABLE);
  if (!run) return;
  const [uid = ""] = run.split("/");
  // Runs of another repository may try out prloom in one of their own.
  if (!call.env.PRLOOM_RUN_ID && !(await reading(call, ({ store }) => store.get(uid) !== undefined))) return;
  await tellTried(call, { ...tried, run });
  throw insideRun();
}

/** In a sandbox the dispatcher is out of reach: there the command is refused, and only the run's own log tells of it. */
async function tellTried(call: Call, tried: { plan: string; run: string; command: string }): Promise<void> {
  // What only reads loads nothing of this.
  const { callOwner } = await import("../dispatcher/commands/owner.ts");
  try {
    await callOwner(call.cwd, "tried", tried);
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
  }
}

function insideRun(): PrloomError {
  return new PrloomError(
    "usage",
    "agents cannot change plans",
    "This command was called inside an agent's run; write into the run's copy of the plan (PRLOOM_PLAN_FILE) instead.",
  );
}

/** Opens the repository for reading, hands it on, and closes it whatever happens. A start reads what is checked out. */
export async function reading<T>(
  call: Pick<Call, "cwd"> & Pick<OpenLoomOptions, "repo">,
  act: (loom: Loom) => Promise<T> | T,
  settings: "start" | "if-there" = "if-there",
): Promise<T> {
  const loom = await openForReading({ cwd: call.cwd, repo: call.repo, settings });
  try {
    return await act(loom);
  } finally {
    loom.close();
  }
}

/** Says that nothing comes of a change before a dispatcher is started, if none runs. */
export async function tellWithoutDispatcher({ cwd, output }: Call): Promise<void> {
  if (output.json || (await liveDaemon(pathsOf(await openRepository(cwd))))) return;
  output.line("No dispatcher is running: nothing happens before `prloom start`.");
}

/** Names of all plans that there are, in the inbox or after it. */
export function planIds(loom: Loom): string[] {
  const { records } = loom.store.list();
  const known = records.filter((record) => !record.deleted).map((record) => record.id);
  return [...new Set([...known, ...loom.inbox.scan().entries.keys()])];
}

/** Passes on what `act` does; "there is no such plan" gets the names that were probably meant. */
export async function suggesting<T>(call: Call, id: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PrloomError) || error.code !== "plan-not-found") throw error;
    const meant = nearest(id, await reading(call, planIds));
    const hint =
      meant === undefined ? error.hint : `Did you mean \`${meant}\`? \`prloom status --all\` lists all plans.`;
    throw new PrloomError(error.code, error.message, hint, error);
  }
}
