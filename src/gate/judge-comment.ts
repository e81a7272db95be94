import { hasWritePermission } from "../bus/author.ts";
import type { EventAuthor } from "../bus/message-types.ts";
import { type DecidingAnswer, type Decision, readAnswer } from "./answer.ts";
import type { GateState } from "./gate-record.ts";
import type { SignatureCheck } from "./signed-answer.ts";

/** What a comment's answer depends on, of a gate of the plan that the comment is about. */
export interface PostedGate {
  readonly gateId: string;
  readonly state: GateState;
  /** No person decided about it: it was shown again, or needs no answer. */
  readonly isReplaced?: boolean | undefined;
  /** When it was posted, in milliseconds: what was written before does not answer it. */
  readonly postedAt?: number | undefined;
  /** Not all of it is there yet. */
  readonly isPosting?: boolean | undefined;
  /** It was shown at another place than the one where the comment stands: only taking back counts from there. */
  readonly isElsewhere?: boolean | undefined;
}

export interface AnsweringAuthor extends Omit<EventAuthor, "permission"> {
  /** Undefined when it could not be looked up. */
  readonly permission?: EventAuthor["permission"] | undefined;
  /** The user id, where the place tells one. */
  readonly id?: unknown;
}

export interface GateComment {
  readonly body: string;
  readonly author: AnsweringAuthor;
  /** Edited after it was written. */
  readonly edited?: boolean | undefined;
  readonly at?: number | undefined;
  /** What became of its signature, if it has one. */
  readonly signature?: SignatureCheck | undefined;
  /** It is a review, or stands at a line: that is about the code, and may be an app's in a person's name. Only taking back counts. */
  readonly isRemark?: boolean | undefined;
  /** It is a review that approves, in the sense of the place where it stands. */
  readonly isVerdict?: boolean | undefined;
}

export interface AnswerRules {
  /** Who may answer, in place of everyone with write permission. */
  readonly approvers?: readonly string[] | undefined;
  /** The login that we post with: an agent could have written what stands under it. */
  readonly ownLogin?: string | undefined;
}

/** What a comment decides. `reply` is for the author; a stranger gets one only for what a person signed, who may have posted it. */
export type Judged =
  | {
      readonly decides: Decision;
      readonly gateId?: string;
      readonly words: string;
      /** The person who signed it, in place of its author. */
      readonly signer?: string;
    }
  | {
      readonly decides: "none";
      readonly why: string;
      readonly reply?: string;
      /** It was probably meant as an answer; the reply says how to give one. */
      readonly isNear?: true;
      /** Its words are an answer all the same, and nothing else. */
      readonly isAnswer?: true;
      /** It may be an answer to this gate: whether it is, shows when all of that is there. */
      readonly awaits?: string;
    };

/** Whether a comment is an answer, by a person who may give it, to a gate that waits for it. */
export function judgeComment(comment: GateComment, gates: readonly PostedGate[], rules: AnswerRules): Judged {
  const { author, signature } = comment;
  if (author.self) return ignored("it is a post of prloom");
  if (signature?.kind === "valid") return judgeSigned(comment, signature, gates);
  const said = readAnswer(comment.body);
  if (author.bot) return ignored("a bot wrote it");
  const stranger = strangerness(author, rules);
  if (stranger !== undefined) return ignored(stranger);
  // Not as one without: its author meant it to be more.
  if (signature) return { ...told(`its signature does not count: ${signature.why}`, howTo(gates)), isAnswer: true };
  if (said.says === "none") {
    const isAsked = shownHere(gates).some(({ state }) => state === "open");
    const isNear = said.isNear || comment.isVerdict === true;
    return isNear && isAsked ? nearMiss(comment, said.why, gates) : ignored(said.why);
  }
  const judged = judgeAnswer(comment, said, { gates, rules });
  return judged.decides === "none" ? { ...judged, isAnswer: true } : judged;
}

function nearMiss({ body, isRemark }: GateComment, why: string, gates: readonly PostedGate[]): Judged {
  const near = { ...told(isRemark ? REMARK : why, howTo(gates)), isNear: true } as const;
  // Without words there is nothing else that it could be.
  return /\S/.test(body) ? near : { ...near, isAnswer: true };
}

const REMARK = "a review answers no gate, a comment in the thread does";

/** The key tells whose answer it is, and the signature has all of it: who posts it does not matter. */
function judgeSigned(
  comment: GateComment,
  { signer, answer }: Extract<SignatureCheck, { kind: "valid" }>,
  gates: readonly PostedGate[],
): Judged {
  const { decision: says, gateId, words } = answer;
  const judged = comment.edited ? told(...EDITED) : decideFor(comment, { says, gateId, words }, gates);
  return judged.decides === "none" ? { ...judged, isAnswer: true } : { ...judged, signer };
}

const EDITED = ["it was edited after it was written", "Write the answer as a new comment."] as const;

