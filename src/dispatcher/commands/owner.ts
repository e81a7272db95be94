import * as z from "zod";
import { openRepository } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { type Paths, pathsOf } from "../paths.ts";
import { endPlanSurvivors } from "../runs/survivors.ts";
import { callDaemon, type DaemonInfo, QUESTION_DEADLINE_MS, readDaemonInfo } from "./control.ts";
import { openAsOwner } from "./open-loom.ts";
import { type OwnerCommandName, runOwnerCommand, worksWithout } from "./table.ts";

/** Does a command through the running dispatcher, or alone when there is none: the same code either way. */
export async function callOwner(cwd: string, name: OwnerCommandName, args: Record<string, unknown>): Promise<unknown> {
  const repo = await openRepository(cwd);
  const paths = pathsOf(repo);
  const answer = await askDaemon(paths, name, args);
  if (answer !== "no-dispatcher") return answer.result;
  const owned = await openAsOwner({ cwd, settings: worksWithout(name) ? "if-there" : "in-force" });
  if (!owned) {
    // Another process took the lock meanwhile: most likely a dispatcher that was just starting.
    const second = await askDaemon(paths, name, args);
    if (second !== "no-dispatcher") return second.result;
    throw new PrloomError(
      "control-failed",
      "Another prloom owns this repository and does not answer.",
      "Try again in a moment; `prloom status` shows what runs.",
    );
  }
  try {
    // A dispatcher that was killed may have left the plan's agent alive; it must not work beside the command.
    // What is to be deleted goes whatever it left; `delete` ends what it can, and tells the rest.
    if (typeof args.plan === "string" && name !== "delete") await endPlanSurvivors(owned.loom, args.plan);
    return await runOwnerCommand(owned.loom, name, args);
  } finally {
    owned.loom.close();
    owned.lock.release();
  }
}

async function askDaemon(
  paths: Paths,
  name: string,
  args: Record<string, unknown>,
): Promise<{ result: unknown } | "no-dispatcher"> {
  const info = readDaemonInfo(paths);
  return info ? callDaemon(info, { command: name, args }) : "no-dispatcher";
}

/** A dispatcher, and what plans wait for that only it knows. */
export type LiveDaemon = DaemonInfo & { readonly waits: Readonly<Record<string, string>> };

const pingSchema = z.object({ waits: z.record(z.string(), z.string()).default({}) }).catch({ waits: {} });

/** The dispatcher that answers for this repository, if one does. */
export async function liveDaemon(paths: Paths): Promise<LiveDaemon | undefined> {
  const info = readDaemonInfo(paths);
  if (!info) return undefined;
  try {
    const answer = await callDaemon(info, { command: "ping", args: {}, deadlineMs: QUESTION_DEADLINE_MS });
    return answer === "no-dispatcher" ? undefined : { ...info, ...pingSchema.parse(answer.result) };
  } catch (error) {
    // It is there, if not well; a command that only looks is told that it runs.
    if (error instanceof PrloomError && error.code === "control-failed") return { ...info, waits: {} };
    throw error;
  }
}

/** Asks the running dispatcher to end; false when none runs. */
export async function stopDaemon(cwd: string): Promise<DaemonInfo | undefined> {
  const repo = await openRepository(cwd);
  const info = readDaemonInfo(pathsOf(repo));
  if (!info) return undefined;
  const answer = await callDaemon(info, { command: "stop", args: {}, deadlineMs: QUESTION_DEADLINE_MS });
  return answer === "no-dispatcher" ? undefined : info;
}
