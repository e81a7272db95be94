import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { startDaemon } from "../../testing/daemon.ts";
import { makeGatedProject } from "../../testing/gated.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { works } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

const made: Project[] = [];
after(() => {
  for (const project of made) project.remove();
});

/** Leaves a file of its own, changes one of the repository's, and says each time that it was here. */
const PREPARES = `import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
export default ({ calls }) => ({
  afterActivate({ worktree, planId }) {
    appendFileSync(calls, planId + "\\n");
    mkdirSync(worktree + "/tools", { recursive: true });
    writeFileSync(worktree + "/tools/[key] *.txt", "secret\\n");
    writeFileSync(worktree + "/src/a.txt", "prepared\\n");
  },
});
`;

function prepares(project: Project): () => string {
  made.push(project);
  const calls = join(project.home, "calls");
  mkdirSync(join(project.root, "plugins"));
  writeFileSync(join(project.root, "plugins", "prepares.mjs"), PREPARES);
  project.config({ globalPlugins: { prepares: { module: "./plugins/prepares.mjs", config: { calls } } } });
  return () => readFileSync(calls, "utf8");
}

const filesOf = (project: Project, id: string) => project.git("ls-tree", "-r", "--name-only", `prloom/${id}`);

test("files that afterActivate left are in no commit and outlast an interrupted run; so does what it changed", async () => {
  const { project, open, halfWay } = makeGatedProject();
  prepares(project);
  project.plan("p", ["[waits] one", "two"]);
  const daemon = await startDaemon(project);
  await halfWay(daemon, "p");
  await daemon.end("SIGKILL");
  open("p");
  await works(project);
  const tree = project.worktree("p");
  assert.equal(project.record("p").status, "review");
  assert.equal(readFileSync(join(tree, "tools", "[key] *.txt"), "utf8"), "secret\n");
  assert.doesNotMatch(filesOf(project, "p"), /tools/);
  assert.doesNotMatch(project.runFile("p", 1, "partial.patch"), /secret|prepared/);
  assert.equal(project.git("show", "prloom/p:src/a.txt"), "prepared\n");
  assert.equal(existsSync(join(tree, "half.txt")), true, "the second run did its half again");
  assert.match(readFileSync(join(tree, "half.txt"), "utf8"), /^half of \[waits\] one\n$/);
});

test("a worktree that vanished is prepared by plugins again before any agent gets it", thorough, async () => {
  const project = makeProject();
  const calls = prepares(project);
  project.plan("p", ["one", "[say-blocked] two"]);
  await works(project);
  assert.equal(calls(), "p\n");
  rmSync(project.worktree("p"), { recursive: true });
  await works(project);
  const file = join(project.home, "edited.md");
  writeFileSync(file, project.planText("p").replace(/- \[b\][\s\S]*/, "- [ ] two\n"));
  for (const args of [
    ["edit", "p", "--file", file],
    ["unblock", "p"],
  ]) {
    const { code, stderr } = await project.cli(args);
    assert.equal(code, 0, stderr);
  }
  await works(project);
  assert.equal(project.record("p").status, "review", project.record("p").blocked?.reason);
  assert.equal(calls(), "p\np\n");
  assert.ok(existsSync(join(project.worktree("p"), "tools", "[key] *.txt")));
  assert.deepEqual(project.commits("p"), ["one", "two"]);
  assert.doesNotMatch(filesOf(project, "p"), /tools/);
});

test("files that initCommands left count the same, and a designer puts nothing of them aside", thorough, async () => {
  const project = makeProject({ config: { initCommands: ["echo made > made.txt; echo changed > src/b.txt"] } });
  made.push(project);
  project.plan("p", []);
  await works(project);
  assert.equal(readFileSync(join(project.worktree("p"), "made.txt"), "utf8"), "made\n");
  assert.doesNotMatch(filesOf(project, "p"), /made/);
  assert.equal(project.git("show", "prloom/p:src/b.txt"), "changed\n");
  assert.equal(existsSync(join(project.authority, "plans", "p", "runs", "1", "aside.patch")), false);
});

/** A name in Latin-1, as old archives have them. */
const CAFE = 'printf secret > "$(printf "caf\\351.env")"';

test("a prepared file that no record can name is not committed: the plan is blocked", thorough, async () => {
  const project = makeProject({ config: { initCommands: [CAFE] } });
  made.push(project);
  project.plan("p", ["one"]);
  await project.work();
  assert.match(project.record("p").blocked?.reason ?? "", /name is not UTF-8: caf/);
  project.config({ initCommands: [] });
  await project.cli(["unblock", "p"]);
  await works(project);
  assert.deepEqual(project.commits("p"), ["one"]);
});

test("a folder of copyFiles is copied without what no name can be given to", thorough, async () => {
  const project = makeProject({ config: { copyFiles: ["private"] } });
  made.push(project);
  const folder = join(project.root, "private");
  mkdirSync(folder);
  writeFileSync(join(folder, "plain.env"), "secret\n");
  execFileSync("sh", ["-c", CAFE], { cwd: folder });
  project.plan("p", ["one"]);
  const printed = await works(project);
  assert.match(printed, /copyFiles: the name of private\/caf.\.env is not UTF-8/);
  assert.equal(readFileSync(join(project.worktree("p"), "private", "plain.env"), "utf8"), "secret\n");
  assert.doesNotMatch(filesOf(project, "p"), /private/);
});
