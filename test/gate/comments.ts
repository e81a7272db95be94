import type { AnswerRules, GateComment, PostedGate } from "../../src/gate/judge-comment.ts";
import type { SignedAnswer } from "../../src/gate/signed-answer.ts";

export const A = "01J9ZQ4T3N8V5W6X7Y8Z9A0B1C";
export const B = "01J9ZQ5T3N8V5W6X7Y8Z9A0B1D";

/** A comment by a person with write permission, at the first gate, unless something else is said. */
export interface Case {
  readonly body: string;
  readonly outcome: string;
  readonly about?: Partial<GateComment>;
  readonly author?: Partial<GateComment["author"]>;
  readonly gates?: readonly PostedGate[];
  readonly rules?: AnswerRules;
}

const open = (gateId: string): PostedGate => ({ gateId, state: "open" });
const inState = (gateId: string, state: PostedGate["state"]): PostedGate => ({ gateId, state });
const postedAt100 = (gateId: string, state: PostedGate["state"]): PostedGate => ({ gateId, state, postedAt: 100 });

interface Around extends Pick<Case, "author" | "gates" | "rules"> {
  readonly edited?: boolean;
}

/** A comment whose signature was found to be of these words, and of a signer. */
export function signed(decision: SignedAnswer["decision"], outcome: string, { edited, ...around }: Around = {}): Case {
  const words = decision === "approve" ? "" : "as signed";
  const answer = { decision, gateId: A, digest: "ab".repeat(32), words, signature: "" };
  const signature = { kind: "valid", signer: "anna@example.com", answer } as const;
  return { body: `/${decision} ${A} ${words}`, about: { signature, edited }, outcome, ...around };
}

/** The same with one that does not count. */
function refused(why: string, outcome: string, { edited, ...around }: Around = {}): Case {
  return { body: `/approve ${A}`, about: { signature: { kind: "refused", why }, edited }, outcome, ...around };
}

const APPROVING: readonly string[] = [
  "approved",
  "Approved",
  "APPROVED",
  "approve",
  "Approve.",
  "approved!",
  "Approved!!!",
  "approved\n",
  "\n\napproved",
  "approved\r\n",
  "  approved  ",
  "lgtm",
  "LGTM",
  "LGTM!",
  "LGTM.",
  "proceed",
  "Proceed…",
  "go ahead",
  "Go ahead!",
  "Go  ahead.",
  "approved。",
  "/approve",
  "/Approve",
  "/APPROVE!",
  `/approve ${A}`,
  `/approve ${A.toLowerCase()}`,
  `/approve ${A}.`,
  "approved\n\nPlease keep the old colours in mind.",
  "approved\n--\nSent from a telephone",
  "> Shall I begin?\n\napproved",
  "> Shall I begin?\n> Or wait?\n\n> And more?\n\nlgtm",
  "<!-- from a template -->\n\napproved",
  "\ufeffapproved",
  "lgtm\t",
];

/** These get no answer: they are talk. */
const TALK: readonly string[] = [
  "",
  "   \n\n",
  "Thank you!",
  "This is a fine plan, I will read it tomorrow.",
  "What about the tests?",
  "/merge",
  "/help",
  "> approved",
  "> approved\nby him",
  "> quote\n\n> approved",
  "<!-- approved -->",
  "<!--\n/approve\n-->",
  "<!-- never closed\napproved",
  "```\napproved\n```",
  "~~~\n/approve\n~~~",
  "    approved",
  "\tapproved",
  "- approved",
  "* /approve",
  "1. approved",
  "- [x] approved",
  "<details>\napproved\n</details>",
  "<p>approved</p>",
  "[approved]: https://example.com",
  "# Plan\n\napproved",
  "Some words first.\n\napproved",
  "@prloom",
  "承認します",
  "genehmigt",
  "Одобрено",
  "موافق",
  "\u0430pproved",
  "ａｐｐｒｏｖｅｄ",
  // Rendered, the rest of each is inside a comment that is never closed.
  "<!-- a --> <!--\napproved\n-->",
  "> <!--\n\napproved",
  "> <!-- a --> <!--\n\n/approve",
  // Ordinary talk with a small word in it.
  "There is no test for the second TODO.",
  "Is it ok for the old clients?",
  "Yes, the colours are from the style guide.",
];

/** Meant as an answer, but none: its author is told the words that count. */
const NEAR: readonly string[] = [
  "not approved",
  "Not approved.",
  "approved?",
  "Approved？",
  "lgtm?",
  "should I approve this?",
  "I approve",
  "I'd approve if the tests were there",
  "approved, but without the last TODO",
  "approved by Anna",
  "**approved**",
  "| approved |\n| --- |",
  "*lgtm*",
  "`approved`",
  "~~approved~~",
  "# approved",
  "approved 👍",
  "👍",
  "✅",
  ":+1:",
  "+1",
  "ship it",
  "looks good to me",
  "yes",
  "Yes!",
  "ok",
  "Okay.",
  "no",
  "rejected",
  "denied",
  "do not proceed",
  "don't proceed",
  "please proceed with care",
  "go ahead with the first part only",
  "LGTM but wait",
  "approved <!-- not -->",
  "@prloom approved",
  "/approve please",
  "/approve but only the first part",
  `/approve ${A} and merge`,
  `/approve ${A}${A}`,
  "/revise",
  "/revise   ",
  "/approved",
  "/lgtm",
  "/revi\u017fe it",
  "appr\u200boved",
  "\u202eapproved",
  "approved\u200f",
  "approved\u0000",
];

