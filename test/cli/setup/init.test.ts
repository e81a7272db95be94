import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { CLI, NODE_FLAGS } from "../../testing/program.ts";
import { thorough } from "../../testing/thorough.ts";
import { git, prloom, type RepositoryOptions, testRepository } from "../fixture.ts";

function repository(t: TestContext, options: RepositoryOptions = {}) {
  const made = testRepository({ config: false, ...options });
  t.after(() => made.close());
  return made;
}

/** The config without its reference to the schema for editors, which it has always. */
function configOf(root: string) {
  const { $schema, ...config } = JSON.parse(readFileSync(join(root, "prloom", "config.json"), "utf8"));
  assert.equal($schema, "./.local/config.schema.json");
  return config;
}

describe("init", { concurrency: 2 }, () => {
  it("sets up a repository without a remote and says that the agent is missing", async (t) => {
    const { root, run } = repository(t);
    const { code, stdout } = await run(["init", "--yes"]);
    assert.equal(code, 0);
    assert.deepEqual(configOf(root), { agents: { agent: { command: "your-agent" } }, stages: { default: "agent" } });
    assert.match(stdout, /"your-agent" was not found/);
    assert.match(stdout, /Install one of these and run `prloom init` again:\n {2}npm install -g opencode-ai /);
    assert.match(stdout, /Set agents\.agent\.command .* before `prloom start`/);
    assert.match(stdout, /^ {2}git add prloom\/config\.json \.gitignore && git commit/m);
    assert.match(stdout, /^next:\n {2}prloom init {3}\(again, when an agent is installed\)$/m);
    assert.match(stdout, /^ {2}prloom demo /m);
    assert.doesNotMatch(stdout, /prloom (new|start --)/);
    assert.ok(existsSync(join(root, "prloom", ".local", "inbox")));
    assert.equal(git(root, "status", "--porcelain", "-uall"), "?? .gitignore\n?? prloom/config.json\n");
    assert.match(readFileSync(join(root, ".git", "info", "exclude"), "utf8"), /^\/prloom\/\.local\/$/m);
  });

  it("fills in what it had to leave open, and nothing that a person wrote", thorough, async (t) => {
    const { root, run } = repository(t);
    await run(["init", "--yes"]);
    const again = await run(["init", "--agent", "codex"]);
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(configOf(root), { agents: { codex: { adapter: "codex" } }, stages: { default: "codex" } });
    assert.match((await run(["init", "--agent", "claude"])).stdout, /--agent was not used/);
    assert.deepEqual(configOf(root).stages, { default: "codex" });
  });

  it("switches gates on when it is told to, and says what a start would say to that", async (t) => {
    const { root, run } = repository(t);
    const first = await run(["init", "--yes", "--gates"]);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /gates: each plan waits for `prloom approve`/);
    // The template that is filled in later keeps them.
    await run(["init", "--agent", "codex"]);
    assert.deepEqual(configOf(root).gates, { plan: true });
    assert.match((await run(["init", "--no-gates"])).stdout, /--gates was not used/);
    const plain = repository(t);
    await plain.run(["init", "--yes", "--agent", "codex"]);
    assert.equal(configOf(plain.root).gates, undefined);
  });

  it("writes nothing behind a link that came with the branch", async (t) => {
    const places = { ".gitignore": "rc", prloom: ".", "prloom/.local": "." };
    for (const [link, to] of Object.entries(places)) {
      const { root, run } = repository(t);
      const outside = mkdtempSync(join(tmpdir(), "prloom-outside-"));
      t.after(() => rmSync(outside, { recursive: true, force: true }));
      writeFileSync(join(outside, "rc"), "mine\n");
      mkdirSync(join(root, link, ".."), { recursive: true });
      rmSync(join(root, link), { recursive: true, force: true });
      symlinkSync(join(outside, to), join(root, link));
      git(root, "add", "--force", "--all");
      const { stdout, stderr } = await run(["init", "--yes"]);
      assert.match(stdout + stderr, link === ".gitignore" ? /is set up/ : /is part of the branch.*leads elsewhere/);
      assert.deepEqual(readdirSync(outside), ["rc"], link);
      assert.equal(readFileSync(join(outside, "rc"), "utf8"), "mine\n", link);
    }
  });

  it("works before the first commit, with a remote, and from a subfolder", thorough, async (t) => {
    const { root } = repository(t, { commits: false });
    git(root, "remote", "add", "origin", "https://example.com/x.git");
    const below = join(root, "src", "deep");
    mkdirSync(below, { recursive: true });
    const { code, stdout } = await prloom(["init", "--yes", "--json"], { cwd: below });
    assert.equal(code, 0);
    const result = JSON.parse(stdout);
    assert.equal(result.root, root);
    assert.equal(result.hasCommits, false);
    assert.deepEqual(configOf(root).stages, { default: "agent" });
  });

  const programs = (root: string, ...names: string[]): Record<string, string> => {
    const bin = join(root, "..", "bin");
    const home = join(root, "..", "home");
    for (const dir of [bin, home]) mkdirSync(dir);
    for (const name of names) {
      writeFileSync(join(bin, name), '#!/bin/sh\necho "999.0.0"\n');
      chmodSync(join(bin, name), 0o755);
    }
    return { HOME: home, PATH: `${bin}${delimiter}${process.env.PATH}` };
  };

  it("takes the first agent that is installed, and warns when it is not logged in", async (t) => {
    const { root, run } = repository(t);
    const { code, stdout } = await run(["init", "--yes"], { env: programs(root, "codex", "claude") });
    assert.equal(code, 0);
    assert.deepEqual(configOf(root), { agents: { claude: { adapter: "claude" } }, stages: { default: "claude" } });
    assert.match(stdout, /^ {2}agent: claude \(installed; also here: codex\)$/m);
    assert.match(stdout, /^Claude Code is not logged in: .*\.\nType: claude auth login$/m);
  });

  it("takes one that is logged in before others", thorough, async (t) => {
    const { root, run } = repository(t);
    const env = programs(root, "codex", "claude", "opencode");
    const { stdout } = await run(["init", "--yes"], { env: { ...env, CODEX_API_KEY: "geheim" } });
    assert.deepEqual(configOf(root).agents, { codex: { adapter: "codex" } });
    assert.match(stdout, /^ {2}agent: codex \(installed and logged in; also here: opencode, claude\)$/m);
    assert.doesNotMatch(stdout, /geheim|not logged in/);
  });

  it("takes the agent that is named, installed or not", thorough, async (t) => {
    const { root, run } = repository(t);
    const { code, stdout } = await run(["init", "--agent", "gemini"], { env: programs(root, "codex") });
    assert.equal(code, 0);
    const { gemini } = configOf(root).agents;
    assert.deepEqual([gemini.adapter, gemini.command], ["acp", "gemini"]);
    assert.match(stdout, /^The agent program "gemini" was not found\.\nInstall it: npm install/m);
    assert.match(stdout, /^ {2}prloom doctor {3}\(when the agent is installed\)$/m);
    assert.doesNotMatch(stdout, /prloom (new|start)/);
  });

  it("takes a program with arguments, dashes included", async (t) => {
    const { root, run } = repository(t);
    const { code } = await run(["init", "--command", "sh", "--agent", "shell", "--arg", "-c", "--arg", "exit 0"]);
    assert.equal(code, 0);
    assert.deepEqual(configOf(root), {
      agents: { shell: { command: "sh", args: ["-c", "exit 0"] } },
      stages: { default: "shell" },
    });
  });

  it("says to commit the agent's own program, which is looked up in the worktree", thorough, async (t) => {
    const { root, run } = repository(t);
    mkdirSync(join(root, "prloom"));
    writeFileSync(join(root, "prloom", "agent.mjs"), "");
    const { stdout } = await run(["init", "--command", "node", "--arg", "prloom/agent.mjs", "--arg", "../outside"]);
    assert.match(stdout, /^ {2}git add prloom\/config\.json prloom\/agent\.mjs \.gitignore && git commit/m);
    assert.match(stdout, /^ {2}prloom new .*\n {2}prloom start --until-idle$/m);
  });

  it("never overwrites a config, and adds its lines once", async (t) => {
    const { root, run } = repository(t);
    writeFileSync(join(root, ".gitignore"), "node_modules");
    const first = await run(["init", "--command", "sh -e"]);
    assert.doesNotMatch(first.stdout, /not found/);
    assert.deepEqual(configOf(root), { agents: { sh: { command: "sh -e" } }, stages: { default: "sh" } });
    const before = readFileSync(join(root, "prloom", "config.json"), "utf8");
    const { code, stdout } = await run(["init", "--yes", "--command", "other"]);
    assert.equal(code, 0);
    assert.match(stdout, /left as it is/);
    assert.match(stdout, /^--command was not used.*\n.*edit agents\.sh\.command/m);
    assert.equal(readFileSync(join(root, "prloom", "config.json"), "utf8"), before);
    assert.equal(readFileSync(join(root, ".gitignore"), "utf8"), "node_modules\n/prloom/.local/\n");
  });

  it("refuses a config that is there and wrong, and leaves it", async (t) => {
    const { root, run } = repository(t);
    mkdirSync(join(root, "prloom"));
    writeFileSync(join(root, "prloom", "config.json"), "{ nonsense");
    const { code, stderr } = await run(["init", "--yes"]);
    assert.equal(code, 1);
    assert.match(stderr, /\[config-invalid\]/);
    assert.equal(readFileSync(join(root, "prloom", "config.json"), "utf8"), "{ nonsense");
  });

  it("refuses a repository without a working tree", thorough, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), "prloom-cli-"));
    t.after(() => rmSync(dir, { recursive: true }));
    git(dir, "init", "-q", "--bare");
    const { code, stderr } = await prloom(["init", "--yes"], { cwd: dir });
    assert.equal(code, 1);
    assert.match(stderr, /bare repository.*working tree\. \[not-a-repository\]\n {2}hint: .*git clone/);
  });

  it("refuses a folder that is not a repository", async (t) => {
    const dir = mkdtempSync(join(tmpdir(), "prloom-cli-"));
    t.after(() => rmSync(dir, { recursive: true }));
    const { code, stderr } = await prloom(["init", "--yes"], { cwd: dir });
    assert.equal(code, 1);
    assert.match(stderr, /\[not-a-repository\]\n {2}hint: .*git init/);
  });

  it("says so when its folder was removed", async (t) => {
    const dir = mkdtempSync(join(tmpdir(), "prloom-cli-"));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const command = [process.execPath, ...NODE_FLAGS, CLI, "init", "--yes"];
    const script = 'rmdir "$PWD" && exec "$@"';
    const { status, stderr } = spawnSync("sh", ["-c", script, "sh", ...command], { cwd: dir, encoding: "utf8" });
    assert.equal(status, 1);
    assert.match(stderr, /does not exist any more\. \[not-a-repository\]\n {2}hint: .*cd <folder>/);
  });
});
