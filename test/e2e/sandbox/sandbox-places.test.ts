import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Project } from "../../testing/project.ts";
import { projectMaker } from "../../testing/projects.ts";
import { oneOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";

const CACHE = fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url));
const bases: string[] = [];
const fresh = projectMaker();
after(() => {
  for (const base of bases) rmSync(base, { recursive: true, force: true });
});

/** A folder of its own, with a name that starts as given. */
function folder(start = join(tmpdir(), "prloom-places-")): string {
  mkdirSync(dirname(start), { recursive: true });
  const made = mkdtempSync(start);
  bases.push(made);
  return made;
}

/** The agent commits, looks into the history, and writes down what it could do and see. */
const WORK = [
  "cat > /dev/null",
  "echo work > work.txt",
  // Test runners and other tools that walk the tree stop at a link that leads nowhere.
  'test -z "$(find -L . -type l)"',
  "git add work.txt && git commit -qm inside && git log --format=%s -2 > log.txt",
  'ls -A "$HOME" > home.txt',
  'echo "$PRLOOM_PLAN_ID" >> "$HOME/.memory" && cp "$HOME/.memory" memory.txt',
  "sed -i '0,/- \\[ \\]/s//- [x]/' \"$PRLOOM_PLAN_FILE\"",
].join("\n");

function project(dir: string, agent: Record<string, unknown> = {}, config: Record<string, unknown> = {}): Project {
  const p = fresh({ dir });
  const test = { adapter: "command", command: "sh", args: ["-ec", WORK], sandbox: "bwrap", ...agent };
  p.config({ agents: { test }, limits: { stopGrace: "200ms", attemptsPerTodo: 1 }, ...config });
  return p;
}

async function works(p: Project, env: Record<string, string> = {}): Promise<void> {
  p.plan("one", ["Do it"]);
  const { stdout, stderr } = await p.work(env);
  const shown = JSON.parse((await p.cli(["show", "one", "--json"], env)).stdout);
  assert.equal(shown.status ?? shown.plan?.status, "review", stdout + stderr);
  assert.equal(p.git("show", "prloom/one:log.txt"), "inside\nBegin\n");
  assert.equal(p.git("log", "-1", "--format=%s", "prloom/one"), "Do it\n");
  assert.equal(p.git("log", "-1", "--format=%s", "main"), "Begin\n");
}

const seen = (p: Project, file: string): string => p.git("show", `prloom/one:${file}`);

test(
  "a repository in the temporary folder, in a path with spaces and quotes, and a home that does not exist",
  thorough,
  async () => {
    const p = project(folder(join(tmpdir(), 'prloom it\'s a "place" ')));
    const runtime = join(dirname(p.root), "runtime");
    const state = join(dirname(p.root), "state");
    for (const dir of [runtime, state]) mkdirSync(dir);
    await works(p, { HOME: "/nonexistent", XDG_RUNTIME_DIR: runtime, XDG_STATE_HOME: state, XDG_CACHE_HOME: state });
  },
);

test("a repository outside of what is hidden", thorough, async () => {
  await works(project(folder(join(CACHE, "prloom-places-"))));
});

test("a repository below the home", thorough, async () => {
  const base = folder();
  const p = project(base);
  writeFileSync(join(base, ".secret"), "");
  await works(p, { HOME: base, XDG_RUNTIME_DIR: base });
  // The folders on the way to the repository, and what is the agent's own.
  assert.deepEqual(seen(p, "home.txt").trim().split("\n").sort(), [".cache", "repo"]);
});

test("a repository that is the home", thorough, async () => {
  const p = project(folder());
  await works(p, { HOME: p.root });
  assert.doesNotMatch(seen(p, "home.txt"), /README/);
});

test("refs that are packed, and objects that are borrowed from another repository", thorough, async () => {
  const base = folder();
  const p = project(base);
  const store = join(base, "store");
  p.git("clone", "-q", "--bare", p.root, store);
  p.git("pack-refs", "--all", "--prune");
  writeFileSync(join(p.root, ".git/objects/info/alternates"), "../../../store/objects\n");
  p.git("repack", "-adlq");
  assert.match(p.git("count-objects", "-v"), /in-pack: 0/, "the objects are not borrowed");
  await works(p);
});

