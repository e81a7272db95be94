import * as z from "zod";
import { PERMISSIONS } from "../../bus/author.ts";
import { gatesOf } from "../../dispatcher/gates/plan-gate.ts";
import { requireRecord } from "../../dispatcher/records.ts";
import { type Decision, readAnswer } from "../../gate/answer.ts";
import { GATE_STATES } from "../../gate/gate-record.ts";
import { judgeComment, type PostedGate } from "../../gate/judge-comment.ts";
import { readSigned, type SignatureCheck } from "../../gate/signed-answer.ts";
import type { Call } from "../output.ts";
import { reading, suggesting } from "../plans.ts";
import { visible } from "../render/safe-text.ts";

const text = z.string({ error: "must be a string" });
const flag = z.boolean({ error: "must be true or false" });
const time = z.iso.datetime({ offset: true, error: "must be a time, like 2026-01-31T12:00:00Z" }).transform(Date.parse);
const oneOf = (words: readonly string[]): string => `must be one of ${words.join(", ")}`;

const gateSchema = z.strictObject({
  gateId: text,
  state: z.enum(GATE_STATES, { error: oneOf(GATE_STATES) }).default("open"),
  postedAt: time.optional(),
  /** The comment stands at another place. */
  isElsewhere: flag.optional(),
});

/** A comment as a line of `--batch` gives it. What is left out is as it is for a colleague at the first gate. */
export const askedAnswerSchema = z.strictObject(
  {
    answer: text,
    author: text.default("someone"),
    permission: z.enum([...PERMISSIONS, "unknown"], { error: oneOf([...PERMISSIONS, "unknown"]) }).default("write"),
    bot: flag.optional(),
    self: flag.optional(),
    edited: flag.optional(),
    at: time.optional(),
    gates: z.array(gateSchema, { error: "must be a list of gates" }).optional(),
    approvers: z.array(text, { error: "must be a list of logins" }).optional(),
    ownLogin: text.optional(),
    /** Whose signature it has; nothing is checked here. */
    signer: text.optional(),
  },
  { error: ({ code }) => (code === "unrecognized_keys" ? undefined : "must be an object") },
);

type AskedAnswer = Omit<z.infer<typeof askedAnswerSchema>, "gates"> & {
  readonly gates?: readonly PostedGate[] | undefined;
};

export interface AnswerData {
  readonly answer: Decision | "none";
  readonly why: string;
  readonly gateId?: string;
  /** What its author is told. */
  readonly reply?: string;
}

/** What a comment would decide; nothing is written. */
export function answerData(asked: AskedAnswer): AnswerData {
  const { answer: body, author: login, permission, approvers, ownLogin, gates, ...facts } = asked;
  const author = {
    login,
    permission: permission === "unknown" ? undefined : permission,
    bot: facts.bot,
    self: facts.self,
  };
  const signature = signatureFor(body, facts.signer);
  const comment = { body, author, edited: facts.edited, at: facts.at, signature };
  const judged = judgeComment(comment, gates ?? usualGates(body), { approvers, ownLogin });
  if (judged.decides === "none")
    return { answer: "none", why: judged.why, ...(judged.reply === undefined ? {} : { reply: judged.reply }) };
  const gate = gates && judged.gateId !== undefined ? { gateId: judged.gateId } : {};
  return { answer: judged.decides, why: "its first line is an answer, by a person who may give it", ...gate };
}

/** Whether it is of these words is checked only where it is heard. */
function signatureFor(body: string, signer: string | undefined): SignatureCheck | undefined {
  const answer = readSigned(body);
  if (answer === undefined) return undefined;
  if (answer !== "unreadable" && signer !== undefined) return { kind: "valid", signer, answer };
  return { kind: "refused", why: answer === "unreadable" ? "it is not as prloom writes it" : "it was not checked" };
}

/** One gate, in the state that the comment needs. */
function usualGates(body: string): readonly PostedGate[] {
  const said = readAnswer(body);
  const named = said.says === "none" ? undefined : said.gateId;
  return [{ gateId: named ?? "", state: said.says === "withdraw" ? "approved" : "open" }];
}

/** At the gates that a plan was shown at, or else at a first one. */
export async function explainAnswer(call: Call, body: string, plan: string | undefined): Promise<number> {
  const { output } = call;
  const gates = plan === undefined ? undefined : await suggesting(call, plan, () => shownGates(call, plan));
  const data = answerData({ ...askedAnswerSchema.parse({ answer: body }), gates });
  output.data(data);
  if (output.json) return 0;
  output.line(data.answer === "none" ? output.paint("dim", "none") : output.paint("green", data.answer));
  output.line(visible(data.why));
  if (data.reply !== undefined) output.line(output.paint("dim", visible(data.reply)));
  return 0;
}

function shownGates(call: Call, plan: string): Promise<PostedGate[]> {
  return reading(call, (loom) =>
    gatesOf(loom, requireRecord(loom, plan)).flatMap(({ gateId, state, told }) =>
      told === undefined ? [] : [{ gateId, state }],
    ),
  );
}
