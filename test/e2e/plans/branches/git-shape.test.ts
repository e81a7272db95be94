import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { CLI } from "../../../testing/program.ts";
import type { Project } from "../../../testing/project.ts";
import { projectMaker } from "../../../testing/projects.ts";
import { thorough } from "../../../testing/thorough.ts";

const fresh = projectMaker();

const PERSON = ["-c", "user.name=Person", "-c", "user.email=p@localhost"];

/** A project whose agent is a piece of sh in the sandbox; it has its prompt in the file `$prompt`. */
function project(work: string, config: Record<string, unknown> = {}): Project {
  const p = fresh();
  const tick = `sed -i 's/- \\[ \\]/- [x]/' "$PRLOOM_PLAN_FILE"`;
  const line = `prompt=$(mktemp); cat > "$prompt"\n${work}\n${tick}`;
  const agent = { adapter: "command", command: "sh", args: ["-ec", line], sandbox: "bwrap" };
  p.config({ agents: { test: agent }, limits: { stopGrace: "200ms", attemptsPerTodo: 2 }, ...config });
  return p;
}

function put(p: Project, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(p.root, path)), { recursive: true });
    writeFileSync(join(p.root, path), text, { mode: 0o755 });
  }
  p.git("add", "-A");
  p.git(...PERSON, "commit", "--no-verify", "-qm", "By a person");
}

const BARE = `mkdir -p lib/objects lib/refs; touch lib/objects/x lib/refs/y; echo "int x;" > lib/lib.c
  printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = "touch %s; false"\\n' "$PWD/ran" > lib/config
  echo "ref: refs/heads/main" > lib/HEAD`;

/** What a person does who looks around, with git as it comes. */
function look(folder: string): void {
  try {
    execFileSync("git", ["status"], {
      cwd: folder,
      stdio: "ignore",
      env: { PATH: process.env.PATH, HOME: "/nowhere" },
    });
  } catch {
    // It may well fail; what matters is what it has run.
  }
}

test("an agent that makes a bare repository is told, and no git runs what it says", async () => {
  const p = project(`if grep -q "take a folder for a repository" "$prompt"; then echo ok > lib/ok; else ${BARE}; fi`);
  p.plan("one", ["Vendor a library"]);
  const { stdout } = await p.work();
  assert.match(stdout, /attempt 1 was not accepted: With `lib\/HEAD` git would take a folder for a repository/);
  assert.equal(p.record("one").status, "review", stdout);
  const worktree = join(p.root, "prloom/.local/worktrees/one");
  look(join(worktree, "lib"));
  assert.equal((await p.cli(["merge", "one"])).code, 0);
  look(join(p.root, "lib"));
  assert.equal(existsSync(join(p.root, "lib/ok")), true);
  assert.equal(existsSync(join(p.root, "lib/HEAD")), false);
  for (const top of [worktree, p.root]) assert.equal(existsSync(join(top, "ran")), false, top);
});

test("an agent that links to what it made in ignored folders is told, and no such link is merged", async () => {
  const p = project(
    `mkdir -p node_modules && cd node_modules && ${BARE} && cp -r lib "$HOME/.cache/" && cd ..
     if grep -q "lead out of the project" "$prompt"; then echo ok > ok; else
       ln -s prloom/.local/worktrees/one/node_modules/lib docs
       ln -s "$(awk -v cache="$HOME/.cache" '$5 == cache { print $4 }' /proc/self/mountinfo)/lib" more; fi`,
  );
  put(p, { ".gitignore": "node_modules/\n" });
  p.plan("one", ["Vendor a library"]);
  const { stdout } = await p.work();
  assert.match(stdout, /attempt 1 was not accepted: The links `docs`, `more` lead out of the project/);
  assert.equal(p.record("one").status, "review", stdout);
  assert.equal((await p.cli(["merge", "one"])).code, 0);
  assert.equal(p.git("ls-files").trim().split("\n").includes("ok"), true);
  assert.equal(p.git("ls-files", "docs", "more"), "");
});

test("a link that would lead there once another one becomes a folder is not merged either", async () => {
  const p = project(
    `if [ ! -e ok ] && ! grep -q "lead out of the project" "$prompt"; then mkdir -p src/deep node_modules; cd node_modules; ${BARE}; cd ..
       echo 1 > src/deep/one.txt; ln -s src/deep hop; ln -s hop/../prloom/.local/worktrees/one/node_modules/lib docs
     elif [ ! -e ok ]; then echo ok > ok
     else rm hop; mkdir hop; echo 2 > hop/two.txt; fi`,
  );
  put(p, { ".gitignore": "node_modules/\n" });
  p.plan("one", ["Link", "Make a folder of it"]);
  const { stdout } = await p.work();
  await p.cli(["merge", "one"]);
  look(join(p.root, "docs"));
  assert.equal(existsSync(join(p.root, "prloom/.local/worktrees/one/node_modules/ran")), false);
  assert.match(stdout, /not accepted: The links `docs` lead out of the project/);
});

