import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readAnswer } from "../../src/gate/answer.ts";
import { type Judged, judgeComment } from "../../src/gate/judge-comment.ts";
import { BEING_POSTED } from "./being-posted.ts";
import { A, CASES, type Case } from "./comments.ts";
import { MISPLACED } from "./misplaced.ts";

const COMMENTS = [...CASES, ...MISPLACED, ...BEING_POSTED];
const FIRST = [{ gateId: A, state: "open" }] as const;

function judged({ body, about, author, gates = FIRST, rules = {} }: Case): Judged {
  const person = { login: "anna", permission: "write", ...author } as const;
  return judgeComment({ body, author: person, ...about }, gates, rules);
}

function inWords(one: Judged): string {
  if (one.decides === "none" && one.awaits !== undefined) return `none, awaits ${one.awaits}`;
  if (one.decides === "none") return one.reply === undefined ? "none" : "none, told";
  // What stands below an approval goes to the worker, and is not a part of the decision.
  const words = one.words === "" || one.decides === "approve" ? "" : `: ${one.words}`;
  const by = one.signer === undefined ? "" : ` by ${one.signer}`;
  return `${[one.decides, one.gateId].filter(Boolean).join(" ")}${words}${by}`;
}

test("what comments decide, by their words, author, time and gate", () => {
  assert.ok(COMMENTS.length >= 120, `${COMMENTS.length} comments`);
  assert.deepEqual(
    COMMENTS.map((one) => [one.body, inWords(judged(one))]),
    COMMENTS.map(({ body, outcome }) => [body, outcome]),
  );
});

test("the same comment by a stranger decides nothing and is not answered", () => {
  const isUnsigned = ({ about, rules }: Case) => rules?.approvers === undefined && about?.signature?.kind !== "valid";
  for (const one of COMMENTS.filter(isUnsigned)) {
    const stranger = { ...one.author, login: "stranger", permission: "read" } as const;
    assert.equal(inWords(judged({ ...one, author: stranger })), "none", one.body);
  }
});

test("an approver with a user id is that person, whatever login they have now", () => {
  const by = (approver: string, id: string): string =>
    inWords(judged({ body: "approved", author: { id }, rules: { approvers: [approver] }, outcome: "" }));
  assert.deepEqual(
    [by("anna#17", "17"), by("renamed#17", "17"), by("anna#17", "18")],
    [`approve ${A}`, `approve ${A}`, "none"],
  );
});

test("a quoted, hidden or indented answer is none, whatever it is", () => {
  const answers = COMMENTS.filter(({ outcome }) => !outcome.startsWith("none")).map(({ body }) => body.trim());
  const wraps: readonly ((body: string) => string)[] = [
    (body) => body.replace(/^/gm, "> "),
    (body) => `<!--\n${body.replaceAll("<!-- from a template -->", "")}\n-->`,
    (body) => `\`\`\`\n${body}\n\`\`\``,
    (body) => body.replace(/^/gm, "    "),
    (body) => `Not yet.\n\n${body}`,
    (body) => `- ${body}`,
  ];
  for (const body of answers)
    for (const wrap of wraps) assert.equal(readAnswer(wrap(body)).says, "none", JSON.stringify(wrap(body)));
});

test("only the words of the grammar approve", () => {
  const words = ["not", "approved", "lgtm", "never", "go ahead", "please", "/approve", "?", "👍", "\u200b", "ok"];
  const grammar = /^\/?(?:approved?|lgtm|proceed|go ahead)[.!…]*$/;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }), (parts) => {
      const line = parts.join(" ");
      if (readAnswer(line).says === "approve") assert.match(line, grammar);
    }),
  );
});

test("what is longer than any comment is not read", () => {
  assert.equal(readAnswer(`approved\n${"x".repeat(65_536)}`).says, "none");
});

test("of a gate that was shown again without an answer, its author is told that, and not that it was revised", () => {
  const ids = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW"] as const;
  const gates = [
    { gateId: ids[0], state: "revised", isReplaced: true },
    { gateId: ids[1], state: "open" },
  ] as const;
  const author = { id: "7", login: "anna", permission: "write", bot: false, self: false } as const;
  const said = judgeComment({ body: `/approve ${ids[0]}`, author }, gates, {});
  assert.match(
    said.decides === "none" ? (said.reply ?? "") : "",
    /gate \w+ was replaced\. To approve, write `\/approve/,
  );
});
