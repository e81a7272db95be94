import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { inForceLine } from "../../../src/agents/opencode/log-line.ts";
import { readExit } from "../../../src/agents/runner/run-exit.ts";

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
  for (const dir of [went, failed]) printed(dir, []);
  assert.match(
    `${readExit(went)?.reason}: ${readExit(went)?.error}`,
    /^policy: the program did not load prloom's plugin/,
  );
  assert.equal(readExit(failed)?.reason, "exited");
});

const ANSWER = '{"type":"step_start","timestamp":1}';
const proof = (runId: string) => `timestamp=2026-11-15T11:50:22Z level=ERROR run=8e message="${inForceLine(runId)}"`;

/** A run whose rules are awaited, and what its program printed. */
function printed(dir: string, lines: readonly string[]): string {
  writeFileSync(join(dir, "awaited.json"), "{}");
  writeFileSync(join(dir, "request.json"), JSON.stringify({ runId: "run-7" }));
  writeFileSync(join(dir, "output.log"), lines.map((line) => `${line}\n`).join(""));
  return dir;
}

test("one whose model answered before its rules were in force is taken for nothing, whatever it prints then", () => {
  const outputs = [
    [ANSWER],
    [ANSWER, proof("run-7")],
    [proof("run-6"), ANSWER, proof("run-7")],
    [`x ${proof("run-6")}`, ANSWER],
  ];
  for (const lines of outputs)
    for (const [reason, code] of [
      ["exited", 0],
      ["exited", 1],
      ["deadline", 1],
    ] as const) {
      const exit = readExit(printed(runFolder(reason, true, code), lines));
      assert.deepEqual([exit?.reason, exit?.isUngoverned], ["policy", true], lines.join("\n"));
    }
  const log = Array.from({ length: 10_000 }, () => "timestamp=2026-11-15T11:50:22Z level=DEBUG message=x");
  const good = [
    ["INFO", proof("run-7")],
    ['{"type":"banner"}', `Loading ... ${proof("run-7")}`],
    [...log, proof("run-7")],
  ];
  for (const lines of good) {
    const exit = readExit(printed(runFolder(), [...lines, ANSWER]));
    assert.deepEqual([exit?.reason, exit?.isUngoverned], ["exited", undefined], lines.at(-1));
  }
});

test("one that asks by hooks is taken only if one of them was asked before the model answered", () => {
  const asked =
    '{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"UserPromptSubmit","input":{}}}';
  const answer = '{"type":"assistant","message":{"id":"m","model":"m","content":[]}}';
  const exitOf = (lines: readonly string[]) => {
    const dir = runFolder();
    writeFileSync(join(dir, "asks.json"), "{}");
    writeFileSync(join(dir, "output.log"), lines.map((line) => `${line}\n`).join(""));
    return readExit(dir);
  };
  for (const lines of [[asked, answer], [asked], [], [answer.replace('"m","content', '"<synthetic>","content')]])
    assert.equal(exitOf(lines)?.reason, "exited", lines.join("\n"));
  const { reason, error, isUngoverned } = exitOf([answer, asked]) ?? {};
  assert.deepEqual([reason, isUngoverned], ["policy", true]);
  assert.match(error ?? "", /did not ask prloom's hooks/);
});

for (const [what, dir, reason] of [
  ["one that has no rules inside", () => runFolder("exited", false), "exited"],
  ["one that ran out of time", () => runFolder("deadline"), "deadline"],
] as const)
  test(`${what} cannot say so`, () => {
    const folder = dir();
    said(folder, JSON.stringify({ why: "because" }));
    assert.equal(readExit(folder)?.reason, reason);
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

test("what was printed costs what it is long", () => {
  const dir = printed(runFolder("exited", true, 1), ["\u001b]".repeat(100_000), proof("run-7")]);
  const before = process.cpuUsage();
  assert.equal(readExit(dir)?.reason, "exited");
  const { user, system } = process.cpuUsage(before);
  assert((user + system) / 1000 < 1000);
});
