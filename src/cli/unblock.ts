import { callOwner } from "../dispatcher/owner.ts";
import type { Call } from "./output.ts";
import { refuseInsideRun, suggesting } from "./plans.ts";

/** Clears what a plan is blocked by; `reset` drops what its unfinished TODO left behind. */
export async function unblock(call: Call, plan: string, options: { readonly reset?: boolean }): Promise<number> {
  refuseInsideRun(call);
  const reset = options.reset === true;
  await suggesting(call, plan, () => callOwner(call.cwd, "unblock", { plan, reset }));
  call.output.line(`${plan} is no longer blocked.${reset ? " What the unfinished TODO left behind is gone." : ""}`);
  call.output.data({ plan, reset });
  return 0;
}