interface Asked {
  readonly gates: readonly PostedGate[];
  readonly rules: AnswerRules;
}

function judgeAnswer(comment: GateComment, said: DecidingAnswer, { gates, rules }: Asked): Judged {
  const { login } = comment.author;
  if (comment.edited) return told(...EDITED);
  if (rules.ownLogin !== undefined && sameLogin(login, rules.ownLogin))
    return told(
      `prloom posts as ${login} as well, so it cannot tell who wrote it`,
      "Answer with `prloom approve`, or sign the answer.",
    );
  return decideFor(comment, said, gates);
}

type NoDecision = Extract<Judged, { decides: "none" }>;
const ignored = (why: string): NoDecision => ({ decides: "none", why });
const told = (why: string, next: string): NoDecision => ({
  decides: "none",
  why,
  reply: `Nothing was decided: ${why}. ${next}`,
});
const sameLogin = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Whether an author's words may decide about a plan, or extend what was approved. */
export function mayAnswer(author: AnsweringAuthor, rules: Pick<AnswerRules, "approvers">): boolean {
  return !author.self && !author.bot && strangerness(author, rules) === undefined;
}

/** Why the author may not answer; undefined for one who may. */
function strangerness(author: AnsweringAuthor, { approvers }: AnswerRules): string | undefined {
  const { login, permission } = author;
  if (approvers)
    return approvers.some((one) => isNamed(one, author)) ? undefined : `${login} is not among gates.approvers`;
  if (permission === undefined) return `what ${login} may do could not be looked up`;
  return hasWritePermission({ permission }) ? undefined : `${login} has no write permission`;
}

/** By login, or with `#<user id>` behind it by that alone: a login that was given up can be registered by another person. */
function isNamed(approver: string, { login, id }: AnsweringAuthor): boolean {
  const [name = "", userId] = approver.split("#");
  return userId === undefined ? sameLogin(name, login) : userId === String(id);
}

function decideFor(comment: GateComment, said: DecidingAnswer, all: readonly PostedGate[]): Judged {
  const { says, words } = said;
  if (says === "unhold" && comment.isRemark) return told(REMARK, "Write `/unhold` there.");
  if (says === "hold" || says === "unhold") return { decides: says, words };
  // Words at another place may be about something else that stands there. Taking back is safe.
  const gates = says === "withdraw" ? all : shownHere(all);
  if (gates.length === 0 && all.length > 0)
    return told("the plan was not shown here", "Answer where it was shown, or with `prloom approve`.");
  if (comment.isRemark && says !== "withdraw") return told(REMARK, howTo(gates));
  const named = said.gateId === undefined ? undefined : gates.find(({ gateId }) => gateId === said.gateId);
  if (said.gateId !== undefined && !named) return told(`there is no gate ${said.gateId} here`, howTo(gates));
  const wanted: GateState = says === "withdraw" ? "approved" : "open";
  const fitting = gates.filter(({ state }) => state === wanted);
  const gate = named ?? fitting.at(-1);
  if (gate?.state !== wanted) return told(stateOf(gate ?? gates.at(-1), says), howTo(gates));
  // A bare word must not decide about a plan that its author has not seen. Taking back is safe: the newest approval is the one that counts.
  const isUnclear = says === "approve" ? gates.length > 1 : says !== "withdraw" && fitting.length > 1;
  if (!named && isUnclear) return told("the plan was shown more than once here", howTo(gates));
  // Before the times: that of the gate is not known yet by the clock of the place where it is shown.
  if (gate.isPosting)
    return { ...told("the plan is not shown completely yet", "Answer when it is."), awaits: gate.gateId };
  // Not for taking back: a clock that is wrong must not keep a person from it.
  const isOlder = comment.at !== undefined && gate.postedAt !== undefined && comment.at < gate.postedAt;
  if (isOlder && says !== "withdraw") return told("it was written before the plan was shown", howTo(gates));
  return { decides: says, gateId: gate.gateId, words };
}

function stateOf(gate: PostedGate | undefined, says: Decision): string {
  if (gate) return `gate ${gate.gateId} ${gate.isReplaced ? "was replaced" : `is ${gate.state}`}`;
  return says === "withdraw" ? "nothing was approved here" : "no gate is open here";
}

function shownHere(gates: readonly PostedGate[]): readonly PostedGate[] {
  return gates.filter(({ isElsewhere }) => !isElsewhere);
}

/** The words that would count now. */
function howTo(all: readonly PostedGate[]): string {
  const gates = shownHere(all);
  const open = gates.filter(({ state }) => state === "open");
  if (open.length === 0) return "No gate waits for an answer here.";
  const answers = gates.length > 1 ? open.map(({ gateId }) => `\`/approve ${gateId}\``) : ["`approved`"];
  return `To approve, write ${answers.join(" or ")} on the first line, else \`/reject <why>\` or \`/revise <what>\`.`;
}
