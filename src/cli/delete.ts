import { callOwner } from "../dispatcher/owner.ts";
import { readPlanDetail } from "../dispatcher/read.ts";
import { PrloomError } from "../kernel/errors.ts";
import type { Call } from "./output.ts";
import { reading, refuseInsideRun, suggesting } from "./plans.ts";

export interface DeleteOptions {
  readonly yes?: boolean;
  readonly branch?: boolean;
}

/** Takes a plan away; asks first where somebody can answer. */
export async function deletePlan(call: Call, plan: string, options: DeleteOptions): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const { record } = await suggesting(call, plan, () => reading(call, (loom) => readPlanDetail(loom, plan)));
  const branch = options.branch === true;
  if (!options.yes && !(await agreed(call, { plan, branch, inInbox: record.inInbox }))) {
    output.line("Nothing was deleted.");
    return 0;
  }
  await suggesting(call, plan, () => callOwner(call.cwd, "delete", { plan, branch }));
  const kept = record.branch !== undefined && !branch;
  output.line(`deleted ${plan}.${kept ? ` Its branch ${record.branch} is still there.` : ""}`);
  output.data({ plan, ...(record.branch === undefined ? {} : { branch: record.branch, branchDeleted: branch }) });
  return 0;
}

async function agreed(call: Call, what: { plan: string; branch: boolean; inInbox: boolean }): Promise<boolean> {
  if (call.output.terminal && process.stdin.isTTY) {
    const { confirm, isCancel } = await import("@clack/prompts");
    const answer = await confirm({
      message: `Delete ${what.plan}${what.branch ? " and its branch" : ""}?`,
      initialValue: false,
    });
    return !isCancel(answer) && answer;
  }
  if (what.inInbox) return true;
  throw new PrloomError(
    "usage",
    `Work on ${what.plan} has begun, and there is no terminal to ask whether it shall go.`,
    `If you mean it: prloom delete ${what.plan} --yes`,
  );
}
