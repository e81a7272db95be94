import type { Call } from "../output.ts";
import type { ProjectCommands } from "./project-commands.ts";

/**
 * Whether what was found is written into a first config. Where no person can be asked it is only suggested: a check that
 * cannot succeed in a new worktree would keep every plan from being committed.
 */
export async function wantsChecks(
  call: Call,
  found: ProjectCommands | undefined,
  options: { readonly checks?: boolean; readonly yes?: boolean },
): Promise<boolean> {
  if (!found || options.checks !== undefined) return found !== undefined && options.checks === true;
  if (options.yes || !call.output.terminal || !process.stdin.isTTY) return false;
  const { orCancelled, confirm } = await import("../prompts.ts");
  const before =
    found.initCommands.length === 0 ? "" : ` (after \`${found.initCommands.join("`, `")}\` in each worktree)`;
  const message = `Must \`${found.checks.join("`, `")}\` succeed before a TODO is committed?${before}`;
  return orCancelled(await confirm({ message }));
}
