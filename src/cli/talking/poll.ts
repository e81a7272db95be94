import * as z from "zod";
import { liveDaemon } from "../../dispatcher/commands/live-daemon.ts";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { readPinned } from "../../dispatcher/report/read-pinned.ts";
import { offerLine } from "../../dispatcher/settings/pinned.ts";
import { counted } from "../../kernel/text/words.ts";
import type { Call } from "../output.ts";
import { reading, refuseInsideRun, tellWithoutDispatcher } from "../plans.ts";
import { visible } from "../render/safe-text.ts";

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
  if (result.polls.length === 0) await tellWithoutBridges(call);
  else await tellWithoutDispatcher(call);
  output.data(result);
  return result.polls.some((one) => one.failed !== undefined) ? 1 : 0;
}

/** A bridge that was just written into the config is not in the one that counts. */
function tellWithoutBridges(call: Call): Promise<void> {
  const { output } = call;
  return reading(call, async (loom) => {
    output.line("There is no bridge to poll (`bridges` and `globalBridges` in the config).");
    const { pinned } = readPinned(loom);
    if (!pinned || pinned.changes.length === 0) return;
    const running = (await liveDaemon(loom.paths)) !== undefined;
    output.line(`config: ${visible(offerLine(pinned, running))}`);
  });
}
