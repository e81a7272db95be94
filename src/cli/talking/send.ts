import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun, suggesting } from "../plans.ts";
import { readInput } from "../read-input.ts";
import { hintLines } from "../render/hint.ts";
import { visible } from "../render/safe-text.ts";
import { authorName } from "./comment.ts";

export interface SendOptions {
  readonly file?: string;
  readonly stdin?: boolean;
}

const run = { run: z.int(), agent: z.string() };
const fateSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("reached"), ...run }),
  z.object({ kind: z.literal("handed"), ...run }),
  z.object({ kind: z.literal("waits"), why: z.string(), hint: z.string().optional() }),
  z.object({ kind: z.literal("handled"), by: z.string() }),
]);
type SentFate = z.infer<typeof fateSchema>;
const resultSchema = z.object({ eventId: z.string(), fate: fateSchema });

/** Says something to a plan's agent: now, if it listens while it works, else with its next turn; and tells which. */
export async function send(
  call: Call,
  plan: string,
  options: SendOptions & { readonly text: string },
): Promise<number> {
  refuseInsideRun(call);
  const { file, stdin } = options;
  const source = { ...(file === undefined ? {} : { file }), ...(stdin ? { stdin } : {}) };
  const typed = await readInput(source);
  if (typed !== undefined && options.text !== "") {
    const message = "The words come either from the command line or from --file and --stdin.";
    throw new PrloomError("usage", message, "Leave one of them out.");
  }
  const text = (typed ?? options.text).trim();
  if (text === "") {
    throw new PrloomError("usage", "The message is empty.", `Type: prloom send ${plan} "what you want to say"`);
  }
  const author = await authorName(call.cwd);
  const answer = await suggesting(call, plan, () => callOwner(call.cwd, "send", { plan, text, author }));
  const { eventId, fate } = resultSchema.parse(answer);
  call.output.line(visible(describeFate(fate)));
  if (fate.kind === "waits" && fate.hint !== undefined) for (const line of hintLines(fate.hint)) call.output.line(line);
  const { kind, ...rest } = fate;
  call.output.data({ plan, author, eventId, delivery: kind, ...rest });
  return 0;
}

function describeFate(fate: SentFate): string {
  switch (fate.kind) {
    case "reached":
      return `reached ${fate.agent} in run ${fate.run}.`;
    case "handed":
      return `handed to ${fate.agent} in run ${fate.run}, which takes it up between two steps; else its next turn gets it.`;
    case "waits":
      return `waits for the agent's next turn: ${fate.why}.`;
    case "handled":
      return `taken by the plugin ${fate.by}; the agent does not get it.`;
  }
}
