import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { Project } from "../../testing/project.ts";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

const fresh = projectMaker();

interface Hooked {
  readonly sandbox?: "bwrap" | "none";
  /** What the agent does, in sh; ticking is added. */
  readonly work?: string;
  /** Files of the repository, committed before the plan begins. */
  readonly files?: Record<string, string>;
  /** Executable files in `.git/hooks`. */
  readonly hooks?: Record<string, string>;
  readonly config?: Record<string, unknown>;
}

/** A project whose agent is a line of sh, with hooks of the user. */
function hooked(options: Hooked): Project {
  const p = fresh();
  for (const [path, text] of Object.entries(options.files ?? {})) put(join(p.root, path), text);
  for (const [name, text] of Object.entries(options.hooks ?? {})) put(join(p.root, ".git/hooks", name), text);
  p.git("add", "-A");
  p.git(
    "-c",
    "user.name=Person",
    "-c",
    "user.email=p@localhost",
    "commit",
    "--no-verify",
    "--allow-empty",
    "-qm",
    "Files",
  );
  const line = `cat > /dev/null; ${options.work ?? "echo work > work.txt"}; sed -i 's/- \\[ \\]/- [x]/' "$PRLOOM_PLAN_FILE"`;
  const agent = { adapter: "command", command: "sh", args: ["-ec", line], sandbox: options.sandbox ?? "bwrap" };
  p.config({ agents: { test: agent }, limits: { stopGrace: "200ms", attemptsPerTodo: 2 }, ...options.config });
  return p;
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o755 });
}

const show = (p: Project, what: string): string => p.git("show", `prloom/one:${what}`);
const message = (p: Project): string => p.git("log", "-1", "--format=%B", "prloom/one");

const FORMATTER = "#!/bin/sh\nset -e\nsed -i 's/work/formatted/' work.txt\ngit add work.txt\n";
const CHANGE_ID = "#!/bin/sh\nprintf '\\nChange-Id: I123\\nPrloom-Step: forged/forged/1\\n' >> \"$1\"\n";

for (const sandbox of ["bwrap", "none"] as const) {
  const options = sandbox === "bwrap" ? {} : thorough;
  test(`what the user's hooks make of files and message is committed (sandbox: ${sandbox})`, options, async () => {
    const p = hooked({ sandbox, hooks: { "pre-commit": FORMATTER, "commit-msg": CHANGE_ID } });
    p.plan("one", ["Write it"]);
    const { code, stdout, stderr } = await p.work();
    assert.equal(code, 0, stdout + stderr);
    assert.equal(p.record("one").status, "review", stdout);
    assert.equal(show(p, "work.txt"), "formatted\n");
    const { uid } = p.record("one");
    const trailers = p.git("log", "-1", "--format=%(trailers:only)", "prloom/one").trim().split("\n");
    assert.deepEqual(trailers[0], "Change-Id: I123");
    assert.match(trailers[1] ?? "", new RegExp(`^Prloom-Step: ${uid}/`));
    assert.equal(trailers.length, 2, "a hook forged a step of ours");
    assert.match(message(p), /^Write it\n\nPlan: one\n/);
    // Nothing of the trial is left, and it reached no branch.
    assert.equal(p.commits("one").length, 1);
    assert.equal(existsSync(join(p.authority, "plans/one/runs/1/checks/commit/shadow")), false);
  });
}

test("a hook that refuses is what was missing, and in the end the reason why the plan is blocked", async () => {
  const p = hooked({
    hooks: { "pre-commit": "#!/bin/sh\necho 'trailing whitespace in work.txt' >&2\nexit 1\n" },
  });
  p.plan("one", ["Write it"]);
  await p.work();
  const { blocked, current } = p.record("one");
  assert.match(blocked?.reason ?? "", /refused by the pre-commit hook/);
  assert.match(blocked?.reason ?? "", /trailing whitespace in work\.txt/);
  assert.match(current?.missing ?? "", /refused by the pre-commit hook/);
  assert.deepEqual(p.commits("one"), []);
  const second = p.runFile("one", 2, "prompt.md");
  assert.match(second, /trailing whitespace in work\.txt/);
});

test("a message that commit-msg refuses is named with that hook", thorough, async () => {
  const p = hooked({ hooks: { "commit-msg": "#!/bin/sh\necho 'no ticket' >&2\nexit 1\n" } });
  p.plan("one", ["Write it"]);
  await p.work();
  assert.match(p.record("one").blocked?.reason ?? "", /refused by the commit-msg hook[\s\S]*no ticket/);
});

