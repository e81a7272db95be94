import assert from "node:assert/strict";
import { test } from "node:test";
import { pluginFor } from "./plugin.ts";

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
    const { hooks, call, withheld } = await pluginFor(t, {
      parents: { child: "own" },
      started: new Map([["child", "start"]]),
    });
    const context = { sessionID: "own", messageID: "m", callID: "assign" };
    const assign = { action: "assign", to: "executor", name: "Docs", expectedOutput: "a change", tools };
    const told = String(await hooks.tool?.govern_delegate?.execute(assign, context));
    const part = /tn-\w+/.exec(told)?.[0] ?? "";
    const started = { subagent_type: "general", description: "A part", prompt: `Do ${part}.` };
    await hooks["tool.execute.before"]?.({ tool: "task", sessionID: "own", callID: "start" }, { args: started });
    await hooks["chat.message"]?.({ sessionID: "child" }, {});
    assert.deepEqual([...(withheld.get("child") ?? [])].sort(), expected);
    const ran = await call("bash", { command: "ls" }, undefined, "child");
    assert.equal(ran === "ran", !expected.includes("bash"), ran);
  });
