import type { Command } from "commander";
import { homeOf, inboxOf, pathsOf } from "../dispatcher/paths.ts";
import { openRepository } from "../git/repository.ts";
import { PrloomError } from "../kernel/errors.ts";
import { existsNoFollow } from "../kernel/files.ts";
import { isValidPlanId } from "../plan/identity.ts";
import { planIds, reading } from "./plans.ts";

/** Plans may be called by as much of their ids as no other begins with. */
export async function completePlanNames(command: Command, cwd: string): Promise<void> {
  const at = command.registeredArguments.findIndex((argument) => /^plans?$/.test(argument.name()));
  const given: unknown = command.processedArgs[at];
  // Where nothing asks whether this plan is meant, what it has not committed would be gone.
  const asks = process.stdin.isTTY && process.stdout.isTTY && !command.opts().json && !command.opts().yes;
  if (command.name() === "delete" && !asks) return;
  if (typeof given === "string") command.processedArgs[at] = await completed(given, cwd);
  if (Array.isArray(given)) command.processedArgs[at] = await Promise.all(given.map((name) => completed(name, cwd)));
}

/** The id that is meant, or the name as it is: what is wrong with it is for the command to say. */
async function completed(name: string, cwd: string): Promise<string> {
  if (!isValidPlanId(name.replace("…", ""))) return name;
  const repo = await openRepository(cwd).catch(() => undefined);
  if (!repo) return name;
  const paths = pathsOf(repo);
  if (existsNoFollow(homeOf(paths, name).home) || existsNoFollow(inboxOf(paths, name).text)) return name;
  return chosen(name, await reading({ cwd, repo }, planIds)) ?? name;
}

const MAX_NAMES = 10;

/** The only id that begins like that, or that a narrow terminal shows as that; undefined if there is none. */
export function chosen(name: string, ids: readonly string[]): string | undefined {
  const [begin = "", end = ""] = name.split("…");
  const longer = ids.filter((id) => id.startsWith(begin) && id.endsWith(end)).sort();
  if (longer.length < 2) return longer[0];
  const more = longer.length > MAX_NAMES ? ` and ${longer.length - MAX_NAMES} more` : "";
  throw new PrloomError(
    "usage",
    `"${name}" may be any of ${longer.length} plans: ${longer.slice(0, MAX_NAMES).join(", ")}${more}.`,
    "Type as much of the id as only one of them begins with.",
  );
}
