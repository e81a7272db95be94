import assert from "node:assert/strict";
import { test } from "node:test";
import { claudeDialogue } from "../../../src/agents/claude/dialogue.ts";
import { openCodeDialogue } from "../../../src/agents/opencode/dialogue.ts";
import { plainLine } from "../../../src/bridges/notify/notice.ts";
import { describeThrown } from "../../../src/hooks/calls/thrown.ts";
import { heard } from "../../testing/printed-lines.ts";

const LENGTH = 128 * 1024;
const claude = () => claudeDialogue({ program: "claude", prompt: "Do it.", now: () => 0 });
const openCode = () => openCodeDialogue({ program: "opencode", model: "a/b", now: () => 0 });
/** As it comes from a program: in parts. */
function long(line: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < line.length; at += LENGTH) parts.push(line.slice(at, at + LENGTH));
  return parts;
}
const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":0`).join(",");
const MANY = keys(1_200_000);
const model = (name: string) =>
  JSON.stringify({ type: "result", is_error: false, model_usage_since_last_result: { [name]: { inputTokens: 1 } } });

const callWith = (input: string) =>
  `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Read","input":${input}}]}}`;

/** What agents, plugins and people say, at its worst for an expression that begins anew at each sign. */
const BOMBS: readonly [what: string, hear: () => unknown][] = [
  ["a model of Claude Code", () => heard(claude(), [model("[".repeat(LENGTH))])],
  ["a log line of OpenCode", () => heard(openCode(), [`timestamp=1 level=ERROR ${"a".repeat(LENGTH)}`])],
  ["an error of OpenCode", () => heard(openCode(), [`Error:${" ".repeat(LENGTH)}\u2028`])],
  ["a line of many titles for a terminal", () => heard(openCode(), ["\u001b]".repeat(LENGTH / 2)])],
  ["a call with a million arguments", () => heard(claude(), long(callWith(`{${MANY}}`)))],
  [
    "an answer of a million parts",
    () => heard(claude(), long(`{"type":"result","model_usage_since_last_result":{${MANY}}}`)),
  ],
  ["a line that seems to end often", () => heard(claude(), long(`{"type":"${"}".repeat(8_000_000)}"}`))],
  ["a notice", () => plainLine(`a${" ".repeat(LENGTH)}b`)],
  ["what a plugin threw", () => describeThrown(new Error(`${".".repeat(LENGTH)}x`, { cause: new Error("y") }))],
];

for (const [what, hear] of BOMBS)
  test(`${what} costs what it is long`, () => {
    // Time on the processor: the load of the machine is not the text's fault.
    const before = process.cpuUsage();
    hear();
    const { user, system } = process.cpuUsage(before);
    assert((user + system) / 1000 < 1000);
  });

test("and means what it meant", () => {
  const path = `\\"}]{[,${"a".repeat(300_000)}`;
  const call = heard(claude(), long(callWith(JSON.stringify({ path, some: keys(1000).split(",") }))));
  assert.match(call.join(), /^turn,call Read \{"path":/);
  const told = JSON.stringify({
    type: "assistant",
    message: { id: "m", model: "opus", usage: { input_tokens: 1, output_tokens: 1 }, content: [] },
  });
  const spent = (name: string) => heard(claude(), [told, model(name)]).filter((line) => line.startsWith("usage"));
  assert.deepEqual(spent("opus[1m]"), spent("opus"));
  assert.notDeepEqual(spent("opus[1m"), spent("opus"));
  assert.equal(plainLine("a \n\n  b  c"), "a b  c");
  assert.equal(describeThrown(new Error("first...", { cause: new Error("then.") })), "first: then.");
});