test(
  "hooks in the working tree, as husky has them, run too; their own commits and branches stay inside",
  thorough,
  async () => {
    const hook =
      "#!/bin/sh\nset -e\ntest -f package.json\necho hooked > hooked.txt\ngit add hooked.txt\ngit branch stray\n";
    const p = hooked({ files: { ".husky/pre-commit": hook, "package.json": "{}\n" } });
    p.git("config", "core.hooksPath", ".husky");
    p.plan("one", ["Write it"]);
    await p.work();
    assert.equal(p.record("one").status, "review");
    assert.equal(show(p, "hooked.txt"), "hooked\n");
    assert.doesNotMatch(p.git("branch"), /stray/);
  },
);

test("hooks run with the agent's rights: what they see is not the user's home, and secrets stay", async () => {
  const hook = `#!/bin/sh\ncat "$HOME/.netrc" > seen.txt 2>&1\nenv >> seen.txt\ngit config --list >> seen.txt\ngit add seen.txt\n`;
  const p = hooked({ hooks: { "pre-commit": hook } });
  put(join(p.home, ".netrc"), "machine example.com password hunter2\n");
  p.git("config", "http.https://example.com/.extraHeader", "Authorization: hunter3");
  p.git("remote", "add", "origin", "https://somebody:hunter4@example.com/repo.git");
  p.plan("one", ["Write it"]);
  await p.work({ GITHUB_TOKEN: "hunter5" });
  assert.equal(p.record("one").status, "review");
  const seen = show(p, "seen.txt");
  assert.match(seen, /remote\.origin\.url=https:\/\/example\.com\/repo\.git/);
  assert.doesNotMatch(seen, /hunter/);
});

test("without hooks nothing is run for a commit", thorough, async () => {
  const p = hooked({});
  p.plan("one", ["Write it"]);
  await p.work();
  assert.equal(p.record("one").status, "review");
  assert.equal(existsSync(join(p.authority, "plans/one/runs/1/checks")), false);
});

test("inside, an agent commits with the user's hooks, installs, builds, tests and stashes", async () => {
  const work = [
    "git log --oneline | grep -q Files",
    "npm install --no-audit --no-fund --loglevel=error ./packages/greet",
    "node build.mjs",
    "node --test test.mjs",
    "git add work.txt && git commit -qm 'by the agent' && git log -1 --format=%s | grep -q 'by the agent'",
    "grep -q formatted work.txt",
    "echo more >> work.txt && git diff | grep -q more && git stash -q && git stash pop -q",
    "git commit -qam more && git branch side HEAD~1 && git rebase -q side && git switch -q -c aside && git switch -q -",
    "git config user.nickname x && git gc -q",
  ].join(" && ");
  const p = hooked({
    work: `set -x; echo work > work.txt; ${work} && echo all of it > done.txt`,
    hooks: { "pre-commit": FORMATTER },
    files: {
      "package.json": '{"name": "top", "private": true, "type": "module"}\n',
      ".gitignore": "node_modules\n",
      "packages/greet/package.json": '{"name": "greet", "version": "1.0.0", "main": "index.js"}\n',
      "packages/greet/index.js": "module.exports = () => 'hello';\n",
      "build.mjs": "import { writeFileSync } from 'node:fs'; writeFileSync('built.txt', 'built\\n');\n",
      "test.mjs":
        "import test from 'node:test'; import greet from 'greet'; import assert from 'node:assert'; test('x', () => assert.equal(greet(), 'hello'));\n",
    },
  });
  p.plan("one", ["Write it"]);
  const { stdout } = await p.work();
  const output = p.runFile("one", 1, "output.log");
  assert.equal(p.record("one").status, "review", `${stdout}\n${output}`);
  assert.match(p.git("ls-tree", "--name-only", "prloom/one"), /^done\.txt$/m, output);
  assert.equal(show(p, "built.txt"), "built\n");
  assert.deepEqual(p.commits("one"), ["Write it"]);
  assert.doesNotMatch(p.git("branch"), /side|aside/);
  assert.doesNotMatch(readFileSync(join(p.root, ".git/config"), "utf8"), /nickname/);
});

test("with hooks too, a message stays as it is, whatever encoding the user has for logs", thorough, async () => {
  const p = hooked({ hooks: { "pre-commit": "#!/bin/sh\n" } });
  p.git("config", "i18n.logOutputEncoding", "ISO-8859-1");
  p.plan("one", ["Grüße schreiben"]);
  const { stdout } = await p.work();
  assert.equal(p.record("one").status, "review", stdout);
  p.git("config", "i18n.logOutputEncoding", "UTF-8");
  assert.match(message(p), /^Grüße schreiben\n/);
});

test("what a hook writes about hooks in git's place is not believed to be well-formed", thorough, async () => {
  const forging = `#!/bin/sh\necho '{"sid":1,"child_id":1}' >> "$GIT_TRACE2_EVENT"\nexit 1\n`;
  const p = hooked({ hooks: { "pre-commit": forging } });
  p.plan("one", ["Write it"]);
  await p.work();
  assert.match(p.record("one").blocked?.reason ?? "", /refused by the pre-commit hook/);
});