test("a git folder that is elsewhere, and worktrees beside the repository", thorough, async () => {
  const base = folder();
  const p = project(base, {}, { worktreesDir: "../trees" });
  p.git("init", "-q", `--separate-git-dir=${join(base, "elsewhere.git")}`);
  await works(p);
  assert.ok(existsSync(join(base, "trees/one/work.txt")));
});

test("worktrees behind a link to another disk", async () => {
  const base = folder();
  const p = project(base, {}, { worktreesDir: "../link/trees" });
  symlinkSync("disk", join(base, "link"));
  p.plan("one", ["Do it"]);
  assert.match((await p.work()).stdout, /Bring back what a link on the way there leads to/);
  mkdirSync(join(base, "disk"));
  assert.equal((await p.cli(["unblock", "one"])).code, 0);
  await works(p);
  assert.ok(existsSync(join(base, "disk/trees/one/work.txt")));
  assert.doesNotMatch((await p.cli(["doctor"])).stdout, /belongs to/);
  assert.equal((await p.cli(["delete", "one", "--yes"])).code, 0);
  assert.equal(existsSync(join(base, "disk/trees/one")), false);
});

test("what a program keeps in its home is there in the next run of the plan, and in no other plan's", async () => {
  const p = project(folder(), { keeps: [".memory"] }, { limits: { stopGrace: "200ms" } });
  p.plan("one", ["First", "Second"]);
  await p.work();
  p.plan("two", ["First"]);
  await p.work();
  assert.equal(seen(p, "memory.txt"), "one\none\n");
  assert.equal(p.git("show", "prloom/two:memory.txt"), "two\n");
  assert.equal(existsSync(join(p.home, ".memory")), false);
});

test("what is named as readable can be read, but not what is ours in it, nor the rest of the home", async () => {
  const line = `${WORK}
    cat "$HOME/shared/notes" > notes.txt; cat "$HOME/private/notes" >> notes.txt || true
    find "$HOME/.local" "$HOME/run" > found.txt`;
  const p = project(folder(), { args: ["-c", line], readable: ["shared", ".local", "run"] });
  for (const name of ["shared", "private"]) {
    mkdirSync(join(p.home, name));
    writeFileSync(join(p.home, name, "notes"), `${name}\n`);
  }
  mkdirSync(join(p.home, ".local/mine"), { recursive: true });
  mkdirSync(join(p.home, "run"));
  await works(p, { XDG_RUNTIME_DIR: join(p.home, "run") });
  assert.equal(seen(p, "notes.txt"), "shared\n");
  assert.match(seen(p, "found.txt"), /\.local\/mine/);
  assert.doesNotMatch(seen(p, "found.txt"), /\.sock|homes/);
});

for (const readable of oneOf(["~/", "../repo/.git/prloom", "../repo/prloom/.local"])) {
  test(`what the sandbox hides cannot be named as readable: ${readable}`, async () => {
    const p = project(folder(), { readable: [readable] });
    p.plan("one", ["Do it"]);
    await p.work();
    assert.match(p.record("one").blocked?.reason ?? "", /readable.*is what the sandbox hides/);
  });
}

/** Everything that is usually in PATH, but for bwrap. */
function pathWithoutBwrap(): string {
  const dir = folder();
  for (const program of ["git", "sh", "sed", "cat", "ls", "cp", "mkfifo", "env", "ps"]) {
    const real = ["/usr/bin", "/bin"].map((one) => join(one, program)).find(existsSync);
    if (real) symlinkSync(real, join(dir, basename(program)));
  }
  return `${dirname(process.execPath)}:${dir}`;
}

test("where there is no bubblewrap, an agent that must have it does not start, and the reason is told", async () => {
  const p = project(folder());
  p.plan("one", ["Do it"]);
  await p.work({ PATH: pathWithoutBwrap() });
  const { blocked } = p.record("one");
  assert.match(blocked?.reason ?? "", /agent test is to run in a sandbox.*bubblewrap \(bwrap\) is not installed/);
  assert.match(blocked?.hint ?? "", /apt install bubblewrap/);
  assert.deepEqual(p.commits("one"), []);
});

test("where there is no bubblewrap, one that may do without runs, and its level is none", thorough, async () => {
  const p = project(folder(), { sandbox: "auto" });
  p.plan("one", ["Do it"]);
  await p.work({ PATH: pathWithoutBwrap() });
  assert.equal(p.record("one").status, "review");
  const run = JSON.parse(readFileSync(join(p.authority, "plans/one/runs/1/run.json"), "utf8"));
  assert.equal(run.level, "none");
});
