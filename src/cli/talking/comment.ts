import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { gitAt, openRepository } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { ownUser } from "../../kernel/system/user.ts";
import type { Call } from "../output.ts";
import { refuseAgents, suggesting, tellWithoutDispatcher } from "../plans.ts";
import { readInput } from "../read-input.ts";

export interface CommentFlags {
  readonly todo?: number;
  readonly stdin?: boolean;
}

const resultSchema = z.object({ eventId: z.string(), isBlocked: z.boolean() });

/** Comments on a plan in the name of the user who runs the command. */
export async function comment(
  call: Call,
  plan: string,
  options: CommentFlags & { readonly text: string },
): Promise<number> {
  await refuseAgents(call, { plan, command: `prloom comment ${plan}` });
  const typed = await readInput(options.stdin ? { stdin: true } : {});
  if (typed !== undefined && options.text !== "") {
    throw new PrloomError(
      "usage",
      "The words come either from the command line or from --stdin.",
      "Leave one of them out.",
    );
  }
  const body = (typed ?? options.text).trim();
  if (body === "") {
    throw new PrloomError("usage", "The comment is empty.", `Type: prloom comment ${plan} "what you want to say"`);
  }
  const author = await authorName(call.cwd);
  const args = { plan, body, author, ...(options.todo === undefined ? {} : { todo: options.todo }) };
  const answer = await suggesting(call, plan, () => callOwner(call.cwd, "comment", args));
  const { eventId, isBlocked } = resultSchema.parse(answer);
  call.output.line(`Comment added to ${plan}. \`prloom show ${plan}\` has the conversation.`);
  if (isBlocked) call.output.line(`${plan} is blocked: work on it goes on after \`prloom unblock ${plan}\`.`);
  await tellWithoutDispatcher(call);
  call.output.data({ plan, author, eventId });
  return 0;
}

/** Who says something from the command line: as git calls them, or as the system does. */
export async function authorName(cwd: string): Promise<string> {
  const repo = await openRepository(cwd);
  const configured = await gitAt(repo, ["config", "user.name"], { allowExit: [1] });
  return configured.stdout.trim() || ownUser().name;
}
