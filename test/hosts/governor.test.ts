import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { type Role, roleNamed } from "../../src/governance/policy/roles.ts";
import type { Governor, HostCall } from "../../src/hosts/governor.ts";
import { governorOfRun } from "../../src/hosts/run-governance.ts";
import { type GovernedFiles, type GovernedTerms, governedFiles } from "./run.ts";

const made: GovernedFiles[] = [];
afterEach(() => {
  for (const files of made.splice(0)) files.remove();
});

async function governed(terms: GovernedTerms = {}): Promise<{ governor: Governor; files: GovernedFiles }> {
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

  test("lets a session without a task write its answer and what it needs for a moment, and nothing else", async () => {
    const { governor, files } = await governed({ node: null, role: roleNamed("investigator") as Role });
    mkdirSync(join(files.root, "prloom", ".local"), { recursive: true });
    for (const command of [
      "mkdir -p prloom/.local && echo {} > prloom/.local/review-result.json",
      'echo x > "$TMPDIR/note" && cat "$TMPDIR/note"',
      "grep -rn x src 2> /dev/null",
    ])
      assert.equal(await textOf(governor, call("bash", { command })), "allowed", command);
    for (const command of ["mkdir -p prloom/other", "mkdir prloom/.local", "rm -rf prloom/.local", "mkdir -p src/new"])
      assert.match(await textOf(governor, call("bash", { command })), /GOVERNANCE BLOCK/, command);
  });

  test("tells with the chain how far the context is worn", async () => {
    const { governor, files } = await governed();
    for (const one of [call("read", { filePath: "a" }), call("bash", { command: "node x.js" })]) {
      assert.equal(await textOf(governor, one), "allowed");
      await governor.after(one, { ok: true, files: [] });
    }
    const text = await textOf(governor, call("govern_task", { action: "start", node: "next" }));
    assert.match(
      text,
      /← BLOCKING\n.*← YOUR TASK\n\nDRIFT: 1 changing call since the last checkpoint or anchor\.\nPOISONING: low; 0 of 2 outputs/,
    );
    assert.match(readFileSync(files.facts, "utf8"), /"type":"gate_kept".*"node":"next"/);
    assert.doesNotMatch(await textOf(governor, call("bash", { command: "git push" })), /DRIFT/);
  });

  test("ends a run that asks for the same again and again", async () => {
    const { governor } = await governed();
    const ends: boolean[] = [];
    for (let at = 0; at < 5; at += 1) {
      const verdict = await governor.before(call("bash", { command: "git push", description: `Push, try ${at}` }));
      if (!verdict.allow) ends.push(verdict.endsRun);
    }
    assert.deepEqual(ends, [false, false, false, true, true]);
    assert.match(await textOf(governor, call("bash", { command: "git push --tags" })), /denied\n/);
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

  test("denies a session that got no task from another", async () => {
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

  test("lets no session be continued for a delegation that was forged", async () => {
    const { governor, files } = await governed();
    const terms = { id: "forged", from: "executor", to: "executor", node: "todo", session: "other" };
    const delegation = { ...terms, parentSession: "own", tools: [], expectedOutput: "a change" };
    const fact = { type: "delegated", key: "forged", at: 1, session: "own", role: "executor", delegation };
    appendFileSync(files.facts, `${JSON.stringify(fact)}\n`);
    const goOn = call("task", { subagent_type: "general", prompt: "Go on.", task_id: "other" });
    assert.match(await textOf(governor, goOn), /It is not one that you started/);
  });

  test("knows the roles of the config for sub-agents that are called so, within what the parent may", async () => {
    const { governor } = await governed({
      governance: { roles: { writer: { extends: "executor", paths: ["docs/**"] } } },
    });
    const assign = { action: "assign", to: "writer", name: "Docs", expectedOutput: "a change" };
    const answer = await governor.govern(call("govern_delegate", assign));
    const id = /: (tn-\w+)\./.exec("text" in answer ? answer.text : "")?.[1] ?? "";
    await governor.before(call("task", { subagent_type: "writer", prompt: `Do ${id}.` }));
    const policy = await governor.childStarted("child", "own");
    assert.deepEqual([policy.role.name, policy.role.paths], ["writer", ["docs/**"]]);
    assert.match(await textOf(governor, write("src/a.ts", "child")), /GOVERNANCE BLOCK/);
    assert.equal(await textOf(governor, write("docs/a.md", "child")), "allowed");
  });

  test("takes the task from a sub-agent that is recalled, by the task's id too, while it is being started", async () => {
    const { governor } = await governed();
    const assign = { action: "assign", to: "executor", name: "Docs", expectedOutput: "a change" };
    const answer = await governor.govern(call("govern_delegate", assign));
    const id = /: (tn-\w+)\./.exec("text" in answer ? answer.text : "")?.[1] ?? "";
    const start = call("task", { subagent_type: "general", prompt: `Do ${id}.` });
    await governor.before(start);
    const recalling = governor.govern(call("govern_delegate", { action: "recall", delegation: id, reason: "No." }));
    assert.equal((await governor.childStarted("child", "own")).node, id);
    const recalled = await recalling;
    assert("text" in recalled);
    assert.equal(recalled.ends, "child", recalled.text);
    assert.match(await textOf(governor, write("docs/a.md", "child")), /no task is started/);
    const status = await governor.govern(call("govern_delegate", { action: "status" }));
    assert.match("text" in status ? status.text : "", /executor to executor \[recalled\]: No\./);
    const task = await governor.govern(call("govern_task", { action: "status", node: id }));
    assert.match("text" in task ? task.text : "", /Docs \[planned\]/);
  });

  test("knows when what was handed over has ended, how, and what was brought back", async () => {
    const { governor } = await governed();
    const starts = [call("task", { subagent_type: "explore", prompt: "a" }), call("task", { prompt: "b" })];
    for (const [at, start] of starts.entries()) {
      await governor.before(start);
      await governor.childStarted(`child${at}`, "own");
    }
    await governor.after(starts[0] as HostCall, { ok: true, files: [], said: "It is\nin a.ts." });
    await governor.failed(starts[1] as HostCall);
    const status = await governor.govern(call("govern_delegate", { action: "status" }));
    assert.match(
      "text" in status ? status.text : "",
      /investigator \[completed\]: It is in a\.ts\.\n.*executor \[failed\]/,
    );
  });

  test("tells what earlier runs anchored, but of files that are gone, and renews what is worked on", async () => {
    const { governor, files } = await governed();
    const old = Date.now() - 47.5 * 3_600_000;
    const anchors = ["src/a.ts", "src/gone.ts"].map((entity) => ({
      ...{ id: entity, content: `Mind ${entity}`, priority: "high", entityType: "file", entity },
      ...{ createdAt: old, modifiedAt: old },
    }));
    writeFileSync(join(files.root, "src", "a.ts"), "x");
    writeFileSync(join(files.folder, "anchors.json"), JSON.stringify([...anchors, { not: "one" }]));
    const next = await governorOfRun("opencode", { ...files, phase: "implementing" });
    assert.doesNotMatch(governor.turn("own"), /Mind/);
    assert.match(next.turn("own"), /Mind src\/a\.ts/);
    assert.doesNotMatch(next.turn("own"), /gone/);
    const one = write("src/a.ts");
    await next.before(one);
    await next.after(one, { ok: true, files: ["src/a.ts"] });
    const list = await next.govern(call("anchor", { action: "list" }));
    assert.match("text" in list ? list.text : "", /^src\/a\.ts \[high\/file, 0 h\]/);
  });

  test("starts the next sub-agent as what it was called, after one that went on and one that failed", async () => {
    const { governor } = await governed();
    const start = (subagent_type: string, more = {}) => call("task", { subagent_type, prompt: "Do it.", ...more });
    await governor.before(start("explore"));
    await governor.childStarted("child", "own");
    assert.equal(await textOf(governor, start("explore", { task_id: "child" })), "allowed");
    const failing = start("explore");
    await governor.before(failing);
    await governor.failed(failing);
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
      const push = () => textOf(governor, call("bash", { command: "git push" }));
      assert.match(await push(), /GOVERNANCE BLOCK/);
      assert.match(await push(), /denied 2 times/);
      assert.match(await textOf(governor, call("read", { filePath: ".env" })), /It holds secrets/);
      assert.equal(await textOf(governor, call("read", { filePath: "src/a.ts" })), "allowed");
      assert.equal(await textOf(governor, write("src/a.ts")), "allowed");
      await governor.before(call("task", { subagent_type: "general", prompt: "Do it." }));
      await assert.rejects(governor.childStarted("child", "own"));
      assert.match(await textOf(governor, write("src/a.ts", "child")), /no task is started/);
    });
});
