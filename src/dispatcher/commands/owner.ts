import { openRepository } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { type Paths, pathsOf } from "../paths.ts";
import { callDaemon, readDaemonInfo } from "./control.ts";
import type { OwnerCommandName } from "./table.ts";

/** Does a command through the running dispatcher, or alone when there is none: the same code either way. */
export async function callOwner(cwd: string, name: OwnerCommandName, args: Record<string, unknown>): Promise<unknown> {
  const paths = pathsOf(await openRepository(cwd));
  const answer = await askDaemon(paths, name, args);
  if (answer !== "no-dispatcher") return answer.result;
  // Where a dispatcher answers, nothing of what the command does needs to be loaded.
  const { doAlone } = await import("./without-dispatcher.ts");
  const done = await doAlone(cwd, name, args);
  if (done !== "owned-by-another") return done.result;
  // Most likely by a dispatcher that was just starting.
  const second = await askDaemon(paths, name, args);
  if (second !== "no-dispatcher") return second.result;
  throw new PrloomError(
    "control-failed",
    "Another prloom owns this repository and does not answer.",
    "Try again in a moment; `prloom status` shows what runs.",
  );
}

async function askDaemon(
  paths: Paths,
  name: string,
  args: Record<string, unknown>,
): Promise<{ result: unknown } | "no-dispatcher"> {
  const info = readDaemonInfo(paths);
  return info ? callDaemon(info, { command: name, args }) : "no-dispatcher";
}
