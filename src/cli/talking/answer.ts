import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { gateOf } from "../../dispatcher/gates/plan-gate.ts";
import { GATE_STATES, type GateDecision } from "../../gate/gate-record.ts";
import type { Call } from "../output.ts";
import { reading, refuseAgents, suggesting, tellWithoutDispatcher } from "../plans.ts";
import { authorName } from "./comment.ts";

export interface AnswerFlags {
  readonly gate?: string;
}

const resultSchema = z.object({ plan: z.string(), gateId: z.string(), digest: z.string(), state: z.enum(GATE_STATES) });

const NEXT: Readonly<Record<GateDecision, string>> = {
  approve: "it may be implemented now",
  reject: "it is blocked; `prloom unblock` shows it again",
  revise: "the designer goes on with it",
  withdraw: "nothing more is done for it until it is approved again, and what was done so far stays",
};

/** Answers the gate of a plan. The newest one at this moment is meant, unless another is named. */
export async function answer(
  call: Call,
  decision: GateDecision,
  { plan, words, gate }: AnswerFlags & { readonly plan: string; readonly words: string },
): Promise<number> {
  await refuseAgents(call, { plan, command: `prloom ${decision} ${plan}` });
  const author = await authorName(call.cwd);
  const gateId = gate ?? (await reading(call, (loom) => newest(loom, plan)));
  const args = { plan, decision, words, author, ...(gateId === undefined ? {} : { gateId }) };
  const result = resultSchema.parse(await suggesting(call, plan, () => callOwner(call.cwd, "answer", args)));
  call.output.line(`${plan} ${result.state} (gate ${result.gateId}, ${result.digest.slice(0, 12)}): ${NEXT[decision]}`);
  await tellWithoutDispatcher(call);
  call.output.data({ ...result, by: author });
  return 0;
}

function newest(loom: Parameters<Parameters<typeof reading>[1]>[0], plan: string): string | undefined {
  const record = loom.store.byId(plan);
  return record && gateOf(loom, record)?.gateId;
}
