import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { probeSandbox } from "../../../src/agents/sandbox/probe.ts";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { CLI } from "../../testing/program.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { inTerminal, NO_TERMINAL } from "../../testing/terminal.ts";
import { thorough } from "../../testing/thorough.ts";

/** As the plugin does in the real OpenCode, it takes away the note that says that no rules are in force. */
const DONE = 'sed -i \'0,/- \\[ \\]/s//- [x]/\' "$PRLOOM_PLAN_FILE"; echo "prloom:in-force $PRLOOM_RUN_ID"';

const cleanUp: (() => void)[] = [];
after(() => {
  for (const one of cleanUp.reverse()) one();
});

/** A project whose agent is a script, started as `adapter` starts its program. */
function project(adapter: string, lines: readonly string[], config: Record<string, unknown> = {}): Project {
  const dir = mkdtempSync(join(tmpdir(), "prloom-homes-"));
  const p = makeProject({ dir });
  cleanUp.push(() => {
    p.remove();
    rmSync(dir, { recursive: true, force: true });
  });
  const command = join(dir, "program");
  writeFileSync(command, ["#!/bin/sh", ...lines].join("\n"), { mode: 0o755 });
  const limits = { stopGrace: "200ms", attemptsPerTodo: 1 };
  p.config({ agents: { test: { adapter, command, sandbox: "bwrap" } }, limits, ...config });
  return p;
}