const plain = (bodies: readonly string[], outcome: string): Case[] => bodies.map((body) => ({ body, outcome }));

export const CASES: readonly Case[] = [
  ...plain(APPROVING, `approve ${A}`),
  ...plain(TALK, "none"),
  ...plain(NEAR, "none, told"),

  { body: "/reject", outcome: `reject ${A}` },
  { body: "/reject It breaks the old clients.", outcome: `reject ${A}: It breaks the old clients.` },
  { body: "/reject\n\nToo much at once.", outcome: `reject ${A}: Too much at once.` },
  { body: `/reject ${A} Too late.`, outcome: `reject ${A}: Too late.` },
  { body: "/revise Keep the old colours.", outcome: `revise ${A}: Keep the old colours.` },
  { body: "/revise\n- keep the colours\n- add a test", outcome: `revise ${A}: - keep the colours\n- add a test` },
  { body: "/revise use\ttabs", outcome: `revise ${A}: use\ttabs` },
  { body: "/revise Une autre couleur\u00a0!", outcome: `revise ${A}: Une autre couleur\u00a0!` },
  { body: "/revise \u{1f469}\u200d\u{1f4bb} icons", outcome: `revise ${A}: \u{1f469}\u200d\u{1f4bb} icons` },
  { body: "/reject\tno", outcome: `reject ${A}: no` },
  { body: "/Revise one thing\nand another", outcome: `revise ${A}: one thing\nand another` },
  { body: "/hold", outcome: "hold" },
  { body: "/hold until Monday", outcome: "hold: until Monday" },
  { body: "/unhold", outcome: "unhold" },
  { body: "/unhold", gates: [], outcome: "unhold" },
  { body: "> /approve\n\n/reject no", outcome: `reject ${A}: no` },

  // Who wrote it.
  { body: "approved", author: { permission: "admin" }, outcome: `approve ${A}` },
  { body: "approved", author: { permission: "maintain" }, outcome: `approve ${A}` },
  { body: "approved", author: { permission: "triage" }, outcome: "none" },
  { body: "approved", author: { permission: "read" }, outcome: "none" },
  { body: "approved", author: { permission: "none" }, outcome: "none" },
  { body: "approved", author: { permission: undefined }, outcome: "none" },
  { body: "not approved", author: { permission: "read" }, outcome: "none" },
  { body: "/reject no", author: { permission: "read" }, outcome: "none" },
  { body: "/hold", author: { permission: "read" }, outcome: "none" },
  { body: "/withdraw", author: { permission: "read" }, gates: [inState(A, "approved")], outcome: "none" },
  { body: "approved", author: { bot: true }, outcome: "none" },
  { body: "approved", author: { bot: true, permission: "admin" }, outcome: "none" },
  { body: "approved", author: { self: true }, outcome: "none" },
  { body: `To approve, write \`/approve ${A}\``, author: { self: true }, outcome: "none" },
  { body: "approved", rules: { approvers: ["anna"] }, outcome: `approve ${A}` },
  { body: "approved", rules: { approvers: ["Anna"] }, author: { permission: "read" }, outcome: `approve ${A}` },
  { body: "approved", rules: { approvers: ["anna"] }, author: { permission: undefined }, outcome: `approve ${A}` },
  { body: "approved", rules: { approvers: ["bob"] }, author: { permission: "admin" }, outcome: "none" },
  { body: "approved", rules: { approvers: [] }, outcome: "none" },
  { body: "approved", rules: { approvers: ["anna"] }, author: { bot: true }, outcome: "none" },
  { body: "approved", rules: { ownLogin: "anna" }, outcome: "none, told" },
  { body: "/reject no", rules: { ownLogin: "ANNA" }, outcome: "none, told" },
  { body: "/hold", rules: { ownLogin: "anna" }, outcome: "none, told" },
  { body: "approved", rules: { ownLogin: "prloom-bot" }, outcome: `approve ${A}` },

  // When, and whether it was edited.
  { body: "approved", about: { edited: true }, outcome: "none, told" },
  { body: "/reject no", about: { edited: true }, outcome: "none, told" },
  { body: "Thanks!", about: { edited: true }, outcome: "none" },
  { body: "approved", about: { edited: true }, author: { permission: "read" }, outcome: "none" },
  { body: "approved", about: { at: 99 }, gates: [postedAt100(A, "open")], outcome: "none, told" },
  { body: "approved", about: { at: 100 }, gates: [postedAt100(A, "open")], outcome: `approve ${A}` },
  { body: "approved", about: { at: 101 }, gates: [postedAt100(A, "open")], outcome: `approve ${A}` },
  { body: "/withdraw", about: { at: 99 }, gates: [postedAt100(A, "approved")], outcome: `withdraw ${A}` },

  // Which gate.
  { body: "approved", gates: [], outcome: "none, told" },
  { body: "approved", gates: [inState(A, "approved")], outcome: "none, told" },
  { body: "approved", gates: [inState(A, "rejected")], outcome: "none, told" },
  { body: "approved", gates: [inState(A, "expired")], outcome: "none, told" },
  { body: `/approve ${B}`, outcome: "none, told" },
  { body: `/approve ${A}`, gates: [inState(A, "withdrawn")], outcome: "none, told" },
  { body: `/approve ${A}`, gates: [inState(A, "revised"), open(B)], outcome: "none, told" },
  { body: "approved", gates: [inState(A, "revised"), open(B)], outcome: "none, told" },
  { body: `/approve ${B}`, gates: [inState(A, "revised"), open(B)], outcome: `approve ${B}` },
  { body: "approved", gates: [open(A), open(B)], outcome: "none, told" },
  { body: `/approve ${A}`, gates: [open(A), open(B)], outcome: `approve ${A}` },
  { body: "/reject no", gates: [open(A), open(B)], outcome: "none, told" },
  { body: `/reject ${B} no`, gates: [open(A), open(B)], outcome: `reject ${B}: no` },
  { body: "/reject no", gates: [inState(A, "revised"), open(B)], outcome: `reject ${B}: no` },
  { body: "/revise more", gates: [inState(A, "revised"), open(B)], outcome: `revise ${B}: more` },
  { body: "/withdraw", gates: [inState(A, "approved")], outcome: `withdraw ${A}` },
  {
    body: "/withdraw It was the wrong plan.",
    gates: [inState(A, "approved")],
    outcome: `withdraw ${A}: It was the wrong plan.`,
  },
  { body: "/withdraw", gates: [inState(A, "revised"), inState(B, "approved")], outcome: `withdraw ${B}` },
  { body: "/withdraw", gates: [inState(A, "approved"), inState(B, "approved")], outcome: `withdraw ${B}` },
  { body: `/withdraw ${A}`, gates: [inState(A, "approved"), inState(B, "approved")], outcome: `withdraw ${A}` },
  { body: "/withdraw", gates: [inState(A, "withdrawn")], outcome: "none, told" },
  { body: "/withdraw", outcome: "none, told" },
  { body: "approved", gates: [inState(A, "withdrawn")], outcome: "none, told" },

  // Signed: whose login it is does not matter, and all else does.
  signed("approve", `approve ${A} by anna@example.com`),
  signed("approve", `approve ${A} by anna@example.com`, { author: { login: "stranger", permission: "none" } }),
  signed("approve", `approve ${A} by anna@example.com`, { author: { login: "stranger", permission: undefined } }),
  signed("approve", `approve ${A} by anna@example.com`, { author: { bot: true } }),
  signed("approve", `approve ${A} by anna@example.com`, { rules: { ownLogin: "anna" } }),
  signed("approve", `approve ${A} by anna@example.com`, { rules: { approvers: ["bob"] } }),
  signed("approve", `approve ${A} by anna@example.com`, { gates: [open(A), open(B)] }),
  signed("reject", `reject ${A}: as signed by anna@example.com`),
  signed("revise", `revise ${A}: as signed by anna@example.com`),
  signed("withdraw", `withdraw ${A}: as signed by anna@example.com`, { gates: [inState(A, "approved")] }),
  signed("approve", "none", { author: { self: true } }),
  signed("approve", "none, told", { edited: true }),
  signed("approve", "none, told", { gates: [open(B)] }),
  signed("approve", "none, told", { gates: [] }),
  signed("approve", "none, told", { gates: [inState(A, "withdrawn")] }),
  signed("approve", "none, told", { gates: [inState(A, "withdrawn"), open(B)] }),
  signed("approve", "none, told", { gates: [inState(A, "approved")] }),
  signed("approve", "none, told", { gates: [inState(A, "rejected")] }),
  signed("withdraw", "none, told", { gates: [inState(A, "open")] }),
  signed("withdraw", "none, told", { gates: [inState(A, "withdrawn")] }),

  // With a signature that does not count: by the wrong key, for another digest, of other words.
  refused("its key is not among the signers", "none, told"),
  refused("it is for abababababab, and gate A showed cdcdcdcdcdcd", "none, told"),
  refused("it is not of these words", "none, told"),
  refused("its key is not valid at this time", "none, told"),
  refused("ssh-keygen is not installed where prloom runs", "none, told"),
  refused("its key is not among the signers", "none", { author: { login: "stranger", permission: "read" } }),
  refused("its key is not among the signers", "none", { author: { login: "stranger", permission: undefined } }),
  refused("its key is not among the signers", "none", { author: { bot: true } }),
  refused("its key is not among the signers", "none", { author: { self: true } }),
  refused("its key is not among the signers", "none, told", { edited: true }),
  refused("its key is not among the signers", "none, told", { rules: { ownLogin: "anna" } }),
];
