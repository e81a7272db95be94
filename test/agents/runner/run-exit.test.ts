import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { readExit } from "../../../src/agents/runner/run-exit.ts";
import { AWAITED } from "../../../src/hosts/end-run.ts";

const made: string[] = [];
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true });
});

function runFolder(reason = "exited", isGoverned = true, code = 0): string {
  const dir = mkdtempSync(join(tmpdir(), "prloom-exit-"));
  made.push(dir);
  mkdirSync(join(dir, "agent"));
  if (isGoverned) mkdirSync(join(dir, "governance"));
  const exit = { reason, code, signal: null, startedAt: "", endedAt: "", outputBytes: 0, truncated: false };
  writeFileSync(join(dir, "exit.json"), JSON.stringify({ ...exit, leftBehind: 0 }));
  return dir;
}

const said = (dir: string, text: string): void => writeFileSync(join(dir, "agent", "policy-end.json"), text);

test("a governed run that its rules ended was ended by the policy, and says why in few words", () => {
  const dir = runFolder();
  assert.equal(readExit(dir)?.reason, "exited");
  said(dir, JSON.stringify({ why: "denied 4 times" }));
  assert.deepEqual([readExit(dir)?.reason, readExit(dir)?.error], ["policy", "denied 4 times"]);
  said(dir, JSON.stringify({ why: "x".repeat(3000) }));
  assert.equal(readExit(dir)?.error?.length, 1000);
});

test("one whose rules never were in force was ended by the policy, unless it failed before that and says why", () => {
  const [went, failed] = [runFolder(), runFolder("exited", true, 1)];
  for (const dir of [went, failed]) said(dir, AWAITED);
  assert.match(
    `${readExit(went)?.reason}: ${readExit(went)?.error}`,
    /^policy: the program did not load prloom's plugin/,
  );
  assert.equal(readExit(failed)?.reason, "exited");
});

for (const [what, dir] of [
  ["one that has no rules inside", () => runFolder("exited", false)],
  ["one that ran out of time", () => runFolder("deadline")],
] as const)
  test(`${what} cannot say so`, () => {
    const folder = dir();
    said(folder, JSON.stringify({ why: "because" }));
    assert.notEqual(readExit(folder)?.reason, "policy");
  });

test("words that are not ours, too long or a link say nothing", () => {
  const dir = runFolder();
  for (const text of ["", "{", "[]", '{"why": 1}', JSON.stringify({ why: "x".repeat(5000) })]) {
    said(dir, text);
    assert.equal(readExit(dir)?.reason, "exited", text.slice(0, 20));
  }
  rmSync(join(dir, "agent", "policy-end.json"));
  writeFileSync(join(dir, "elsewhere"), JSON.stringify({ why: "because" }));
  symlinkSync("../elsewhere", join(dir, "agent", "policy-end.json"));
  assert.equal(readExit(dir)?.reason, "exited");
});
