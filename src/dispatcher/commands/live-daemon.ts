import * as z from "zod";
import { openRepository } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { isAlive } from "../../kernel/system/process-tree.ts";
import { type Paths, pathsOf } from "../paths.ts";
import { callDaemon, cannotAnswer, type DaemonInfo, QUESTION_DEADLINE_MS, readDaemonInfo } from "./control.ts";

/** A dispatcher, and what plans wait for that only it knows. */
export interface LiveDaemon extends DaemonInfo {
  readonly waits: Readonly<Record<string, string>>;
  /** It takes no more commands, and ends when the steps under way are over. */
  readonly stopping?: true;
  /** By Ctrl-Z, say: it does nothing until it is told to go on. */
  readonly suspended?: true;
}

const pingSchema = z.object({ waits: z.record(z.string(), z.string()).default({}) }).catch({ waits: {} });

/** Whether it lives although nobody listens: one that stops closes its socket first. */
const isStopping = ({ identity }: DaemonInfo): boolean => identity !== undefined && isAlive(identity);

/** The dispatcher of this repository, if one lives. */
export async function liveDaemon(paths: Paths): Promise<LiveDaemon | undefined> {
  const info = readDaemonInfo(paths);
  if (!info) return undefined;
  if (cannotAnswer(info)) return { ...info, waits: {}, suspended: true };
  try {
    const answer = await callDaemon(info, { command: "ping", args: {}, deadlineMs: QUESTION_DEADLINE_MS });
    if (answer !== "no-dispatcher") return { ...info, ...pingSchema.parse(answer.result) };
    return isStopping(info) ? { ...info, waits: {}, stopping: true } : undefined;
  } catch (error) {
    // It is there, if not well; a command that only looks is told that it runs.
    if (error instanceof PrloomError && error.code === "control-failed") return { ...info, waits: {} };
    throw error;
  }
}

/** Asks the running dispatcher to end; undefined when none runs. */
export async function stopDaemon(cwd: string): Promise<DaemonInfo | undefined> {
  const repo = await openRepository(cwd);
  const info = readDaemonInfo(pathsOf(repo));
  if (!info) return undefined;
  const answer = await callDaemon(info, { command: "stop", args: {}, deadlineMs: QUESTION_DEADLINE_MS });
  return answer === "no-dispatcher" && !isStopping(info) ? undefined : info;
}
