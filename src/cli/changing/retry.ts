import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun, tellWithoutDispatcher } from "../plans.ts";
import { visible } from "../render/safe-text.ts";

export interface RetryOptions {
  readonly all?: boolean;
  readonly drop?: boolean;
}

const lettersSchema = z.array(
  z.looseObject({
    record: z.string(),
    handler: z.string(),
    planId: z.string().optional(),
    reason: z.string().optional(),
  }),
);
const resultSchema = z.object({
  retried: lettersSchema.optional(),
  dropped: lettersSchema.optional(),
  /** What cannot be tried again. */
  stay: lettersSchema.optional(),
});

/** Lets dead letters be tried again, or drops them: one record's, or all. */
export async function retry(call: Call, id: string | undefined, options: RetryOptions): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const args = { ...(id === undefined ? {} : { id }), all: options.all === true };
  const result = resultSchema.parse(await callOwner(call.cwd, options.drop ? "drop" : "retry", args));
  const letters = result.dropped ?? result.retried ?? [];
  const done = options.drop ? "is dropped for" : "is tried again by";
  for (const { record, handler, planId } of letters) {
    const where = planId === undefined ? "" : ` of ${visible(planId)}`;
    output.line(`${visible(record)}${where} ${done} ${visible(handler)}`);
  }
  const { stay = [] } = result;
  for (const { record, reason = "" } of stay) output.line(`${visible(record)} stays a dead letter: ${visible(reason)}`);
  if (letters.length + stay.length === 0) output.line("There are no dead letters.");
  else if (!options.drop && letters.length > 0) await tellWithoutDispatcher(call);
  output.data(result);
  return 0;
}
