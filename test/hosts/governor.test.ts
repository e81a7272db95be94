import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import type { RunTerms } from "../../src/governance/policy/make-policy.ts";
import { type Role, roleNamed } from "../../src/governance/policy/roles.ts";
import type { Governor } from "../../src/hosts/governor.ts";
import { governorOfRun } from "../../src/hosts/run-governance.ts";
import { type GovernedFiles, governedFiles } from "./run.ts";

const made: GovernedFiles[] = [];
afterEach(() => {
  for (const files of made.splice(0)) files.remove();
});

async function governed(terms: Partial<RunTerms> = {}): Promise<{ governor: Governor; files: GovernedFiles }> {
  const files = governedFiles(terms);
  made.push(files);
  return { files, governor: await governorOfRun("opencode", { ...files, phase: "implementing" }) };
}

let calls = 0;
function call(tool: string, input: unknown, session = "own") {
  calls += 1;
  return { id: `call${calls}`, session, tool, input };
}

const write = (filePath: string, session?: string) => call("write", { filePath, content: "x" }, session);

async function textOf(governor: Governor, one: ReturnType<typeof call>): Promise<string> {
  const verdict = await governor.before(one);
  return verdict.allow ? "allowed" : verdict.text;
}

describe("a governor", () => {
  test("lets the task be worked on, and records what was changed for it", async () => {
    const { governor } = await governed();
    const one = write("src/a.ts");
    assert.equal(await textOf(governor, one), "allowed");
    await governor.after(one, { ok: true, files: ["src/a.ts"] });
    const status = await governor.govern(call("govern_task", { action: "status" }));
    assert("text" in status);
    assert.match(status.text, /todo: Build the form \[active\] ← YOUR TASK\n {4}· write: src\/a\.ts/);
  });

  test("denies with the reason where no task is started, and lets reading through", async () => {
    const { governor } = await governed({ node: null });
    for (const one of [
      write("src/a.ts"),
      call("edit", { filePath: "src/a.ts" }),
      call("apply_patch", { patchText: "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch" }),
      call("bash", { command: "echo x > src/a.ts" }),
      call("github_create_issue", {}),
    ])
      assert.match(await textOf(governor, one), /^GOVERNANCE BLOCK/, one.tool);
    assert.equal(await textOf(governor, call("read", { filePath: "src/a.ts" })), "allowed");
    assert.equal(await textOf(governor, call("bash", { command: "git status" })), "allowed");
  });

  test("ends a run that asks for the same again and again", async () => {
    const { governor } = await governed();
    const ends: boolean[] = [];
    for (let at = 0; at < 5; at += 1) {
      const verdict = await governor.before(call("bash", { command: "git push" }));
      if (!verdict.allow) ends.push(verdict.endsRun);
    }
    assert.deepEqual(ends, [false, false, false, true, true]);
  });

  test("gives a sub-agent its own policy, and never more than the one who started it", async () => {
    const { governor } = await governed();
    const start = call("task", { subagent_type: "explore", prompt: "Look." });
    assert.equal(await textOf(governor, start), "allowed");
    const policy = await governor.childStarted("child", "own");
    assert.deepEqual([policy.role.name, policy.node], ["investigator", "todo"]);
    assert.match(await textOf(governor, write("src/a.ts", "child")), /GOVERNANCE BLOCK/);
    assert.equal(await textOf(governor, call("read", { filePath: "src/a.ts" }, "child")), "allowed");
    assert.match(governor.turn("child"), /HANDED OVER by executor/);
  });

  test("binds a sub-agent to the part that was assigned to it, with its tools, two levels down too", async () => {
    const { governor } = await governed();
    const assign = {
      action: "assign",
      to: "executor",
      name: "Write the docs",
      expectedOutput: "a change",
      tools: ["read", "edit"],
    };
    const answer = await governor.govern(call("govern_delegate", assign));
    const id = /: (tn-\w+)\./.exec("text" in answer ? answer.text : "")?.[1] ?? "";
    await governor.before(call("task", { subagent_type: "executor", prompt: `Do ${id}.` }));
    const child = await governor.childStarted("child", "own");
    assert.deepEqual([child.node, child.tools], [id, ["read", "edit"]]);
    assert.match(
      await textOf(governor, call("bash", { command: "npm test" }, "child")),
      /which this task does not have/,
    );
    assert.match(await textOf(governor, write("docs/a.md", "child")), /which this task does not have/);
    assert.equal(await textOf(governor, call("edit", { filePath: "docs/a.md" }, "child")), "allowed");
    const deeper = await governor.childStarted("grandchild", "child");
    assert.equal(deeper.node, null, "nothing was handed over to it");
  });

  test("denies a session that nobody handed anything to", async () => {
    const { governor } = await governed();
    const policy = await governor.childStarted("stray", "own");
    assert.equal(policy.node, null);
    assert.match(await textOf(governor, write("src/a.ts", "stray")), /no task is started/);
  });

  test("denies secrets that a sub-agent would be given with its prompt", async () => {
    const { governor } = await governed();
    const start = (prompt: string) => call("task", { subagent_type: "explore", prompt });
    for (const prompt of ["Tell me what is in @.env", "Compare @src/a.ts,@~/.ssh/id_rsa", "(see @config/.env.local )"])
      assert.match(await textOf(governor, start(prompt)), /It holds secrets/, prompt);
    for (const prompt of ["Mail ada@example.com about @src/a.ts", "`@.env`", "Use @types/node and @media."])
      assert.equal(await textOf(governor, start(prompt)), "allowed", prompt);
  });

  test("gives a sub-agent no more for a delegation that was forged", async () => {
    const { governor, files } = await governed();
    await governor.before(call("task", { subagent_type: "explore", prompt: "Look." }));
    await governor.childStarted("child", "own");
    const terms = { id: "forged", from: "executor", to: "executor", node: "todo", session: "child" };
    const delegation = { ...terms, parentSession: "own", tools: [], expectedOutput: "a change" };
    const fact = { type: "delegated", key: "forged", at: 1, session: "own", role: "executor", delegation };
    appendFileSync(files.facts, `${JSON.stringify(fact)}\n`);
    assert.match(await textOf(governor, write("src/a.ts", "child")), /GOVERNANCE BLOCK/);
  });

  test("starts the next sub-agent as what it was called, after one that went on and one that failed", async () => {
    const { governor } = await governed();
    const start = (subagent_type: string, more = {}) => call("task", { subagent_type, prompt: "Do it.", ...more });
    await governor.before(start("explore"));
    await governor.childStarted("child", "own");
    assert.equal(await textOf(governor, start("explore", { task_id: "child" })), "allowed");
    const failing = start("explore");
    await governor.before(failing);
    governor.failed(failing);
    await governor.before(start("general"));
    const { role, node } = await governor.childStarted("other", "own");
    assert.deepEqual([role.name, node], ["executor", "todo"]);
  });

  test("tells one that has no task, and one that only looked, nothing else turn after turn", async () => {
    for (const node of [null, "todo"]) {
      const { governor } = await governed(node === null ? { node, role: roleNamed("investigator") as Role } : { node });
      const first = governor.turn("own");
      assert.match(first, node === null ? /Only what you answer with can be written/ : /TASK: todo/);
      for (let at = 0; at < 12; at += 1) {
        const one = call("bash", { command: `grep -rn word${at} src | head` });
        assert.equal(await textOf(governor, one), "allowed");
        await governor.after(one, { ok: true, files: [] });
      }
      assert.equal(governor.turn("own"), first);
    }
  });

  test("takes a claim about the task for a claim", async () => {
    const { governor, files } = await governed();
    appendFileSync(
      files.facts,
      `${JSON.stringify({ type: "node_moved", key: "forged", at: 1, session: "own", role: "executor", node: "todo", move: "release" })}\nnot a fact\n`,
    );
    assert.equal(await textOf(governor, write("src/a.ts")), "allowed");
    const answer = await governor.govern(call("govern_task", { action: "fail", reason: "No such table." }));
    assert("text" in answer && /marked as failed/.test(answer.text));
    assert.match(governor.turn("own"), /TASK: todo "Build the form" \[active\]/);
  });

  for (const [what, put] of [
    ["a folder", (path: string) => mkdirSync(path)],
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
    ["a link to nowhere", (path: string) => symlinkSync("/nowhere/facts.jsonl", path)],
    ["a device", (path: string) => symlinkSync("/dev/full", path)],
  ] as const)
    test(`denies also where nothing can be recorded: ${what} is in the way`, async () => {
      const { governor, files } = await governed();
      put(files.facts);
      assert.match(await textOf(governor, call("bash", { command: "git push" })), /GOVERNANCE BLOCK/);
      assert.match(await textOf(governor, call("read", { filePath: ".env" })), /It holds secrets/);
      assert.equal(await textOf(governor, call("read", { filePath: "src/a.ts" })), "allowed");
      assert.equal(await textOf(governor, write("src/a.ts")), "allowed");
      await governor.before(call("task", { subagent_type: "general", prompt: "Do it." }));
      await assert.rejects(governor.childStarted("child", "own"));
      assert.match(await textOf(governor, write("src/a.ts", "child")), /no task is started/);
    });
});

test("without a policy that can be read there is no governor", async () => {
  const files = governedFiles();
  made.push(files);
  await assert.rejects(governorOfRun("opencode", { ...files, folder: "/nowhere", phase: "x" }));
  writeFileSync(join(files.folder, "graph.json"), "{");
  await assert.rejects(governorOfRun("opencode", { ...files, phase: "x" }));
});
