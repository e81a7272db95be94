import { endPlanSurvivors } from "../runs/survivors.ts";
import { openAsOwner } from "./open-as-owner.ts";
import { type OwnerCommandName, runOwnerCommand, worksWithout } from "./table.ts";

/** Does a command as the owner of the repository for as long as it takes; another process may be that already. */
export async function doAlone(
  cwd: string,
  name: OwnerCommandName,
  args: Record<string, unknown>,
): Promise<{ result: unknown } | "owned-by-another"> {
  const owned = await openAsOwner({ cwd, settings: worksWithout(name) ? "if-there" : "in-force" });
  if (!owned) return "owned-by-another";
  try {
    // A dispatcher that was killed may have left the plan's agent alive; it must not work beside the command.
    // What is to be deleted goes whatever it left; `delete` ends what it can, and tells the rest.
    if (typeof args.plan === "string" && name !== "delete") await endPlanSurvivors(owned.loom, args.plan);
    return { result: await runOwnerCommand(owned.loom, name, args) };
  } finally {
    owned.loom.close();
    owned.lock.release();
  }
}