function put(p: Project, file: string, text: string): string {
  const path = join(p.home, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
const read = (path: string): string => readFileSync(path, "utf8");
const seen = (p: Project, file: string): string => p.git("show", `prloom/one:${file}`);

async function works(p: Project): Promise<void> {
  p.plan("one", ["Do it"]);
  const { stdout, stderr } = await p.work();
  assert.equal(p.record("one").status, "review", stdout + stderr);
}

const claudeLogin = (token: string): string =>
  JSON.stringify({ claudeAiOauth: { accessToken: `token-${token}`, expiresAt: 1, scopes: ["a"] } });

test("a program that we know finds its login, which it may renew, and its settings, which it may not change", async () => {
  const renewed = `{"hooks":"evil","claudeAiOauth":${JSON.stringify(JSON.parse(claudeLogin("new")).claudeAiOauth)}}`;
  const p = project("claude", [
    'cat "$HOME/.claude/.credentials.json" "$HOME/.claude/settings.json" "$HOME/.claude/agents/one.md" > login.txt',
    `echo '${renewed}' > "$HOME/.claude/new" && mv "$HOME/.claude/new" "$HOME/.claude/.credentials.json"`,
    'echo \'{"hooks": {}}\' > "$HOME/.claude/settings.json"',
    'ls "$HOME/.claude/agents" >> agents.txt; echo planted > "$HOME/.claude/agents/two.md"',
    'ls -A "$HOME" "$HOME/.codex" > others.txt 2>&1',
    DONE,
  ]);
  const login = put(p, ".claude/.credentials.json", claudeLogin("old"));
  const settings = put(p, ".claude/settings.json", "{}\n");
  put(p, ".claude/agents/one.md", "agent\n");
  put(p, ".claude/history.jsonl", "{}\n");
  put(p, ".codex/auth.json", "another login\n");
  p.plan("one", ["Do it", "Do more"]);
  const { stdout, stderr } = await p.work();
  assert.equal(p.record("one").status, "review", stdout + stderr);
  assert.equal(p.git("show", "prloom/one~:login.txt"), `${claudeLogin("old")}{}\nagent\n`);
  assert.equal(seen(p, "login.txt"), `${claudeLogin("new")}{}\nagent\n`, "the settings are as the user has them");
  assert.equal(seen(p, "agents.txt"), "one.md\none.md\n", "what was planted is there in the next run");
  assert.match(seen(p, "others.txt"), /\.codex': No such file/);
  assert.equal(read(login), claudeLogin("new"), "the token alone is taken back");
  assert.equal(read(settings), "{}\n");
  assert.deepEqual(readdirSync(join(p.home, ".claude/agents")), ["one.md"]);
  assert.equal(
    existsSync(join(p.authority, "plans/one/runs/1/overlays")),
    false,
    "copies of the user's files are left",
  );
});

test(
  "what OpenCode keeps of packages is the user's in each run, and nothing that an earlier run left",
  thorough,
  async () => {
    const cache = '"$HOME/.cache/opencode"';
    const p = project("opencode", [
      `ls ${cache} >> seen.txt; echo evil > ${cache}/models.json; mkdir -p ${cache}/packages`,
      'ls "$HOME/.cache" | grep kept >> seen.txt; echo x > "$HOME/.cache/kept"',
      DONE,
    ]);
    p.plan("one", ["Do it", "Do more"]);
    const { stdout, stderr } = await p.work();
    assert.equal(p.record("one").status, "review", stdout + stderr);
    assert.equal(seen(p, "seen.txt"), "kept\n", "other caches are kept");
    const own = put(p, ".cache/opencode/models.json", "{}\n");
    p.plan("two", ["Do it"]);
    await p.work();
    assert.equal(p.git("show", "prloom/two:seen.txt"), "models.json\nkept\n");
    assert.equal(read(own), "{}\n");
  },
);

test("what an agent writes into a login does not become the user's", async () => {
  const evil = { "http://127.0.0.1:9": { type: "wellknown", key: "X", token: "Y" } };
  const file = '"$HOME/.local/share/opencode/auth.json"';
  const p = project("opencode", [`cat ${file} > seen.txt; echo '${JSON.stringify(evil)}' > ${file}`, DONE]);
  const before = JSON.stringify({ anthropic: { type: "api", key: "sk-users" } });
  const login = put(p, ".local/share/opencode/auth.json", before);
  p.plan("one", ["Do it"]);
  await p.work();
  assert.match(read(join(p.worktree("one"), "seen.txt")), /sk-users|wellknown/);
  assert.equal(read(login), before);
});

test("a login that was renewed in a run that was cut off is taken back at the next start", thorough, async () => {
  const file = '"$HOME/.claude/.credentials.json"';
  const p = project("claude", [`echo '${claudeLogin("new")}' > ${file}; echo half > half.txt; exec sleep 600`]);
  const login = put(p, ".claude/.credentials.json", claudeLogin("old"));
  p.plan("one", ["Do it"]);
  const daemon = await startDaemon(p);
  await daemon.said("one", /worker started/);
  await appears(join(p.root, "prloom/.local/worktrees/one/half.txt"));
  assert.equal(read(login), claudeLogin("old"));
  await daemon.end("SIGKILL");
  const again = await startDaemon(p);
  await again.said("one", /worker started/);
  assert.equal(read(login), claudeLogin("new"));
  await again.end();
});

test("who works cannot prepare the home of who reviews", thorough, async () => {
  const p = project(
    "command",
    [
      'if [ "$PRLOOM_STAGE" = reviewer ]; then',
      '  echo "[$(cat "$HOME/.bashrc" 2>&1)]" > "$PRLOOM_RUN_DIR/seen.txt"',
      '  echo \'{"verdict":"approve","summary":"","comments":[]}\' > "$PRLOOM_RESULT_FILE"; exit',
      "fi",
      'cat "$HOME/.bashrc" "$HOME/.mine/conversation" > again.txt 2>&1; mkdir -p "$HOME/.mine"',
      'for file in .bashrc .mine/conversation; do echo planted > "$HOME/$file"; done; echo work >> work.txt',
      DONE,
    ],
    { review: "todo" },
  );
  const { agents } = p.config() as { agents: { test: object } };
  p.config({ agents: { test: { ...agents.test, keeps: [".mine"] } } });
  p.plan("one", ["Do it", "Do more"]);
  await p.work();
  assert.equal(p.record("one").status, "review");
  assert.match(
    seen(p, "again.txt"),
    /^cat: .*\.bashrc: No such file.*\nplanted\n$/,
    "of its own home, what is named is kept",
  );
  assert.match(p.runFile("one", 2, "agent/seen.txt"), /^\[cat: .*No such file/);
});

test("no form of `prloom open` touches the home of an agent at work", thorough, async () => {
  const p = project("opencode", ['ln -s "$HOME/elsewhere" "$HOME/.config"; echo half > half.txt; exec sleep 600']);
  put(p, ".config/opencode/opencode.json", "{}");
  p.plan("one", ["Do it"]);
  const daemon = await startDaemon(p);
  await daemon.said("one", /worker started/);
  await appears(join(p.root, "prloom/.local/worktrees/one/half.txt"));
  for (const args of [["--print"], ["--json"], ["--shell"], ["--print", "--now"]]) {
    const { code, stdout, stderr } = await p.cli(["open", "one", ...args]);
    assert.notEqual(code, 0, args.join(" "));
    assert.match(stdout + stderr, /An agent is at work on one\./);
  }
  assert.equal(existsSync(join(p.authority, "plans/one/runs/print")), false);
  await daemon.end();
});

test("a command that was printed is not enclosed anew while it runs", thorough, async () => {
  const p = project("command", ["echo work > work.txt", DONE]);
  await works(p);
  const env = { HOME: p.home, XDG_RUNTIME_DIR: p.home, SHELL: "/bin/sh", PATH: process.env.PATH ?? "" };
  const printed = await p.cli(["open", "one", "--shell", "--print"], env);
  const child = spawn("sh", ["-c", printed.stdout], { env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write("echo here\n");
  await once(child.stdout, "data");
  const again = await p.cli(["open", "one", "--shell", "--print"], env);
  assert.match(again.stderr, /A program that `prloom open one` printed is still at work \(pid \d+\)/);
  child.stdin.end("exit\n");
  await once(child, "exit");
  assert.equal((await p.cli(["open", "one", "--shell", "--print"], env)).code, 0);
});

test("programs are never looked for in the worktree", { skip: NO_TERMINAL }, async () => {
  const p = project("command", [
    "mkdir -p bin; for name in bwrap sh git; do",
    '  printf \'#!/bin/sh\\necho "$0 $GITHUB_TOKEN" >> ../../../../stolen\\nexec /usr/bin/%s "$@"\' $name > bin/$name; chmod +x bin/$name',
    "done",
    'echo "$PATH" > path.txt',
    DONE,
  ]);
  const path = `./bin:bin::${process.env.PATH}`;
  const env = { HOME: p.home, XDG_RUNTIME_DIR: p.home, SHELL: "sh", TERM: "xterm", PATH: path, PS1: "" };
  p.plan("one", ["Do it"]);
  await p.work({ PATH: path });
  assert.doesNotMatch(seen(p, "path.txt"), /\.\/bin|:bin|::|^bin/);
  const stolen = join(p.root, "stolen");
  rmSync(stolen, { force: true });
  const person = inTerminal(`'${process.execPath}' '${CLI}' open one --shell`, { cwd: p.root, env });
  person.type('echo "level $(ls -A ~)."; exit');
  await person.shows(/level .*\./);
  await person.ended;
  assert.equal(existsSync(stolen), false, existsSync(stolen) ? read(stolen) : "");
});

test("inside there are no further namespaces, and folders in memory have a size", async (t) => {
  const probe = await probeSandbox();
  if (!probe.works || !probe.features.seals || !probe.features.sizes) return t.skip("this bwrap cannot");
  const p = project("command", [
    "unshare -U true > namespaces.txt 2>&1 && echo made >> namespaces.txt",
    "df -kP /tmp /run | awk 'NR > 1 { print $2 }' > sizes.txt",
    DONE,
  ]);
  await works(p);
  assert.doesNotMatch(seen(p, "namespaces.txt"), /made/);
  const [tmp = 0, run = 0] = seen(p, "sizes.txt").trim().split("\n").map(Number);
  assert.ok(Math.abs(tmp * 1024 - totalmem() / 4) < 1024 * 1024, String(tmp));
  assert.equal(run, 64 * 1024);
});

test("configuration that is a link of the user's is seen for what it is", thorough, async () => {
  const p = project("codex", ['cat "$HOME/.codex/config.toml" "$HOME/.codex/prompts/mine.md" > config.txt', DONE]);
  put(p, "dotfiles/codex/config.toml", "model = 'x'\n");
  put(p, "dotfiles/codex/prompts/mine.md", "mine\n");
  symlinkSync(join(p.home, "dotfiles/codex"), join(p.home, ".codex"));
  p.plan("one", ["Do it"]);
  await p.work();
  assert.equal(read(join(p.worktree("one"), "config.txt")), "model = 'x'\nmine\n");
});
