import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { runKeygen, verifySignature } from "../../../src/dispatcher/gates/ssh-keygen.ts";
import { makeKey, needsKeygen, signWith } from "../../testing/signing.ts";

const TEXT = "what was signed\n\nwith words";
const env = { PATH: process.env.PATH };

test("whose signature it is, by the file of signers and the time", needsKeygen, async () => {
  const [anna, eve] = [makeKey(), makeKey()];
  const signature = signWith(anna, TEXT);
  const cases: readonly (readonly [
    name: string,
    signers: string,
    expected: string,
    change?: Partial<{ text: string; signature: string }>,
  ])[] = [
    ["a signer", `anna@example.com ${anna.line}`, "anna@example.com"],
    ["one of several", `eve ${eve.line}\n# and\nanna ${anna.line}\n`, "anna"],
    ["a key with two names", `anna,annie ${anna.line}`, "anna"],
    ["for this purpose", `anna namespaces="git,prloom-gate" ${anna.line}`, "anna"],
    ["valid now", `anna valid-after="20200101",valid-before="20990101" ${anna.line}`, "anna"],
    ["another key", `eve ${eve.line}`, "its key is not among the signers"],
    ["other words", `anna ${anna.line}`, "it is not of these words", { text: `${TEXT}!` }],
    ["for another purpose", `anna namespaces="git" ${anna.line}`, "it is not made for prloom-gate"],
    [
      "made for another purpose",
      `anna ${anna.line}`,
      "it is not made for prloom-gate",
      { signature: signWith(anna, TEXT, "git") },
    ],
    ["expired", `anna valid-before="20200101" ${anna.line}`, "its key is not valid at this time"],
    ["not yet", `anna valid-after="20990101" ${anna.line}`, "its key is not valid at this time"],
    ["no signature", `anna ${anna.line}`, "it cannot be read", { signature: "nonsense" }],
  ];
  for (const [name, signers, expected, change] of cases) {
    const verified = await verifySignature({ text: TEXT, signature, env, signers, ...change });
    assert.equal(verified.kind === "valid" ? verified.signer : verified.why, expected, name);
  }
  for (const { file } of [anna, eve]) rmSync(dirname(file), { recursive: true });
});

test("without ssh-keygen no signature counts, and one that hangs is ended", async () => {
  const none = await verifySignature({ text: TEXT, signature: "", signers: "", env: { PATH: "/nonexistent" } });
  assert.deepEqual(none, { kind: "refused", why: "ssh-keygen is not installed where prloom runs" });
  const folder = mkdtempSync(join(tmpdir(), "prloom-keygen-"));
  const file = join(folder, "hangs");
  writeFileSync(file, "#!/bin/sh\nexec sleep 600\n");
  chmodSync(file, 0o755);
  assert.equal((await runKeygen(file, { args: [], input: "", env, deadlineMs: 100 })).code, "late");
  rmSync(folder, { recursive: true });
});
