import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { CLI, NODE_FLAGS } from "../../testing/program.ts";
import { type CliResult, finished, makeProject, type Project } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

/** `games`: root may read everything. */
const USER = 5;

interface Unprivileged extends Project {
  /** Hands everything over to an ordinary user, then runs a command as that user, which must succeed. */
  typed(...args: string[]): Promise<CliResult>;
}

function unprivileged(context: TestContext, shell: string): Unprivileged {
  const project = makeProject({ config: { limits: { attemptsPerTodo: 1 } } });
  context.after(() => project.remove());
  project.config({ agents: { test: { adapter: "command", command: "sh", args: ["-c", shell], sandbox: "none" } } });
  project.plan("one", ["one"]);
  const base = join(project.root, "..");
  execFileSync("chmod", ["755", base]);
  execFileSync("chown", ["-R", `${USER}:${USER}`, base]);
  const env = { PATH: process.env.PATH, HOME: project.home, XDG_RUNTIME_DIR: project.home, NO_COLOR: "1" };
  const become = [`--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", process.execPath, ...NODE_FLAGS, CLI];
  return {
    ...project,
    async typed(...args) {
      const result = await finished(spawn("setpriv", [...become, ...args], { cwd: project.root, env }));
      assert.equal(result.code, 0, result.stderr + result.stdout);
      return result;
    },
  };
}

const TICK = `sed -i 's/- \\[ \\]/- [x]/' "$PRLOOM_PLAN_FILE"`;
const SHUT = "echo work > new.txt; echo shut > shut.txt; echo changed > src/a.txt; chmod 000 shut.txt src/a.txt";

test("files that an agent made unreadable are committed with the others", thorough, async (context) => {
  if (process.getuid?.() !== 0) return context.skip("needs root to become another user");
  const project = unprivileged(context, `${SHUT}; ${TICK}`);
  await project.typed("start", "--until-idle");
  const { status, blocked } = project.record("one");
  assert.equal(status, "review", blocked?.reason);
  const show = (file: string) => project.git("-c", "safe.directory=*", "show", `prloom/one:${file}`);
  assert.deepEqual(["new.txt", "shut.txt", "src/a.txt"].map(show), ["work\n", "shut\n", "changed\n"]);
});

const SHUT_FOLDERS = `
mkdir -p ${"d/".repeat(300)}; echo far > ${"d/".repeat(300)}far.txt
mkdir -p deep/er; echo work > deep/er/new.txt; echo listed > deep/listed.txt; chmod 000 deep/er; chmod 400 deep
echo changed > src/a.txt; echo there > src/new.txt; chmod 000 src`;

test("what lies in folders that an agent has shut is committed with the rest", thorough, async (context) => {
  if (process.getuid?.() !== 0) return context.skip("needs root to become another user");
  const project = unprivileged(context, `${SHUT_FOLDERS}; ${TICK}`);
  await project.typed("start", "--until-idle");
  const { status, blocked } = project.record("one");
  assert.equal(status, "review", blocked?.reason);
  const show = (file: string) => project.git("-c", "safe.directory=*", "show", `prloom/one:${file}`);
  const files = ["deep/er/new.txt", "deep/listed.txt", "src/a.txt", "src/new.txt", `${"d/".repeat(300)}far.txt`];
  assert.deepEqual(files.map(show), ["work\n", "listed\n", "changed\n", "there\n", "far\n"]);
});

test("what lies in folders that an agent has shut is kept when it is taken back", thorough, async (context) => {
  if (process.getuid?.() !== 0) return context.skip("needs root to become another user");
  const project = unprivileged(context, SHUT_FOLDERS);
  await project.typed("start", "--until-idle");
  const foreign = join(project.worktree("one"), "foreign");
  execFileSync("mkdir", ["-m", "700", foreign]);
  await project.typed("unblock", "one", "--reset");
  const patch = project.runFile("one", 2, "discarded.patch");
  for (const line of ["+work", "+listed", "+changed", "+there"]) assert.match(patch, new RegExp(`^\\${line}$`, "m"));
  assert.doesNotMatch(patch, /could not be kept/);
});

test("what is taken back is kept, without what another user has shut", thorough, async (context) => {
  if (process.getuid?.() !== 0) return context.skip("needs root to become another user");
  const project = unprivileged(context, SHUT);
  await project.typed("start", "--until-idle");
  assert.match(project.record("one").blocked?.reason ?? "", /not ticked/);
  const foreign = join(project.worktree("one"), "foreign.txt");
  execFileSync("sh", ["-c", `echo theirs > ${foreign}; chmod 600 ${foreign}`]);
  await project.typed("unblock", "one", "--reset");
  const patch = project.runFile("one", 2, "discarded.patch");
  for (const line of ["+work", "+shut", "+changed"]) assert.match(patch, new RegExp(`^\\${line}$`, "m"));
  assert.doesNotMatch(patch, /could not be kept|theirs/);
});
