import { readAnswer } from "./answer.ts";
import type { GateDecision } from "./gate-record.ts";

/** A signature for anything else, a commit for instance, is not one for a gate. */
export const SIGNED_FOR = "prloom-gate";

/** What a person signs: all that follows from the answer. */
export interface SignedWords {
  readonly decision: GateDecision;
  readonly gateId: string;
  readonly digest: string;
  /** Also these: what is to change is done with the rights of its author. */
  readonly words: string;
}

export interface SignedAnswer extends SignedWords {
  readonly signature: string;
}

/** The bytes that are signed. Only the words, at the end, can have line breaks, so no two answers read the same. */
export function textToSign({ decision, gateId, digest, words }: SignedWords): string {
  return `prloom gate answer 1\ngate ${gateId}\ndigest ${digest}\ndecision ${decision}\n\n${words}`;
}

const FENCE = "```prloom-signature";
const DIGEST = /^[0-9a-f]{64}$/;
/** At the end of the comment, and nothing else there; larger ones than of any key are not read. */
const BLOCK =
  /(?:^|\n)```prloom-signature\ndigest ([0-9a-f]{64})\n(-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]{1,8192}\n-----END SSH SIGNATURE-----)\n```\s*$/;

/** As long as a comment can be. */
const MAX_SIGNED = 65_536;

/** The answer as people read it in the comment; undefined if these words would be read as another one. */
export function wordsToSign(said: SignedWords): { readonly text: string; readonly signed: SignedWords } | undefined {
  const text = `/${said.decision} ${said.gateId}${said.words.trim() === "" ? "" : `\n\n${said.words.trim()}`}`;
  const read = readAnswer(text);
  if (read.says !== said.decision || read.gateId !== said.gateId || !DIGEST.test(said.digest)) return undefined;
  return text.includes(FENCE) ? undefined : { text, signed: { ...said, words: read.words } };
}

/** A comment that can be posted by any login. */
export function signedComment(text: string, { digest, signature }: Pick<SignedAnswer, "digest" | "signature">): string {
  return `${text}\n\n${FENCE}\ndigest ${digest}\n${signature.trim()}\n\`\`\`\n`;
}

/** What a comment with a signature says. "unreadable": it has one, which is not as we write them; undefined: it has none. */
export function readSigned(body: string): SignedAnswer | "unreadable" | undefined {
  const text = body.replaceAll("\r\n", "\n");
  if (!text.includes(FENCE)) return undefined;
  const [block, digest, signature] = text.length > MAX_SIGNED ? [] : (BLOCK.exec(text) ?? []);
  if (block === undefined || digest === undefined || signature === undefined) return "unreadable";
  const said = readAnswer(text.slice(0, text.length - block.length));
  const isNamed = said.says !== "none" && said.gateId !== undefined;
  if (!isNamed || said.says === "hold" || said.says === "unhold") return "unreadable";
  return { decision: said.says, gateId: said.gateId ?? "", digest, words: said.words, signature };
}

/** What became of the signature of a comment. `why` is a clause. */
export type SignatureCheck =
  | { readonly kind: "valid"; readonly signer: string; readonly answer: SignedAnswer }
  | { readonly kind: "refused"; readonly why: string };
