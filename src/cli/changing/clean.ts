import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { counted } from "../../kernel/text/words.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun, suggesting } from "../plans.ts";
import { visible } from "../render/safe-text.ts";

const resultSchema = z.object({
  removed: z.array(z.string()),
  left: z.record(z.string(), z.array(z.string())),
  kept: z.record(z.string(), z.string()).default({}),
  aside: z.record(z.string(), z.array(z.string())).default({}),
  branches: z.object({ deleted: z.array(z.string()), merged: z.array(z.string()) }),
});

/** Removes worktrees of plans that are done, and, if asked, the branches of merged ones. */
export async function clean(call: Call, plan: string | undefined, withBranches: boolean): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const args = { branches: withBranches, ...(plan === undefined ? {} : { plan }) };
  const ask = () => callOwner(call.cwd, "clean", args);
  const result = resultSchema.parse(plan === undefined ? await ask() : await suggesting(call, plan, ask));
  for (const id of result.removed) output.line(`removed the worktree of ${id}`);
  for (const [id, patch] of Object.entries(result.kept))
    output.line(
      `${output.paint("yellow", "kept")}: what ${id} had in no commit, in ${visible(patch)} (for \`git apply\`)`,
    );
  for (const [id, patches] of Object.entries(result.aside)) {
    const newest = visible(patches.at(-1) ?? "");
    const more = patches.length > 1 ? ` (the newest of ${patches.length})` : "";
    output.line(`${output.paint("yellow", "kept")}: what ${id} put aside earlier, in ${newest}${more}`);
  }
  for (const [id, problems] of Object.entries(result.left)) {
    for (const problem of problems) output.line(`of ${id} could not be removed: ${visible(problem)}`);
  }
  const { deleted, merged } = result.branches;
  for (const id of deleted) output.line(`deleted the branch of ${id}`);
  if (merged.length > 0) {
    const command = `prloom clean${plan === undefined ? "" : ` ${plan}`} --branches`;
    output.line(`The branches of ${counted(merged.length, "merged plan")} stay; \`${command}\` deletes them.`);
  }
  const isNothing = [result.removed, Object.keys(result.left), deleted, merged].every((list) => list.length === 0);
  if (isNothing) output.line("There is nothing to clean.");
  const isAll = Object.keys(result.left).length === 0;
  const { removed, branches, kept, aside, left } = result;
  const isKept = Object.keys(kept).length > 0;
  const hasAside = Object.keys(aside).length > 0;
  output.data({
    removed,
    branches,
    ...(isKept ? { kept } : {}),
    ...(hasAside ? { aside } : {}),
    ...(isAll ? {} : { left }),
  });
  return isAll ? 0 : 1;
}
