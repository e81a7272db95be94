import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeProject, type Project } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

const projects: Project[] = [];
after(() => {
  for (const project of projects) {
    execFileSync("rm", ["-rf", join(project.root, "..")]);
    project.remove();
  }
});

/** Ticks its TODO after it has run what the test says. */
const AGENT = `import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
const { ATTACK, PRLOOM_PLAN_FILE: plan } = process.env;
execFileSync("bash", ["-c", ATTACK], { stdio: "inherit" });
writeFileSync(plan, readFileSync(plan, "utf8").replace("- [ ]", "- [x]"));
`;

const works = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status === 0;
const skip = works ? false : "no sandbox here";

/** A project whose agent does this in its sandbox; `canary` is a file that only a process outside can write. */
function attacked(attack: (canary: string) => string, config: Record<string, unknown> = {}) {
  const project = makeProject({ sandbox: "bwrap", config: { limits: { attemptsPerTodo: 1 }, ...config } });
  projects.push(project);
  const canary = join(project.home, "canary");
  const agent = join(project.root, "agent.mjs");
  writeFileSync(agent, AGENT);
  project.git("add", "agent.mjs");
  project.git("-c", "user.name=P", "-c", "user.email=p@l", "commit", "-qm", "Agent");
  const env = { ATTACK: attack(canary) };
  const test = { adapter: "command", command: process.execPath, args: [agent], sandbox: "bwrap", env };
  project.config({ agents: { test } });
  project.plan("attack", ["Do it"]);
  return { project, canary };
}

const SECRET = { GITHUB_TOKEN: "SECRET" };

test("a repository with programs in its configuration runs none of them, neither ours nor a person's git", {
  skip,
}, async () => {
  const { project, canary } = attacked(
    (file) => `if [ "$PRLOOM_STAGE" = triage ]; then
        echo '{"reply_markdown":"ok","todos":[],"rebase_requested":true}' > "$PRLOOM_RESULT_FILE"; exit; fi
      echo agent > README.md; git init -q sub; cd sub; echo x > x; git add x
      git -c user.name=a -c user.email=a@b commit -qm x
      git config core.fsmonitor 'echo monitor >> ${file}; false'
      git config filter.x.clean 'echo clean >> ${file}; cat'
      echo '* filter=x' > .gitattributes; sleep 1.1; echo y > x; cd ..
      printf '[submodule "sub"]\\n\\tpath = sub\\n\\turl = ./sub\\n' > .gitmodules`,
  );
  await project.work(SECRET);
  assert.equal(project.record("attack").status, "review");
  assert.doesNotMatch(project.git("ls-tree", "-r", "prloom/attack"), /^160000/m);
  const { worktree = "" } = project.record("attack");
  execFileSync("git", ["-C", worktree, "status", "--short"]);
  writeFileSync(join(project.root, "README.md"), "main\n");
  project.git("-c", "user.name=P", "-c", "user.email=p@l", "commit", "-qam", "In the way");
  await project.cli(["comment", "attack", "please rebase"]);
  await project.work(SECRET);
  assert.match(project.record("attack").blocked?.reason ?? "", /README\.md/);
  assert.equal(existsSync(canary), false);
});

test("a filter of the user blocks the plan until it is trusted", { skip }, async () => {
  const { project, canary } = attacked(() => "echo '*.nb filter=strip' > .gitattributes; echo '{}' > a.nb");
  project.git("config", "filter.strip.clean", `env > ${canary}; cat`);
  await project.work(SECRET);
  const { blocked } = project.record("attack");
  assert.match(blocked?.reason ?? "", /a\.nb needs git's filter "strip"/);
  assert.match(blocked?.hint ?? "", /"trustedFilters": \["strip"\].*prloom unblock attack/);
  assert.equal(existsSync(canary), false);
  project.config({ trustedFilters: ["strip"] });
  assert.equal((await project.cli(["unblock", "attack"])).code, 0);
  await project.work(SECRET);
  assert.equal(project.record("attack").status, "review");
  assert.doesNotMatch(execFileSync("cat", [canary], { encoding: "utf8" }), /SECRET/);
});

const DEEP = `python3 -c '
import os
for base in ("prloom/.local", "."):
  here = os.getcwd(); os.chdir(base)
  for i in range(60):
    os.mkdir("d" * 200); os.chdir("d" * 200)
  open("x", "w").close(); os.chdir(here)
'; echo '* working-tree-encoding=UTF-16' > .gitattributes; echo w > w`;

test("a tree that git cannot take blocks its plan; it can be reset and deleted", { skip, ...thorough }, async () => {
  const { project } = attacked(() => DEEP, { bus: { retryMin: "10ms", retryMax: "20ms" } });
  await project.work();
  const { worktree = "", blocked } = project.record("attack");
  assert.match(blocked?.reason ?? "", /UTF-16/);
  assert.equal((await project.cli(["unblock", "attack", "--reset"])).code, 0);
  assert.deepEqual(
    readdirSync(worktree).filter((name) => name.startsWith("ddd") || name === ".gitattributes" || name === "w"),
    [],
  );
  await project.work();
  assert.match(project.record("attack").blocked?.reason ?? "", /UTF-16/);
  const deleted = await project.cli(["delete", "attack", "--yes"]);
  assert.equal(deleted.code, 0, deleted.stderr);
  assert.equal(existsSync(worktree), false);
});

test("pipes, names that are not UTF-8 and thousands of files hinder no plan", { skip, ...thorough }, async () => {
  const { project } = attacked(
    () => `mkfifo .gitattributes src/.gitignore; echo x > w; cd prloom/.local
      for i in $(seq 3000); do : > "f$i"; done; cd evidence
      echo seen > "$(printf 'a\\377b')"; echo seen > plain.txt`,
  );
  project.plan("attack", ["One", "Two"]);
  const { stdout, stderr } = await project.work();
  assert.equal(project.record("attack").status, "review", stdout + stderr);
  assert.deepEqual(readdirSync(join(project.authority, "plans/attack/runs/1/evidence")).sort(), [
    "a\ufffdb",
    "plain.txt",
  ]);
  assert.equal(project.commits("attack").length, 2);
});
