import assert from "node:assert/strict";
import { test } from "node:test";
import { governorOfRun } from "../../src/hosts/run-governance.ts";
import { governedFiles } from "./run.ts";

test("a part's role is that of whatever sub-agent takes it up, but for one that is called like a lower one", async (t) => {
  const files = governedFiles({ governance: { roles: { writer: { extends: "executor", paths: ["docs/**"] } } } });
  t.after(() => files.remove());
  const governor = await governorOfRun("opencode", { ...files, phase: "implementing" });
  let calls = 0;
  const call = (tool: string, input: unknown, session = "own") => {
    calls += 1;
    return { id: `call${calls}`, session, tool, input };
  };
  const mayWrite = async (filePath: string, session: string): Promise<boolean> =>
    (await governor.before(call("write", { filePath, content: "x" }, session))).allow;
  const start = async (to: string, subagent_type: string, session: string): Promise<string> => {
    const assign = { action: "assign", to, name: "A part", expectedOutput: "a change" };
    const answer = await governor.govern(call("govern_delegate", assign));
    const text = "text" in answer ? answer.text : "";
    assert.doesNotMatch(text, /the sub-agent "/, "no program has one that is called like a role");
    const id = /: (tn-\w+)\./.exec(text)?.[1] ?? "";
    await governor.before(call("task", { subagent_type, prompt: `Do ${id}.` }));
    return (await governor.childStarted(session, "own")).role.name;
  };
  assert.equal(await start("writer", "general", "docs"), "writer");
  assert.deepEqual([await mayWrite("docs/a.md", "docs"), await mayWrite("src/a.ts", "docs")], [true, false]);
  assert.equal(await start("investigator", "general", "looks"), "investigator");
  assert.equal(await mayWrite("docs/b.md", "looks"), false);
  assert.equal(await start("executor", "explore", "explores"), "investigator");
  assert.equal(await mayWrite("docs/c.md", "explores"), false);
});

test("a sub-agent that is given a tool by its name has it where its parent has the kind, and no other", async (t) => {
  const files = governedFiles({ tools: ["read", "shell", "delegate"] });
  t.after(() => files.remove());
  const governor = await governorOfRun("opencode", { ...files, phase: "implementing" });
  const call = (id: string, tool: string, input: unknown, session = "own") => ({ id, session, tool, input });
  const terms = { action: "assign", to: "executor", name: "A part", expectedOutput: "a change" };
  const answer = await governor.govern(call("one", "govern_delegate", { ...terms, tools: ["bash", "write"] }));
  const part = /: (tn-\w+)\./.exec("text" in answer ? answer.text : "")?.[1] ?? "";
  await governor.before(call("two", "task", { subagent_type: "general", prompt: `Do ${part}.` }));
  assert.deepEqual((await governor.childStarted("child", "own")).tools, ["bash"]);
  const may = async (tool: string, input: unknown) => (await governor.before(call(tool, tool, input, "child"))).allow;
  assert.equal(await may("bash", { command: "ls" }), true);
  assert.equal(await may("write", { filePath: "docs/a.md", content: "x" }), false);
});
