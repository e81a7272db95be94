import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { SubAgent } from "../../../src/agents/port.ts";
import { filesSeenFrom } from "../../../src/governance/policy/files-seen.ts";
import { type Role, roleNamed } from "../../../src/governance/policy/roles.ts";
import { nextId, overseen, STATUS } from "./overseen.ts";

const write = (file_path: string) => ({ file_path, content: "x" });

describe("a run that is judged from outside of its program", () => {
  test("changes nothing without a task, and is told why; reading goes on", async () => {
    const { asks } = await overseen({ node: null });
    const changing: readonly (readonly [string, object])[] = [
      ["Write", write("src/a.ts")],
      ["Edit", { file_path: "src/a.ts", old_string: "a", new_string: "b" }],
      ["NotebookEdit", { notebook_path: "a.ipynb", new_source: "x" }],
      ["Bash", { command: "echo x > src/a.ts" }],
      ["mcp__github__create_issue", {}],
      ["Agent", { subagent_type: "general-purpose", prompt: "Write it." }],
    ];
    for (const [tool, input] of changing) assert.match(await asks(tool, input), /^GOVERNANCE BLOCK: /, tool);
    assert.match(await asks("Write", write("src/b.ts")), /mcp__prloom__govern_task \{"action":"status"\}/);
    assert.equal(await asks("Read", { file_path: "src/a.ts" }), "allowed");
    assert.equal(await asks("Bash", { command: "git status" }), "allowed");
  });

  test("is judged where the call is made, for the hook and for the question after it", async () => {
    const { asks, files } = await overseen();
    const folder = join(files.root, "prloom");
    mkdirSync(join(files.root, "src"), { recursive: true });
    for (const [tool, input] of [
      ["Bash", { command: "echo {} > config.json" }],
      ["Write", write("config.json")],
      ["Bash", { command: "cd src && ls > ../../.claude/x" }],
    ] as const)
      assert.match(await asks(tool, input, { folder }), /^GOVERNANCE BLOCK: /, JSON.stringify(input));
    assert.equal(await asks("Write", write("../src/a.ts"), { folder }), "allowed");
    assert.equal(await asks("Bash", { command: "ls > ../b.ts" }, { folder: join(files.root, "src") }), "allowed");
    const callId = nextId();
    assert.equal(await asks("Write", write("a.ts"), { folder: join(files.root, "src"), callId }), "allowed");
    assert.equal(await asks("Write", write("a.ts"), { callId }), "allowed");
    assert.match(await asks("Write", write("../.claude/a"), { callId }), /^GOVERNANCE BLOCK: /, "rewritten by a hook");
  });

  test("has what it did recorded for its task, with the files that really changed", async () => {
    const { calls, overseer, files } = await overseen();
    await overseer.settled();
    const callId = nextId();
    const asked = { tool: "Bash", input: { command: "make all" }, callId, reads: false, question: "" };
    assert.deepEqual(await overseer.permit(asked), { allow: true });
    writeFileSync(join(files.root, "src", "made.ts"), "x");
    await overseer.tell({ kind: "ended", callId, ok: false });
    await overseer.settled();
    const status = (await calls(...STATUS)) ?? "";
    assert.match(
      status,
      /todo: Build the form \[active\] ← YOUR TASK\n.*make all \(failed\) \(changed src\/made\.ts\)/,
    );
  });

  test("is denied the next TODO's work, with the chain", async () => {
    const { asks } = await overseen({ node: "next" });
    const text = await asks("Write", write("src/a.ts"));
    assert.match(text, /CHAIN STATUS:\n[\s\S]*← BLOCKING/);
  });

  test("is asked about a call twice and judged once, unless it is another call by then", async () => {
    const { asks, calls } = await overseen();
    const callId = nextId();
    assert.equal(await asks("Bash", { command: "ls" }, { callId }), "allowed");
    assert.equal(await asks("Bash", { command: "ls" }, { callId }), "allowed");
    assert.match(await asks("Bash", { command: "git push" }, { callId }), /GOVERNANCE BLOCK/);
    const start = { subagent_type: "Explore", prompt: "Look." };
    const agent = nextId();
    for (const _ of [1, 2]) assert.equal(await asks("Agent", start, { callId: agent }), "allowed");
    const by: SubAgent = { session: "a1", startedBy: agent };
    await asks("Read", { file_path: "src/a.ts" }, { by });
    const delegated = await calls("mcp__prloom__govern_delegate", { action: "status" });
    assert.equal(delegated?.split("\n").length, 1, delegated);
  });

  test("ends when it asks for the same again and again", async () => {
    const { overseer } = await overseen();
    const ends: unknown[] = [];
    for (let at = 0; at < 4; at += 1) {
      const asked = { tool: "Bash", input: { command: "git push" }, callId: nextId(), reads: false, question: "" };
      const given = await overseer.permit(asked);
      ends.push(!given.allow && given.endRun);
    }
    assert.deepEqual(ends, [undefined, undefined, undefined, true]);
  });

  test("has sub-agents that are less, each by the call that started it, two levels down too", async () => {
    const { asks, overseer } = await overseen();
    const [looks, works, deeper] = [nextId(), nextId(), nextId()];
    await asks("Agent", { subagent_type: "Explore", prompt: "Look." }, { callId: looks });
    await asks("Agent", { subagent_type: "general-purpose", prompt: "Do it." }, { callId: works });
    // Not in the order of their calls.
    const worker = { by: { session: "a2", startedBy: works } };
    const { text } = await overseer.tell({ kind: "sub-agent", ...worker });
    assert.match(text ?? "", /HANDED OVER by executor/);
    assert.equal(await asks("Write", write("src/a.ts"), worker), "allowed");
    const looker = { by: { session: "a1", startedBy: looks } };
    assert.match(await asks("Write", write("src/a.ts"), looker), /GOVERNANCE BLOCK/);
    assert.equal(await asks("Read", { file_path: "src/a.ts" }, looker), "allowed");
    const nested = { subagent_type: "Explore", prompt: "Look." };
    assert.equal(await asks("Agent", nested, { ...worker, callId: deeper }), "allowed");
    const grandchild = { by: { session: "a3", startedBy: deeper } };
    assert.match(await asks("Bash", { command: "echo x > src/b.ts" }, grandchild), /GOVERNANCE BLOCK/);
    assert.match(await asks("SendMessage", { to: "a3" }), /not one that you started/);
    assert.equal(await asks("SendMessage", { to: "a2" }), "allowed");
  });

  test("keeps calls of its own and of sub-agents apart where both have the same id", async () => {
    const { asks, calls, overseer } = await overseen();
    const callId = "call_0";
    await asks("Agent", { subagent_type: "general-purpose", prompt: "Do it." }, { callId });
    const by = { session: "a1", startedBy: callId };
    assert.equal(await asks("Write", write("src/a.ts"), { by, callId }), "allowed");
    await overseer.tell({ kind: "ended", callId, ok: true, by });
    await overseer.settled();
    await overseer.tell({ kind: "ended", callId, ok: true, said: "It is done." });
    const status = (await calls("mcp__prloom__govern_delegate", { action: "status" })) ?? "";
    assert.match(status, /^call_0: executor to executor \[completed\]: It is done\.$/);
    assert.match((await calls(...STATUS)) ?? "", /· Write: src\/a\.ts/);
  });

  test("has no task for a sub-agent that none of its calls started", async () => {
    const { asks } = await overseen();
    await asks("Agent", { subagent_type: "general-purpose", prompt: "Do it." });
    for (const by of [{ session: "a1" }, { session: "a2", startedBy: "toolu_other" }])
      assert.match(await asks("Write", write("src/a.ts"), { by }), /no task is started/);
  });

  test("has some sub-agents, and not any number of them", async () => {
    const { asks } = await overseen();
    const read = (session: string) => asks("Read", { file_path: "src/a.ts" }, { by: { session } });
    for (let at = 0; at < 1000; at += 1) assert.equal(await read(`a${at}`), "allowed");
    assert.match(await read("more"), /^allowed: .*more than 1000 sub-agents/);
    const by = { session: "more" };
    assert.match(await asks("Write", write("src/a.ts"), { by }), /GOVERNANCE BLOCK.*more than 1000 sub-agents/);
  });

  test("has long calls under way, and not any number of them: the oldest are forgotten", async () => {
    const { asks, overseer } = await overseen();
    const [first, second] = [nextId(), nextId()];
    const more = "x".repeat(15 * 1024 * 1024);
    await asks(...STATUS, { callId: first });
    for (let at = 0; at < 5; at += 1) await asks("Read", { file_path: "src/a.ts", more: more + at });
    await asks(...STATUS, { callId: second });
    assert.equal((await overseer.tell({ kind: "ended", callId: first, ok: true })).text, undefined);
    assert.match((await overseer.tell({ kind: "ended", callId: second, ok: true })).text ?? "", /Build the form/);
  });

  test("hands a part over with its tools, and takes it back", async () => {
    const { asks, calls, overseer } = await overseen();
    const terms = { to: "executor", name: "Docs", expectedOutput: "a change", tools: ["read", "edit"] };
    const told = await calls("mcp__prloom__govern_delegate", { action: "assign", ...terms });
    const part = /: (tn-\w+)\./.exec(told ?? "")?.[1] ?? "";
    const callId = nextId();
    await asks("Agent", { subagent_type: "general-purpose", prompt: `Do ${part}.` }, { callId });
    const by = { session: "a1", startedBy: callId };
    assert.match(await asks("Bash", { command: "npm test" }, { by }), /which this task does not have/);
    assert.equal(await asks("Edit", { file_path: "docs/a.md", old_string: "a", new_string: "b" }, { by }), "allowed");
    const recall = nextId();
    const input = { action: "recall", delegation: callId, reason: "Not needed." };
    await asks("mcp__prloom__govern_delegate", input, { callId: recall });
    assert.equal((await overseer.tell({ kind: "ended", callId: recall, ok: true })).ends, "a1");
    assert.match(await asks("Read", { file_path: "docs/a.md" }, { by }), /is recalled/);
  });

  test("answers governance tools itself, and only where they were permitted and did not fail", async () => {
    const { overseer, asks, calls } = await overseen();
    assert.match((await calls(...STATUS)) ?? "", /Build the form/);
    assert.deepEqual(await overseer.tell({ kind: "ended", callId: "toolu_unknown", ok: true }), {});
    const callId = nextId();
    await asks(...STATUS, { callId });
    assert.deepEqual(await overseer.tell({ kind: "ended", callId, ok: false }), {});
    assert.match(await asks("mcp__prloom__govern_plan", { action: "create", name: "Mine" }), /GOVERNANCE BLOCK/);
  });

  test("tells where a session stands, at a prompt and for a summary", async () => {
    const { overseer } = await overseen();
    assert.match((await overseer.tell({ kind: "prompt" })).text ?? "", /TASK: todo "Build the form"/);
    assert.match((await overseer.tell({ kind: "compaction" })).text ?? "", /Build the form/);
  });

  test("keeps an investigator from the source, and lets it answer", async () => {
    const { asks } = await overseen({ node: null, role: roleNamed("investigator") as Role });
    assert.match(await asks("Write", write("src/a.ts")), /GOVERNANCE BLOCK/);
    assert.equal(await asks("Write", write("prloom/.local/plan.md")), "allowed");
  });

  test("denies what it cannot judge, lets reading through, and says whose fault it is", async () => {
    const seen = filesSeenFrom(() => {
      throw new Error("the sandbox is not there");
    });
    const { asks } = await overseen({}, { seen });
    assert.match(await asks("Write", write("src/a.ts")), /fault of prloom[\s\S]*the sandbox is not there/);
    assert.match(await asks("Read", { file_path: "src/a.ts" }), /^allowed: .*fault of prloom/);
    assert.match(await asks("Bash", { command: "echo x > a" }, { callId: undefined as never }), /GOVERNANCE BLOCK/);
  });

  test("denies a sub-agent whose start cannot be recorded", async () => {
    const { asks, files } = await overseen();
    const callId = nextId();
    await asks("Agent", { subagent_type: "general-purpose", prompt: "Do it." }, { callId });
    mkdirSync(files.facts);
    const by = { session: "a1", startedBy: callId };
    assert.match(await asks("Write", write("src/a.ts"), { by }), /GOVERNANCE BLOCK.*fault of prloom/);
  });
});
