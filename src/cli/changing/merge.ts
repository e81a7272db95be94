import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun, suggesting } from "../plans.ts";
import { visible } from "../render/safe-text.ts";

const resultSchema = z.object({
  sha: z.string().optional(),
  base: z.string(),
  undelivered: z.array(z.object({ author: z.string(), text: z.string() })).default([]),
});

/** Merges a reviewed plan and says where its commits are now. */
export async function merge(call: Call, plan: string, options: { readonly force?: boolean }): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const args = { plan, force: options.force === true };
  const { sha, base, undelivered } = resultSchema.parse(
    await suggesting(call, plan, () => callOwner(call.cwd, "merge", args)),
  );
  output.line(
    sha === undefined
      ? `${plan} was in ${base} already; it is done now.`
      : `${output.paint("green", "merged")} ${plan} into ${base}: ${sha.slice(0, 12)}`,
  );
  for (const { author, text } of undelivered)
    output.line(
      `${output.paint("yellow", "never delivered")}: ${visible(author)} sent its agent: ${visible(text.split("\n", 1)[0] ?? "")}`,
    );
  output.line(
    `next: \`git log ${sha?.slice(0, 12) ?? base}\` shows it, \`prloom clean ${plan}\` removes its worktree.`,
  );
  output.data({ plan, base, ...(sha === undefined ? {} : { sha }), undelivered });
  return 0;
}
