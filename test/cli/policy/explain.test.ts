import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { POLICY_RULES } from "../../../src/governance/policy/judge.ts";
import { git, prloom, testRepository } from "../fixture.ts";

const repo = testRepository();
after(() => repo.close());
const config = join(repo.root, "prloom", "config.json");
const usual = readFileSync(config, "utf8");

/** All answers to the calls, from one process. */
async function batch(calls: readonly unknown[], args: readonly string[] = []) {
  const input = calls.map((call) => (typeof call === "string" ? call : JSON.stringify(call))).join("\n");
  const ran = await repo.run(["explain", "--batch", ...args], { input });
  assert.equal(ran.code, 0, ran.stderr);
  return {
    ...ran,
    answers: ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  };
}

const shell = (command: string, more: object = {}) => ({ tool: "shell", input: { command }, ...more });

describe("prloom rules", () => {
  it("lists them in order, with what each is for", async () => {
    const [people, programs] = await Promise.all([repo.run(["rules"]), repo.run(["rules", "--json"])]);
    assert.deepEqual(
      JSON.parse(programs.stdout),
      POLICY_RULES.map(({ name, purpose }) => ({ name, purpose })),
    );
    const rows = people.stdout.split("\n").slice(1, POLICY_RULES.length + 1);
    assert.deepEqual(
      rows.map((row) => row.trim().replace(/\s{2,}/g, "  ")),
      POLICY_RULES.map(({ name, purpose }, at) => `${at + 1}  ${name}  ${purpose}`),
    );
  });
});

describe("prloom explain", () => {
  it("tells a person the verdict, the four parts, and what the command does", async () => {
    const { code, stdout } = await repo.run(["explain", "shell", "cat a | tee b", "&&", "git push --force"]);
    assert.equal(code, 0);
    assert.deepEqual(stdout.split("\n"), [
      "deny  shell safety",
      `executor with a started task in ${repo.root}`,
      "",
      "WHAT         The command pushes commits to another repository.",
      "WHY          What is on this machine stays here: sending it elsewhere is for a person, or for prloom after review.",
      "USE INSTEAD  Commit only, and say in your answer what should be pushed.",
      "EVIDENCE     sends: in `git push --force`",
      "",
      "COMMAND                            EFFECT  WHAT",
      "cat a | tee b && git push --force",
      "├ cat a                            reads   a",
      "├ tee b                            writes  b",
      "└ git push --force                 sends   pushes commits to another repository",
      "",
    ]);
  });

  it("gives programs the same, with options on either side of the call", async () => {
    const [denied, allowed] = await Promise.all([
      repo.run(["explain", "--role", "investigator", "write", "src/a.ts", "--json"]),
      repo.run(["explain", "Bash", '{"command":"ls -la"}', "--json"]),
    ]);
    const { verdict, rule, evidence } = JSON.parse(denied.stdout);
    assert.deepEqual([denied.code, verdict, rule], [0, "deny", "path scope"]);
    assert.match(evidence, /policy\.role\.paths/);
    assert.deepEqual(JSON.parse(allowed.stdout), {
      verdict: "allow",
      rule: null,
      what: null,
      why: null,
      useInstead: null,
      evidence: null,
      effects: { command: "ls -la", effects: [], inner: [{ command: "ls -la", effects: [], inner: [] }] },
    });
  });

  it("is called wrongly: no tool, a role that is not there, a plan that is not there, a comment", async () => {
    const calls = [
      ["explain"],
      ["explain", "shell", "ls", "--role", "executer"],
      ["explain", "answer"],
      ["explain", "--rol", "executor"],
    ];
    const ran = await Promise.all(calls.map((args) => repo.run(args)));
    assert.deepEqual(
      ran.map(({ code, stdout }) => [code, stdout]),
      calls.map(() => [2, ""]),
    );
    assert.match(ran[1]?.stderr ?? "", /there is no role called "executer", did you mean executor\? \[usage\]/);
    assert.match(ran[2]?.stderr ?? "", /which comment\? \[usage\]/);
    assert.match(ran[3]?.stderr ?? "", /unknown option "--rol" \[usage\]/);
    const lost = await repo.run(["explain", "shell", "ls", "--plan", "lost"]);
    assert.equal(lost.code, 1);
    assert.match(lost.stderr, /There is no plan "lost"\. \[plan-not-found\]/);
  });
});

