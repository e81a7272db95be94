import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { thorough } from "../../testing/thorough.ts";
import { git, prloom, testRepository } from "../fixture.ts";

const repo = testRepository();
after(() => repo.close());
const config = join(repo.root, "prloom", "config.json");
const usual = readFileSync(config, "utf8");

async function batch(...calls: object[]) {
  const ran = await repo.run(["explain", "--batch"], { input: calls.map((call) => JSON.stringify(call)).join("\n") });
  const answers = ran.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { ...ran, answers };
}

test("a denial in a batch has the calls that it recommends", async () => {
  const { answers } = await batch({ tool: "write", input: { path: "prloom/config.json" } });
  assert.deepEqual(answers[0].calls, [{ tool: "read", input: { filePath: `${repo.root}/prloom/.local/plan.md` } }]);
});

test("a line with a key that is not there, or without arguments, is told what is wrong", async () => {
  const { answers } = await batch(
    { tool: "shell", input: { command: "ls" }, rol: "executor" },
    { tool: "shell" },
    { tool: "Shell", input: { command: "ls" } },
  );
  const [unknown, without, misspelt] = answers;
  assert.equal(unknown.error.message, 'unknown key "rol", did you mean role?');
  assert.match(without.error.message, /^the line is not a call: input is missing/);
  assert.deepEqual([misspelt.verdict, misspelt.rule], ["deny", "allowed tools"]);
  assert.deepEqual(misspelt.warnings, ['there is no tool called "Shell", did you mean shell?']);
});

test("a role of a config that has a mistake is missing for that reason", async () => {
  const roles = { writer: { extends: "executor", paths: ["docs/**"] } };
  writeFileSync(config, JSON.stringify({ ...JSON.parse(usual), governance: { roles, protected: ["!prloom/**"] } }));
  const { stderr } = await repo.run(["explain", "write", "docs/a.md", "--role", "writer"]);
  writeFileSync(config, usual);
  assert.match(
    stderr,
    /there is no role called "writer".*\n.*Note: judged with the usual settings: .*governance\.protected/,
  );
});

test("paths count from the folder that the person is in", thorough, async () => {
  const folder = join(repo.root, "pkg", "src");
  mkdirSync(folder, { recursive: true });
  const explain = async (...args: string[]) => (await prloom(["explain", ...args], { cwd: folder })).stdout;
  assert.match(await explain("write", "../../prloom/config.json"), /^deny {2}protected paths\n/);
  assert.match(await explain("write", "prloom/config.json"), /^allow\n.*, called in pkg\/src\n/);
  assert.match(await explain("shell", "echo x > ../../../away"), /^deny {2}shell safety\n/);
  assert.match(await explain("shell", "echo x > ../a"), /^allow\n/);
});

test("what is wrong with a TODO is told with its number", thorough, async () => {
  const plan = (lines: string) => `# Docs\n\n## TODO\n\n- [ ] One\n${lines}`;
  const write = (id: string, lines: string) => repo.run(["new", "--stdin", "--id", id], { input: plan(lines) });
  await write("by", "  by: wrter\n");
  await write("lines", "  tools: reed\n  paths: /etc\n");
  const role = await repo.run(["explain", "shell", "ls", "--plan", "by"]);
  assert.equal(role.code, 2);
  assert.match(role.stderr, /TODO 1 of by: there is no role called "wrter"/);
  const { stderr } = await repo.run(["explain", "shell", "ls", "--plan", "lines"]);
  assert.match(stderr, /^note: TODO 1: "tools: reed" names no tool, did you mean read\?$/m);
  assert.match(stderr, /^note: TODO 1: "paths: \/etc" fits no file/m);
});

test("a plan that is not designed yet has no TODO yet", async () => {
  await repo.run(["new", "--stdin", "--id", "rough"], { input: "# Rough\n\nSomething.\n" });
  const { stdout } = await repo.run(["explain", "read", "a", "--plan", "rough"]);
  assert.match(stdout, /^allow\nexecutor with no TODO yet of rough in .* \(not made yet\)\n/);
});

test("a config that differs from what is in force is told, once, with what applies it", thorough, async () => {
  git(repo.root, "add", "-A");
  git(repo.root, "commit", "-qm", "Add prloom");
  const started = await repo.run(["start", "--until-idle"]);
  assert.equal(started.code, 0, started.stderr);
  const calls = [1, 2].map(() => ({ tool: "github_get_issue", input: {} }));
  assert.equal((await batch(...calls)).stderr, "");
  writeFileSync(config, JSON.stringify({ ...JSON.parse(usual), governance: { mcp: { reads: ["github_get_*"] } } }));
  const changed = await batch(...calls);
  assert.match(
    changed.stderr,
    /^note: judged as pinned, and .* differs: governance\.mcp\.reads: .*`prloom reload`.*\n$/,
  );
  for (const { rule, warnings } of changed.answers) {
    assert.equal(rule, "allowed tools");
    assert.equal(`note: ${warnings[0]}\n`, changed.stderr);
  }
  writeFileSync(config, `${usual}}`);
  const { stderr } = await repo.run(["explain", "shell", "ls"]);
  assert.match(stderr, /^note: judged as pinned: prloom\/config\.json has a mistake: .*:\d+:\d+ /);
  writeFileSync(config, usual);
});
