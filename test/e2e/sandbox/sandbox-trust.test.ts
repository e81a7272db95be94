import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { probeSandbox } from "../../../src/agents/sandbox/probe.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { oneOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";

/** As the plugin does in the real OpenCode, it takes away the note that says that no rules are in force. */
const DONE = 'sed -i \'0,/- \\[ \\]/s//- [x]/\' "$PRLOOM_PLAN_FILE"; echo "prloom:in-force $PRLOOM_RUN_ID"';
const APPROVES = 'echo \'{"verdict":"approve","summary":"","comments":[]}\' > "$PRLOOM_RESULT_FILE"';

const { works } = await probeSandbox();
const skip = !works && "no sandbox";

const cleanUp: (() => void)[] = [];
after(() => {
  for (const one of cleanUp.reverse()) one();
});

function project(lines: readonly string[], config: Record<string, unknown>): Project {
  const p = makeProject({ config: { limits: { attemptsPerTodo: 1 } } });
  cleanUp.push(() => p.remove());
  const command = join(p.home, "agent.sh");
  writeFileSync(command, ["#!/bin/sh", ...lines].join("\n"), { mode: 0o755 });
  p.config({ agents: { test: { adapter: "command", command, sandbox: "bwrap" } }, ...config });
  return p;
}

/** Whatever a worker can leave in its home and its cache. */
const PLANTS =
  'for dir in "$HOME" "$HOME/.cache" "$HOME/.cargo/registry"; do mkdir -p "$dir"; echo x > "$dir/planted"; done';
/** Fails where something of that is seen. */
const CLEAN = 'test "$(find "$HOME" -name planted | wc -l)" = 0';