describe("prloom explain --batch", () => {
  it("answers each line, whatever stands on it, and goes on", async () => {
    const { answers, stderr } = await batch([
      shell("npm test"),
      "not JSON",
      "",
      "[1]",
      { input: {} },
      { answer: 7 },
      { answer: "LGTM", premission: "read" },
      { answer: "LGTM" },
      { answer: "LGTM", permission: "read" },
      { tool: "write", input: { filePath: 7 } },
      { tool: "write", input: { path: ".git/config" }, role: "executor" },
      { tool: "shell", input: { command: "ls" }, role: "nobody" },
      { tool: "shell", input: { command: "ls" }, plan: "lost" },
      shell(`echo ${"x".repeat(1_000_000)}`),
      `{"tool":"shell","input":{"command":"${"x".repeat(17_000_000)}"}}`,
      { tool: "constructor", input: {} },
      shell("git push"),
    ]);
    const told = answers.map((answer) => answer.error?.message ?? answer.answer ?? `${answer.verdict} ${answer.rule}`);
    assert.deepEqual(told, [
      "allow null",
      "the line is not JSON",
      "the line is not JSON",
      "the line is not a call: it must be an object",
      "the line is not a call: tool must be a string",
      "the line is not an answer: answer must be a string",
      'unknown key "premission", did you mean permission?',
      "approve",
      "none",
      "deny arguments",
      "deny protected paths",
      'there is no role called "nobody"',
      'There is no plan "lost".',
      "deny shell safety",
      "the line is longer than 16 MB",
      "deny allowed tools",
      "deny shell safety",
    ]);
    assert.deepEqual(Object.keys(answers.at(-1)), ["verdict", "rule", "what", "why", "useInstead", "evidence"]);
    assert.equal(stderr, "");
  });

  it("follows real links, and writes nothing", async () => {
    mkdirSync(join(repo.root, "src"), { recursive: true });
    symlinkSync("/etc", join(repo.root, "src", "away"));
    const before = git(repo.root, "status", "--porcelain", "--ignored");
    const { answers } = await batch(
      [
        { tool: "write", input: { path: "src/away/hosts" } },
        { tool: "write", input: { path: "src/new/file" } },
        shell("echo x > src/away/hosts"),
        { tool: "write", input: { path: "prloom/.local/plan.md" }, role: "investigator" },
        shell("touch src/x"),
        shell("touch src/x", { role: "executor" }),
      ],
      ["--role", "investigator"],
    );
    assert.deepEqual(
      answers.map(({ rule }) => rule),
      ["path scope", "path scope", "shell safety", null, "shell safety", null],
    );
    assert.equal(git(repo.root, "status", "--porcelain", "--ignored"), before);
  });

  it("judges in a plan's own worktree, for the TODO that is next there", async () => {
    const plan = "# Docs\n\n## TODO\n\n- [x] One\n- [ ] Two\n  paths: docs/**\n- [ ] Three\n";
    await repo.run(["new", "--stdin", "--id", "docs"], { input: plan });
    await repo.run(["new", "--stdin", "--id", "over"], { input: "# Over\n\n## TODO\n\n- [x] One\n" });
    const tree = join(repo.root, "prloom", ".local", "worktrees", "docs");
    const { answers } = await batch([
      { tool: "write", input: { path: "docs/a.md" }, plan: "docs" },
      { tool: "write", input: { path: "src/a.ts" }, plan: "docs" },
      { tool: "write", input: { path: `${tree}/docs/a.md` }, plan: "docs" },
      { tool: "write", input: { path: join(repo.root, "docs/a.md") }, plan: "docs" },
      { tool: "write", input: { path: "docs/a.md" }, plan: "over" },
    ]);
    assert.deepEqual(
      answers.map(({ rule }) => rule),
      [null, "path scope", null, "path scope", "active task"],
    );
    const { stdout } = await repo.run(["explain", "shell", "npm test", "--plan", "docs"]);
    assert.match(stdout, new RegExp(`^allow\nexecutor with TODO 2 of docs in ${tree} \\(not made yet\\)\n`));
  });

  it("takes what the config says, and does without one that is broken, missing, or without a repository", async () => {
    const governance = {
      roles: { writer: { extends: "executor", paths: ["docs/**"] } },
      mcp: { reads: ["github_get_*"] },
      interpreters: ["node"],
    };
    const calls = [
      { tool: "write", input: { path: "docs/a.md" }, role: "writer" },
      { tool: "write", input: { path: "src/a.ts" }, role: "writer" },
      { tool: "github_get_issue", input: {} },
      shell("node -e '1'"),
    ];
    writeFileSync(config, JSON.stringify({ ...JSON.parse(usual), governance }));
    const widened = await batch(calls);
    assert.deepEqual(
      widened.answers.map(({ rule }) => rule),
      [null, "path scope", null, null],
    );
    writeFileSync(config, `${usual}}`);
    const broken = await batch([...calls.slice(2), shell("git status")]);
    assert.deepEqual(
      broken.answers.map(({ rule }) => rule),
      ["allowed tools", "shell safety", null],
    );
    assert.match(
      broken.stderr,
      /^note: judged with the usual settings: prloom\/config\.json has a mistake: prloom\/config\.json:\d+:\d+ .* \(`prloom doctor` tells more\)\n$/,
    );
    for (const { warnings } of broken.answers) assert.equal(`note: ${warnings[0]}\n`, broken.stderr);
    writeFileSync(config, usual);
    const outside = mkdtempSync(join(tmpdir(), "prloom-outside-"));
    const alone = await prloom(["explain", "shell", "git push"], {
      cwd: outside,
      env: { GIT_CEILING_DIRECTORIES: tmpdir() },
    });
    rmSync(outside, { recursive: true });
    assert.match(alone.stdout, /^deny {2}shell safety\n/);
    assert.match(alone.stderr, /^note: this is not a git repository/);
  });
});
