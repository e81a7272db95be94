import { callOwner } from "../../dispatcher/commands/owner.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun, suggesting } from "../plans.ts";

/** Stops a plan with a person's reason. */
export async function block(call: Call, plan: string, reason: string): Promise<number> {
  refuseInsideRun(call);
  await suggesting(call, plan, () => callOwner(call.cwd, "block", { plan, reason }));
  call.output.line(`${plan} is blocked. \`prloom unblock ${plan}\` lets it go on.`);
  call.output.data({ plan, reason });
  return 0;
}
