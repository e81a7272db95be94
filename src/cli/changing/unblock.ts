import * as z from "zod";
import { readStatus } from "../../dispatcher/report/read.ts";
import { offerLine } from "../../dispatcher/settings/pinned.ts";
import type { Call } from "../output.ts";
import { reading, refuseInsideRun } from "../plans.ts";
import { visible } from "../render/safe-text.ts";
import { changeEach } from "./change.ts";

const answerSchema = z.object({
  calledOff: z.boolean().default(false),
  kept: z.string().optional(),
  vanished: z.boolean().default(false),
});

/** Clears what plans are blocked by; `reset` drops what their unfinished TODOs left behind. */
export async function unblock(
  call: Call,
  plans: readonly string[],
  options: { readonly reset?: boolean },
): Promise<number> {
  refuseInsideRun(call);
  const reset = options.reset === true;
  const before = await reading(call, readStatus);
  const blocked = new Set(before.plans.filter((plan) => plan.blocked).map((plan) => plan.planId));
  const waiting = before.agents.flatMap(({ name, backsOff }) => (backsOff ? [visible(name)] : []));
  const tried = waiting.length === 0 ? "" : ` Tried again now: ${waiting.join(", ")}.`;
  const differs = before.daemon.running && before.pinned && before.pinned.changes.length > 0;
  // A user who fixed the config and unblocks expects the fixed one.
  if (differs && before.pinned) call.output.note(`note: ${visible(offerLine(before.pinned, true))}`);
  return changeEach(call, plans, {
    name: "unblock",
    args: { reset },
    done: (plan, answer) => {
      const { kept, calledOff, vanished } = answerSchema.parse(answer);
      const made = vanished ? " Its worktree is made again from its branch." : "";
      if (blocked.has(plan)) return `is no longer blocked.${reset ? dropped(kept) : ""}${made}${tried}`;
      const back = before.daemon.running ? "its branch is put back" : "`prloom start` puts its branch back";
      return calledOff ? `is not rebased: ${back} as it was.` : `was not blocked.${made}${tried}`;
    },
    needsDispatcher: plans.some((plan) => blocked.has(plan)),
    data: { reset, notBlocked: [...new Set(plans)].filter((plan) => !blocked.has(plan)), triedAgents: waiting },
  });
}

function dropped(kept: string | undefined): string {
  const where = kept === undefined ? "" : `, and kept in ${visible(kept)} (for \`git apply\`)`;
  return ` What the unfinished TODO left behind is gone from its worktree${where}.`;
}
