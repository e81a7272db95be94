import { openRepository } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { type Paths, pathsOf } from "../paths.ts";
import { endPlanSurvivors } from "../runs/survivors.ts";
import { callDaemon, readDaemonInfo } from "./control.ts";
import { openAsOwner } from "./open-as-owner.ts";
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
    // A dispatcher that was killed may have left the plan's agent alive; it must not work at the same time as the command.
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
