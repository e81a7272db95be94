import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { pluginFor } from "./plugin.ts";

const MCP = { reads: ["db_get"], writes: ["db_put"] };

/** Hands a part of the own task over to a session of a sub-agent. */
async function handedOver(t: TestContext, tools: readonly string[], own?: readonly string[]) {
  const plugin = await pluginFor(t, {
    terms: { governance: { mcp: MCP }, ...(own ? { tools: own } : {}) },
    parents: { child: "own" },
    started: new Map([["child", "start"]]),
  });
  const { hooks } = plugin;
  const context = { sessionID: "own", messageID: "m", callID: "assign" };
  const assign = { action: "assign", to: "executor", name: "Docs", expectedOutput: "a change", tools };
  const told = String(await hooks.tool?.govern_delegate?.execute(assign, context));
  const part = /tn-\w+/.exec(told)?.[0] ?? "";
  const started = { subagent_type: "general", description: "A part", prompt: `Do ${part}.` };
  await hooks["tool.execute.before"]?.({ tool: "task", sessionID: "own", callID: "start" }, { args: started });
  await hooks["chat.message"]?.({ sessionID: "child" }, {});
  return plugin;
}

/** What a part was given, and what the sub-agent that takes it up is not offered. */
const ROWS: readonly [tools: readonly string[], withheld: readonly string[]][] = [
  [
    ["read", "edit"],
    ["bash", "govern_delegate", "govern_shell", "task", "webfetch", "websearch"],
  ],
  [
    ["read", "bash"],
    ["edit", "govern_delegate", "task", "webfetch", "websearch"],
  ],
  [
    ["Read", "Bash", "apply_patch"],
    ["govern_delegate", "task", "webfetch", "websearch"],
  ],
];

for (const [tools, expected] of ROWS)
  test(`a sub-agent that was given ${tools.join(", ")} has these, and is not offered others`, async (t) => {
    const { call, withheld } = await handedOver(t, tools);
    assert.deepEqual([...(withheld.get("child") ?? [])].sort(), expected);
    const ran = await call("bash", { command: "ls" }, undefined, "child");
    assert.equal(ran === "ran", !expected.includes("bash"), ran);
  });

test("a sub-agent has no tool of an MCP server that its parent does not have", async (t) => {
  const { call } = await handedOver(t, ["read", "write"], ["Read", "Write", "Task"]);
  for (const session of ["own", "child"])
    for (const tool of ["db_get", "db_put"])
      assert.match(await call(tool, {}, undefined, session), /which this task does not have/, `${session} ${tool}`);
  assert.equal(await call("write", { filePath: "src/a.ts", content: "x" }, undefined, "child"), "ran");
});
