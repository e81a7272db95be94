import * as z from "zod";
import { callOwner } from "../dispatcher/owner.ts";
import type { Call } from "./output.ts";
import { refuseInsideRun, tellWithoutDispatcher } from "./plans.ts";
import { visible } from "./render/safe-text.ts";

const resultSchema = z.object({
  retried: z.array(
    z.object({ record: z.string(), handler: z.string(), reason: z.string(), planId: z.string().optional() }).loose(),
  ),
});

/** Lets dead letters be tried again: one record's, or all. */
export async function retry(call: Call, id: string | undefined, options: { all?: boolean }): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const args = { ...(id === undefined ? {} : { id }), all: options.all === true };
  const result = resultSchema.parse(await callOwner(call.cwd, "retry", args));
  for (const letter of result.retried) {
    output.line(`${visible(letter.record)} is tried again by ${visible(letter.handler)}`);
  }
  if (result.retried.length === 0) output.line("There are no dead letters.");
  else await tellWithoutDispatcher(call);
  output.data(result);
  return 0;
}
