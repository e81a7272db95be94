import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { meantGate } from "../../dispatcher/gates/plan-gate.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { GATE_KINDS, GATE_STATES, type GateDecision, type GateKind } from "../../gate/gate-record.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { ownUser } from "../../kernel/system/user.ts";
import type { Call } from "../output.ts";
import { reading, refuseAgents, suggesting, tellWithoutDispatcher } from "../plans.ts";
import { visible } from "../render/safe-text.ts";
import { authorName } from "./comment.ts";

export interface AnswerFlags {
  readonly gate?: string;
}

const resultSchema = z.object({
  plan: z.string(),
  gateId: z.string(),
  kind: z.enum(GATE_KINDS),
  digest: z.string(),
  state: z.enum(GATE_STATES),
  after: z.string().exactOptional(),
  endedOpened: z.literal(true).exactOptional(),
  changeRequest: z.object({ ready: z.string().exactOptional() }).exactOptional(),
});

const NEXT: Readonly<Record<GateKind, Readonly<Record<GateDecision, string>>>> = {
  plan: {
    approve: "it may be implemented now",
    reject: "it is blocked; `prloom unblock` shows it again",
    revise: "the designer goes on with it",
    withdraw: "nothing more is done for it until it is approved again, and what was done so far stays",
  },
  pr: {
    approve: "its change is marked ready, and then `prloom merge` merges it",
    reject: "it is blocked; `prloom unblock` shows the change again",
    revise: "triage makes TODOs out of it, and the change is shown again",
    withdraw: "its change is not merged until it is approved again",
  },
};

interface AnswerGiven extends AnswerFlags {
  readonly decision: GateDecision;
  readonly words: string;
}

/** Answers the gates of plans. The newest one of each at this moment is meant, unless another is named. */
export async function answer(call: Call, plans: readonly string[], asked: AnswerGiven): Promise<number> {
  const { output } = call;
  const [plan = "", ...others] = plans;
  if (others.length === 0) {
    const given = await answerOne(call, plan, asked);
    await tellWithoutDispatcher(call);
    output.data(given);
    return 0;
  }
  if (asked.gate !== undefined)
    throw new PrloomError("usage", "--gate is for one plan.", "Leave it out, or answer them one by one.");
  const results: Answered[] = [];
  for (const id of plans) results.push(await attempt(call, id, asked));
  await tellWithoutDispatcher(call);
  output.data({ answers: results });
  return results.some((result) => "error" in result) ? 1 : 0;
}

type TakenAnswer = z.infer<typeof resultSchema> & { readonly by: string };
type Answered = TakenAnswer | { readonly plan: string; readonly error: Pick<PrloomError, "code" | "message" | "hint"> };

/** What one plan refuses keeps no other from its answer. */
async function attempt(call: Call, plan: string, asked: AnswerGiven): Promise<Answered> {
  try {
    return await answerOne(call, plan, asked);
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
    const { code, message, hint } = error;
    call.output.note(visible(`${plan}: ${message}`));
    call.output.note(visible(`  ${hint}`));
    return { plan, error: { code, message, hint } };
  }
}

async function answerOne(call: Call, plan: string, { decision, words, gate }: AnswerGiven): Promise<TakenAnswer> {
  await refuseAgents(call, { plan, command: `prloom ${decision} ${plan}` });
  // The user of the machine decides; a name in git's settings can be any.
  const by = ownUser(call.env).name;
  const author = await authorName(call.cwd);
  const gateId = gate ?? (await reading(call, (loom) => newest(loom, plan, decision)));
  const args = { plan, decision, words, author, by, ...(gateId === undefined ? {} : { gateId }) };
  const result = resultSchema.parse(await suggesting(call, plan, () => callOwner(call.cwd, "answer", args)));
  call.output.line(
    `${plan} ${result.state} (gate ${result.gateId}, ${result.digest.slice(0, 12)}): ${nextOf(result, decision)}`,
  );
  if (result.endedOpened) call.output.line(`The agent that was open there (\`prloom open ${plan}\`) was ended.`);
  if (result.changeRequest) call.output.line(visible(draftAgain(result.changeRequest.ready)));
  return { ...result, by };
}

/** A plan may be held: then an answer counts, and a command has to follow. */
function nextOf({ kind, after }: z.infer<typeof resultSchema>, decision: GateDecision): string {
  const next = NEXT[kind][decision];
  const isHeld = after !== undefined && (decision === "approve" || decision === "revise");
  return isHeld ? `${next.replace(/ now$/, "")}, after ${after}` : next;
}

/** What became of a change request that was ready. */
function draftAgain(why: string | undefined): string {
  return why === undefined
    ? "Its pull request is a draft again."
    : `Its pull request could not be made a draft again (${why}): until it is one, it can be merged on GitHub.`;
}

function newest(loom: Loom, plan: string, decision: GateDecision): string | undefined {
  const record = loom.store.byId(plan);
  return record && meantGate(loom, record, decision)?.gateId;
}
