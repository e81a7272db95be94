import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun, suggesting } from "../plans.ts";
import { visible } from "../render/safe-text.ts";

const resultSchema = z.object({
  base: z.string(),
  outcome: z.enum(["nothing", "rebased", "resolving"]),
  sha: z.string().optional(),
  files: z.array(z.string()).optional(),
  blocked: z.boolean().optional(),
  aside: z.string().optional(),
});

/** Brings a plan's branch onto its base, and says whether an agent has to resolve conflicts for that. */
export async function rebaseCommand(call: Call, plan: string): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const result = resultSchema.parse(await suggesting(call, plan, () => callOwner(call.cwd, "rebase", { plan })));
  const { base, outcome, sha, files, blocked, aside } = result;
  if (outcome === "nothing") output.line(`${plan} is up to date with ${base}.`);
  else if (outcome === "rebased")
    output.line(`${output.paint("green", "rebased")} ${plan} onto ${base}: ${sha?.slice(0, 12)}, without conflicts`);
  else {
    output.line(`${plan} conflicts with ${base} in: ${visible(files?.join(", ") ?? "")}`);
    const first = blocked ? `\`prloom unblock ${plan}\`, for it is blocked; then ` : "";
    output.line(
      `next: ${first}\`prloom start\` lets an agent resolve it, commit by commit; one that runs already does.`,
    );
  }
  if (aside !== undefined)
    output.line(`put aside: what its worktree had in no commit, in ${visible(aside)} (for \`git apply\`)`);
  if (blocked && outcome !== "resolving") output.line(`next: \`prloom unblock ${plan}\` lets it go on.`);
  output.data({ plan, ...result });
  return 0;
}
