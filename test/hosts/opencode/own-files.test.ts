import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { governedFiles } from "../run.ts";

const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));
const SERVER = new URL("../../../src/hosts/opencode/server.ts", import.meta.url).href;

/** Where OpenCode and Claude Code keep conversations, settings of sessions and what they know of projects. */
const STORAGE = /opencode\.db|share\/opencode|state\/opencode|\.claude\/projects|transcript_path/;

test("no part of ours that is in a program, or speaks with it, names the program's storage", () => {
  for (const folder of [
    "src/hosts",
    "src/governance",
    "src/agents/claude",
    "src/agents/opencode",
    "src/dispatcher/governing",
  ])
    for (const name of readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" })) {
      // They say what of a private home is kept between runs, while no program runs in it.
      if (!name.endsWith(".ts") || ["program.ts", "kept-database.ts", "kept-conversations.ts"].includes(name)) continue;
      assert.doesNotMatch(readFileSync(join(REPOSITORY, folder, name), "utf8"), STORAGE, name);
    }
});

/** As a plugin that may read nothing of the machine but its own source, the worktree and what the dispatcher wrote for it. */
test("the plugin judges, records, binds and tells where the program's storage cannot be read", (t) => {
  const files = governedFiles();
  t.after(() => files.remove());
  const base = dirname(files.root);
  const home = mkdtempSync(join(tmpdir(), "prloom-home-"));
  t.after(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, ".local/share/opencode"), { recursive: true });
  writeFileSync(join(home, ".local/share/opencode/opencode.db"), "");
  const script = `
    import { readFileSync, writeFileSync } from "node:fs";
    import { setTimeout } from "node:timers/promises";
    const { server } = await import(${JSON.stringify(SERVER)});
    const parts = [{ type: "tool", callID: "start", state: { status: "running", metadata: { sessionId: "child" } } }];
    const client = { session: {
      get: async ({ path: { id } }) => ({ data: { id, ...(id === "child" ? { parentID: "own" } : {}) } }),
      messages: async () => ({ data: [{ info: { role: "assistant", sessionID: "own" }, parts }] }),
      update: async () => undefined, abort: async () => undefined,
    } };
    const hooks = await server({ client });
    const said = [];
    const call = async (callID, tool, args, sessionID = "own", act = () => {}) => {
      try {
        await hooks["tool.execute.before"]({ tool, sessionID, callID }, { args });
        act();
        await hooks["tool.execute.after"]({ tool, sessionID, callID }, { output: "x", metadata: { exit: 0 } });
        said.push("ran");
      } catch (error) { said.push(/GOVERNANCE BLOCK/.test(String(error)) ? "denied" : String(error)); }
    };
    let isReadable = true;
    try { readFileSync(process.env.HOME + "/.local/share/opencode/opencode.db"); } catch { isReadable = false; }
    await hooks["tool.execute.before"]({ tool: "task", sessionID: "own", callID: "start" }, { args: { subagent_type: "explore", prompt: "Look." } });
    await hooks["chat.message"]({ sessionID: "child" }, {});
    await call("a", "write", { filePath: "src/a.ts", content: "x" }, "own", () => writeFileSync(process.env.ROOT + "/src/a.ts", "x"));
    await call("b", "bash", { command: "git push" });
    await call("c", "write", { filePath: "src/b.ts", content: "x" }, "child");
    await call("d", "read", { filePath: "src/a.ts" }, "child");
    const context = [];
    await hooks["experimental.session.compacting"]({ sessionID: "own" }, { context });
    const facts = () => readFileSync(process.env.PRLOOM_FACTS, "utf8");
    while (!facts().includes('"checkpoint"')) await setTimeout(5);
    const recorded = /"filesModified":\\["src\\/a.ts"\\]/.test(facts());
    console.log(JSON.stringify({ isReadable, said, told: context.join().includes("Build the form"), recorded }));`;
  const readable = [REPOSITORY, base].flatMap((path) => ["--allow-fs-read", path]);
  const env = { PATH: process.env.PATH, HOME: home, ROOT: files.root };
  const governance = { PRLOOM_GOVERNANCE: files.folder, PRLOOM_FACTS: files.facts };
  const flags = ["--permission", ...readable, "--allow-fs-write", base, "--allow-child-process"];
  const ran = spawnSync(
    process.execPath,
    [...flags, "--disable-warning=SecurityWarning", "--input-type=module", "-e", script],
    {
      env: { ...env, ...governance },
      encoding: "utf8",
    },
  );
  assert.deepEqual([ran.status, ran.stderr], [0, ""]);
  const expected = { isReadable: false, said: ["ran", "denied", "denied", "ran"], told: true, recorded: true };
  assert.deepEqual(JSON.parse(ran.stdout), expected);
});