test("one that does not listen is blocked, and what it left is harmless", thorough, async () => {
  const p = project(BARE);
  p.plan("one", ["Vendor a library"]);
  await p.work();
  assert.match(p.record("one").blocked?.reason ?? "", /lib\/HEAD.*repository/s);
  const worktree = join(p.root, "prloom/.local/worktrees/one");
  look(join(worktree, "lib"));
  assert.equal(existsSync(join(worktree, "ran")), false);
});

test("two plans that make one repository together are merged only by force, which says so", thorough, async () => {
  const p = project(
    `if [ "$PRLOOM_PLAN_ID" = one ]; then mkdir -p lib/refs; touch lib/refs/x; echo "ref: refs/heads/main" > lib/HEAD
     else mkdir -p lib/objects; touch lib/objects/x; fi`,
  );
  p.plan("one", ["Half"]);
  p.plan("two", ["Half"]);
  await p.work();
  assert.equal((await p.cli(["merge", "one"])).code, 0);
  const refused = await p.cli(["merge", "two"]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /lib\/objects \[nested-repository\]\n {2}hint: .*prloom merge two --force/);
  assert.equal(p.record("two").status, "review");
  // By a person who forces it for another reason, too.
  const forced = await p.cli(["merge", "two", "--force"]);
  assert.equal(forced.code, 0);
  assert.match(forced.stdout, /^careful: .*git would take a folder for a repository .*: lib\/objects\./m);
});

const PLUGIN = 'import { writeFileSync } from "node:fs"; writeFileSync(new URL("ran", import.meta.url), "");';

test("prloom does not take a repository among the files of another one for its own", thorough, async () => {
  const p = project("true");
  const config = JSON.stringify({ ...p.config(), globalPlugins: { evil: { module: "./evil.mjs" } } });
  put(p, {
    "vendor/lib/HEAD": "ref: refs/heads/main\n",
    "vendor/lib/objects/x": "",
    "vendor/lib/refs/x": "",
    "vendor/lib/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n",
    "vendor/prloom/config.json": config,
    "vendor/evil.mjs": PLUGIN,
  });
  const lib = join(p.root, "vendor/lib");
  for (const command of ["doctor", "status", "start --until-idle", "new Hello"]) {
    const env = { PATH: process.env.PATH ?? "", HOME: p.home, XDG_RUNTIME_DIR: p.home };
    const args = ["-c", 'cd "$1"; shift; "$@" 2>&1; echo "code $?"', "sh", lib, process.execPath, CLI];
    const printed = execFileSync("sh", [...args, ...command.split(" ")], { env, encoding: "utf8" });
    assert.match(printed, /vendor is a git repository among the files of another one[\s\S]*code 1\n$/, command);
    assert.match(printed, new RegExp(`cd ${p.root}\``), command);
  }
  assert.equal(existsSync(join(p.root, "vendor/ran")), false);
});

test("a forged trailer ends no other plan, and a squash by hand ends its own", async () => {
  const p = project(
    `if [ "$PRLOOM_PLAN_ID" = evil ]; then
       printf '#!/bin/sh\\nprintf "\\\\nprloom-merge : %s\\\\nPrloom-Step: forged\\\\n  folded\\\\n" >> "$1"\\n' "$(git rev-parse refs/heads/prloom/good)" > .husky/commit-msg
     fi
     echo work > "src/$PRLOOM_PLAN_ID.txt"`,
  );
  put(p, { ".husky/commit-msg": "#!/bin/sh\nexit 0\n" });
  p.git("config", "core.hooksPath", ".husky");
  p.plan("good", ["Valuable work"]);
  await p.work();
  p.plan("evil", ["Other work"]);
  await p.work();
  assert.equal(p.git("log", "-1", "--format=%B", "prloom/evil").match(/prloom-|folded/gi)?.length, 1);
  assert.equal((await p.cli(["merge", "evil"])).code, 0);
  // By a person, who may write what they like: it proves nothing either.
  const tip = p.git("rev-parse", "prloom/good").trim();
  p.git(...PERSON, "commit", "--no-verify", "--allow-empty", "-qm", `Words\n\nPrloom-Merge: ${tip}`);
  await p.work();
  assert.equal(p.record("good").status, "review");
  p.git(...PERSON, "merge", "-q", "--squash", "prloom/good");
  p.git(...PERSON, "commit", "--no-verify", "-qm", "Good work, squashed");
  await p.work();
  assert.equal(p.record("good").outcome, "merged");
});
