import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readSigned, signedComment, textToSign, wordsToSign } from "../../src/gate/signed-answer.ts";
import { signersProblem } from "../../src/gate/signers.ts";
import { A, B } from "./comments.ts";

const digest = "ab".repeat(32);
const SIGNATURE = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----";
const DECISIONS = ["approve", "reject", "revise", "withdraw"] as const;

test("what is read from a signed comment is what was signed, whatever the words", () => {
  fc.assert(
    fc.property(fc.constantFrom(...DECISIONS), fc.string({ unit: "grapheme" }), (decision, words) => {
      const said = wordsToSign({ decision, gateId: A, digest, words });
      // A revision needs words.
      if (!said) return;
      const read = readSigned(signedComment(said.text, { digest, signature: SIGNATURE }));
      assert.deepEqual(read, { ...said.signed, signature: SIGNATURE });
    }),
  );
});

test("no two answers have the same text", () => {
  const one = { decision: "approve", gateId: A, digest, words: "" } as const;
  const others = [
    { ...one, decision: "withdraw" as const },
    { ...one, gateId: B },
    { ...one, digest: "cd".repeat(32) },
    { ...one, words: "and more" },
    { ...one, words: "decision reject" },
  ];
  assert.equal(new Set([one, ...others].map(textToSign)).size, 1 + others.length);
});

test("a comment is signed only as we write it", () => {
  const comment = signedComment(`/approve ${A}`, { digest, signature: SIGNATURE });
  assert.equal(typeof readSigned(comment), "object");
  assert.equal(typeof readSigned(comment.replaceAll("\n", "\r\n")), "object");
  for (const body of ["approved", `/approve ${A}`, SIGNATURE]) assert.equal(readSigned(body), undefined);
  const changed: readonly string[] = [
    comment.replace(/^/gm, "> "),
    `${comment}\nand one more thing`,
    comment.replace(`/approve ${A}`, "/approve"),
    comment.replace(`/approve ${A}`, "/hold"),
    comment.replace(`/approve ${A}`, "Not yet."),
    comment.replace(digest, digest.slice(1)),
    comment.replace("U1NIU0lH", "<script>"),
    comment.replace("U1NIU0lH", "A".repeat(10_000)),
    "x".repeat(70_000) + comment,
  ];
  for (const body of changed) assert.equal(readSigned(body), "unreadable", body.slice(0, 200));
});

const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAjTURU2b0VCOI9LBjo6GUBcwvQyOWw4g5ZMZXqdT3zC";

test("a file of signers is read as ssh reads it, or not at all", () => {
  const good = [
    `anna@example.com ${KEY}`,
    `# a comment\n\nanna,bob ${KEY} with a comment\r\n`,
    `"anna b" ${KEY}`,
    `anna cert-authority,namespaces="git,prloom-gate" ${KEY}`,
    `*@example.com cert-authority ${KEY}`,
    `anna valid-after="20260101",valid-before="202612312359Z" ${KEY}`,
  ];
  for (const text of good) assert.equal(signersProblem(text), undefined, text);
  const bad: readonly (readonly [string, RegExp])[] = [
    ["", /names no signer/],
    ["# only words\n", /names no signer/],
    ["garbage line", /line 1: .*neither a key nor an option/],
    ["anna", /line 1: .*neither a key nor an option/],
    [`anna ${KEY}\nbob ssh-ed25519 AAAAbad`, /line 2: its key is not one of the type ssh-ed25519/],
    ["bob ssh-ed25519", /line 1: its key is not one/],
    [`bob ${KEY.replace("ssh-ed25519", "ssh-rsa")}`, /line 1: its key is not one of the type ssh-rsa/],
    [`bob valid-after="tomorrow" ${KEY}`, /neither a key nor an option/],
    [`bob "${KEY}`, /line 1/],
    [`bob namespaces="git" `, /line 1: it has no key/],
    [`bob no-such-option ${KEY}`, /neither a key nor an option behind its principals: no-such-option/],
    // What it opens would stand under this as the name of a person.
    [`!eve@example.com,*@example.com ${KEY}`, /line 1: !eve@example\.com,\*@example\.com is a pattern/],
    [`\u{feff}anna ${KEY}`, /line 1: its principals have characters that cannot be seen/],
    [`anna ${KEY}\n`.repeat(10_000), /longer than 256 KB/],
  ];
  for (const [text, expected] of bad) {
    const problem = signersProblem(text);
    assert.match(problem ? `line ${problem.line}: ${problem.why}` : "none", expected, text.slice(0, 100));
  }
});
