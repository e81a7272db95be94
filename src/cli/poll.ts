import * as z from "zod";
import { callOwner } from "../dispatcher/owner.ts";
import { counted } from "../kernel/words.ts";
import type { Call } from "./output.ts";
import { refuseInsideRun, tellWithoutDispatcher } from "./plans.ts";
import { visible } from "./render/safe-text.ts";

const resultSchema = z.object({
  polls: z.array(
    z.object({
      bridge: z.string(),
      planId: z.string().optional(),
      events: z.number(),
      actions: z.number(),
      refused: z.array(z.string()),
      failed: z.string().optional(),
    }),
  ),
});

/** Asks the bridges now for what is new. */
export async function poll(call: Call, bridge: string | undefined): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const args = bridge === undefined ? {} : { bridge };
  const result = resultSchema.parse(await callOwner(call.cwd, "poll", args));
  for (const one of result.polls) {
    const name = one.planId === undefined ? one.bridge : `${one.bridge} for ${one.planId}`;
    if (one.failed !== undefined) output.line(`${name}: ${output.paint("red", "failed:")} ${visible(one.failed)}`);
    else output.line(`${name}: ${counted(one.events, "new event")}, ${counted(one.actions, "action")}`);
    for (const reason of one.refused) output.line(`  ${output.paint("yellow", "refused:")} ${visible(reason)}`);
  }
  if (result.polls.length === 0)
    output.line("There is no bridge to poll (`bridges` and `globalBridges` in the config).");
  else await tellWithoutDispatcher(call);
  output.data(result);
  return result.polls.some((one) => one.failed !== undefined) ? 1 : 0;
}
