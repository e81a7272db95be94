import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun, suggesting } from "../plans.ts";
import { visible } from "../render/safe-text.ts";

const resultSchema = z.object({ removed: z.array(z.string()), left: z.record(z.string(), z.array(z.string())) });

/** Removes worktrees of plans that are done. */
export async function clean(call: Call, plan: string | undefined): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const ask = () => callOwner(call.cwd, "clean", plan === undefined ? {} : { plan });
  const result = resultSchema.parse(plan === undefined ? await ask() : await suggesting(call, plan, ask));
  for (const id of result.removed) output.line(`removed the worktree of ${id}`);
  for (const [id, problems] of Object.entries(result.left)) {
    for (const problem of problems) output.line(`of ${id} could not be removed: ${visible(problem)}`);
  }
  const isNothing = result.removed.length === 0 && Object.keys(result.left).length === 0;
  if (isNothing) output.line("There is nothing to clean.");
  const isAll = Object.keys(result.left).length === 0;
  output.data(isAll ? { removed: result.removed } : result);
  return isAll ? 0 : 1;
}