test("checks, initCommands and git hooks have a home and a cache that no agent prepared", { skip }, async () => {
  const p = project([`${CLEAN} || echo "what a command left" > shared.txt`, PLANTS, "echo work >> work.txt", DONE], {
    initCommands: [PLANTS.replaceAll("planted", "installed")],
    checks: [CLEAN, 'test -e "$HOME/.cache/installed"', 'test ! -e "$HOME/installed"'],
  });
  const hook = join(p.root, ".git/hooks/pre-commit");
  mkdirSync(join(p.root, ".git/hooks"), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\n${CLEAN}\n`);
  chmodSync(hook, 0o755);
  p.plan("one", ["Do it"]);
  p.plan("two", ["Do it"]);
  const { stdout, stderr } = await p.work();
  for (const id of ["one", "two"]) {
    const { status, blocked } = p.record(id);
    assert.equal(status, "review", `${blocked?.reason} ${stdout} ${stderr}`);
  }
});

test("a check that fails cannot be made to pass by settings in the home of the worker", {
  skip,
  ...thorough,
}, async () => {
  const p = project(["echo 'script-shell=/bin/true' > \"$HOME/.npmrc\"; echo broken > src/a.txt", DONE], {
    checks: ["npm test"],
  });
  writeFileSync(
    join(p.root, "package.json"),
    '{"name":"x","version":"1.0.0","scripts":{"test":"grep -q ^a src/a.txt"}}',
  );
  p.git("add", "-A");
  p.git("-c", "user.name=Person", "-c", "user.email=person@localhost", "commit", "-qm", "Add a check");
  p.plan("one", ["Break it"]);
  await p.work();
  assert.match(p.record("one").blocked?.reason ?? "", /npm test/);
});

test("a reviewer sees what is to be committed, and nothing else that the worker left", { skip }, async () => {
  const p = project(
    [
      'if [ "$PRLOOM_STAGE" = reviewer ]; then',
      '  (ls -A . node_modules; find "$HOME" -name planted; cat src/new.txt .env; git status --short; git log -1 --format=%s) > "$PRLOOM_RUN_DIR/seen.txt" 2>&1',
      "  echo spoiled > src/new.txt; echo left > left-by-reviewer.txt",
      `  ${APPROVES}; exit`,
      "fi",
      `${PLANTS}; mkdir -p node_modules/.bin; echo poison >> node_modules/.bin/tool; cat node_modules/.bin/tool > src/tool.txt`,
      "echo new >> src/new.txt",
      DONE,
    ],
    { review: "todo", copyFiles: [".env"] },
  );
  writeFileSync(join(p.root, ".gitignore"), "node_modules\n.env\n");
  writeFileSync(join(p.root, ".env"), "of the user\n");
  p.git("add", "-A");
  p.git("-c", "user.name=Person", "-c", "user.email=person@localhost", "commit", "-qm", "Ignore");
  p.plan("one", ["Do it", "Do more"]);
  const { stdout, stderr } = await p.work();
  assert.equal(p.record("one").status, "review", stdout + stderr);
  const seen = p.runFile("one", 2, "agent/seen.txt");
  assert.doesNotMatch(seen, /planted|poison|^tool$/m);
  assert.match(seen, /node_modules.*No such file/);
  assert.match(seen, /^new\nof the user$/m);
  assert.match(seen, /^A {2}src\/new\.txt$/m);
  assert.doesNotMatch(seen, /^(\?\?| [MD])/m);
  assert.equal(p.git("show", "prloom/one:src/new.txt"), "new\nnew\n");
  assert.equal(p.git("show", "prloom/one:src/tool.txt"), "poison\npoison\n", "the worker still has what it installed");
  const { worktree = "" } = p.record("one");
  assert.equal(existsSync(join(worktree, "left-by-reviewer.txt")), false);
  for (const run of ["2", "4"])
    assert.deepEqual(
      readdirSync(join(p.authority, "plans/one/runs", run)).filter((name) => name.startsWith("view")),
      [],
    );
});

test("what a worker put where the reviewer writes is not a review, after a kill either", { skip }, async () => {
  const p = project(
    [
      'if [ "$PRLOOM_STAGE" = reviewer ]; then',
      '  echo \'{"verdict":"request_changes","summary":"Not yet.","comments":[]}\' > "$PRLOOM_RESULT_FILE"; exit',
      "fi",
      `export PRLOOM_RESULT_FILE="$PRLOOM_WORKTREE/prloom/.local/review-result.json"; ${APPROVES}`,
      "echo new >> src/new.txt",
      DONE,
    ],
    { review: "todo", limits: { reviewRounds: 1 } },
  );
  p.plan("one", ["Do it"]);
  const killed = await p.work({ PRLOOM_CRASH_AT: "side:left" });
  assert.equal(killed.signal, "SIGKILL", killed.stdout + killed.stderr);
  const { stdout } = await p.work();
  assert.equal(p.record("one").status, "review", stdout);
  assert.match(stdout, /the reviewer asks for changes \(round 1 of 1\): Not yet\./);
  assert.doesNotMatch(stdout, /the reviewer approved/);
});

/** Places from which programs and shells take code, rules or settings. */
const LOADED = [
  ...[
    ".opencode/plugin/x.js",
    ".config/opencode/plugin/x.js",
    ".config/opencode/plugins/x.js",
    ".config/opencode/x.json",
  ],
  ...[".local/share/opencode/bin/rg", ".local/share/opencode/snapshot/x/config", ".claude.json", ".mcp.json"],
  ...["settings.json", "settings.local.json", "CLAUDE.md", "hooks/x", "plugins/x", "commands/x.md", "agents/x.md"].map(
    (name) => `.claude/${name}`,
  ),
  ...[".claude/skills/x/SKILL.md", ".claude/projects/x/memory/MEMORY.md", ".claude/statusline.sh"],
  ...["config.toml", "hooks.json", "AGENTS.md", "prompts/x.md", "rules/x", "skills/x/SKILL.md"].map(
    (name) => `.codex/${name}`,
  ),
  ...[".gemini/settings.json", ".gemini/GEMINI.md", ".gemini/extensions/x/a.json", ".gemini/commands/x.toml"],
  ...[
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshenv",
    ".zshrc",
    ".config/fish/config.fish",
    ".inputrc",
    ".local/bin/git",
  ],
  ...[
    ".npmrc",
    ".gitconfig",
    ".config/git/config",
    ".config/git/hooks/x",
    ".ssh/config",
    ".cargo/config.toml",
    ".vimrc",
  ],
];

/** Conversations, which are all that stays. */
const CONVERSATIONS: Readonly<Record<string, string>> = {
  claude: ".claude/projects/x/conversation.jsonl",
  codex: ".codex/sessions/2026/11/conversation.jsonl",
  opencode: ".local/share/opencode/storage/conversation.json",
};

for (const [adapter, conversation] of oneOf(Object.entries(CONVERSATIONS))) {
  test(`${adapter} finds its conversations in the next run, and nothing else that one left`, { skip }, async () => {
    const files = [...LOADED, conversation].join(" ");
    const p = project(
      [
        `for file in ${files}; do test -e "$HOME/$file" && echo "$file" >> found.txt; done`,
        `for file in ${files}; do mkdir -p "$HOME/$(dirname $file)"; echo planted > "$HOME/$file"; done`,
        "echo work >> work.txt",
        DONE,
      ],
      {},
    );
    const command = join(p.home, "agent.sh");
    p.config({ agents: { test: { adapter, command, sandbox: "bwrap" } } });
    p.plan("one", ["Do it", "Do more"]);
    const { stdout, stderr } = await p.work();
    assert.equal(p.record("one").status, "review", stdout + stderr);
    assert.equal(p.git("show", "prloom/one:found.txt"), `${conversation}\n`);
  });
}
