import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

const project = projectMaker();

/** What a script that the agent wrote does behind the back of every rule about calls. */
const SCRIPT = `cd "$PRLOOM_WORKTREE"
echo evil >> .github/ci.yml
echo new > .github/new.yml
mv deploy/run.sh src/run.sh
mkdir -p .claude && echo '{}' > .claude/settings.json
git add -A && git -c user.name=a -c user.email=a@localhost commit -qm mine
echo done > src/work.txt
sed -i 's/^- \\[ \\]/- [x]/' "$PRLOOM_PLAN_FILE"
`;

function protectedProject(crash?: string) {
  const own = project({ config: { governance: { protected: [".github/**", "Deploy/**"] } } });
  for (const folder of [".github", "deploy"]) mkdirSync(join(own.root, folder));
  writeFileSync(join(own.root, ".github", "ci.yml"), "good\n");
  writeFileSync(join(own.root, "deploy", "run.sh"), "deploy\n");
  own.git("add", "-A");
  own.git("-c", "user.name=p", "-c", "user.email=p@localhost", "commit", "-qm", "More");
  own.config({ agents: { test: { adapter: "command", command: "/bin/sh", args: ["-c", SCRIPT], sandbox: "none" } } });
  own.plan("shop", ["one"]);
  return { own, work: () => own.work(crash === undefined ? {} : { PRLOOM_CRASH_AT: crash }) };
}

function assertPutBack(own: ReturnType<typeof project>): void {
  assert.equal(own.record("shop").status, "review", JSON.stringify(own.record("shop").blocked));
  const changed = own.git("diff", "--name-status", "--no-renames", "main", "prloom/shop");
  assert.deepEqual(changed.trim().split("\n"), ["A\tsrc/run.sh", "A\tsrc/work.txt"]);
  const tree = own.worktree("shop");
  assert.equal(readFileSync(join(tree, ".github", "ci.yml"), "utf8"), "good\n");
  assert.equal(readFileSync(join(tree, "deploy", "run.sh"), "utf8"), "deploy\n");
  for (const gone of [".github/new.yml", ".claude"]) assert.equal(existsSync(join(tree, gone)), false, gone);
}

test("what a script changed in protected paths is put back, and the person is told", async () => {
  const { own, work } = protectedProject();
  const { stdout, stderr } = await work();
  assertPutBack(own);
  assert.match(stdout + stderr, /changed what agents may not change.*settings of agent programs.*\.github\/ci\.yml/);
});

test("and so it is after a kill in the middle of it", thorough, async () => {
  const { own, work } = protectedProject("put-back:removed");
  assert.equal((await work()).signal, "SIGKILL");
  await own.work();
  assertPutBack(own);
});
