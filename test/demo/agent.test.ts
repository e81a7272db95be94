import assert from "node:assert/strict";
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseTriageResult } from "../../src/agents/results/triage-result.ts";
import { parsePlan } from "../../src/plan/markdown/markdown.ts";
import { readClaims } from "../../src/plan/todos/claims.ts";
import { thorough } from "../testing/thorough.ts";

const demo = fileURLToPath(new URL("../../examples/demo", import.meta.url));
const given = readFileSync(join(demo, "plan.md"), "utf8");

interface Bench {
  readonly dir: string;
  readonly planFile: string;
  run(env: Record<string, string>): string;
  program(...args: string[]): string;
}

function bench(context: TestContext, plan = given): Bench {
  const dir = mkdtempSync(join(tmpdir(), "prloom-agent-"));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  cpSync(join(demo, "project"), join(dir, "project"), { recursive: true });
  mkdirSync(join(dir, "files"));
  const planFile = join(dir, "files", "plan.md");
  writeFileSync(planFile, plan);
  const options: ExecFileSyncOptionsWithStringEncoding = { cwd: join(dir, "project"), encoding: "utf8" };
  const base = { PATH: process.env.PATH ?? "", DEMO_PAUSE_MS: "0", PRLOOM_PLAN_FILE: planFile };
  const start = (args: string[], env: Record<string, string>) =>
    execFileSync(process.execPath, args, {
      ...options,
      env: { ...base, PRLOOM_WORKTREE: join(dir, "project"), ...env },
    });
  return {
    dir,
    planFile,
    run: (env) => start([join(demo, "agent.mjs")], env),
    program: (...args) => start(args, {}),
  };
}

function doTodo(at: Bench, index: number): string {
  const todo = parsePlan(readFileSync(at.planFile, "utf8")).todos[index];
  return at.run({ PRLOOM_STAGE: "worker", PRLOOM_TODO: todo?.text ?? "", PRLOOM_TODO_INDEX: String(index) });
}

test(
  "does every TODO of the demo plan and the one that the summary proposes, and the project's tests pass after each",
  thorough,
  (context) => {
    const plan = given.replace("\n\n## Progress", "\n- [ ] Add a --version flag\n\n## Progress");
    const at = bench(context, plan);
    const { todos } = parsePlan(plan);
    assert.equal(todos.length, 6);
    for (const todo of todos) {
      const before = readFileSync(at.planFile, "utf8");
      doTodo(at, todo.index);
      const claims = readClaims({ given: before, left: readFileSync(at.planFile, "utf8"), todoId: todo.id });
      assert.equal(claims.tick, "done", todo.text);
      assert.equal(claims.appended.length, 1);
      assert.equal(claims.proposal, undefined);
      at.program("--test", ...testFiles(at));
    }
    assert.ok(!existsSync(join(at.dir, "project", "NOTES.md")));
    assert.match(at.program("tally.js", "--words", "--top", "1", "README.md"), /words\n\d+ \w+/);
    assert.match(readFileSync(join(at.dir, "project", "README.md"), "utf8"), /## Flags\n[\s\S]*--json[\s\S]*--version/);
  },
);

function testFiles(at: Bench): string[] {
  const names = ["count", "program", "frequency"].map((name) => `test/${name}.test.js`);
  return names.filter((name) => existsSync(join(at.dir, "project", name)));
}

test("says that a TODO cannot be done when the code is not as it expects", (context) => {
  const at = bench(context);
  doTodo(at, 2);
  const claims = readClaims({
    given,
    left: readFileSync(at.planFile, "utf8"),
    todoId: parsePlan(given).todos[2]?.id ?? "",
  });
  assert.equal(claims.tick, "blocked");
  assert.match(claims.reason ?? "", /does not have the line/);
  assert.ok(!existsSync(join(at.dir, "project", "src", "frequency.js")));
});

test("notes a TODO that it has no recipe for", (context) => {
  const at = bench(context, "# Try\n\n## TODO\n\n- [ ] Paint it blue\n");
  doTodo(at, 0);
  const left = parsePlan(readFileSync(at.planFile, "utf8"));
  assert.equal(left.todos[0]?.state, "done");
  assert.match(readFileSync(join(at.dir, "project", "NOTES.md"), "utf8"), /- Paint it blue/);
});

test("designs TODOs from lists, else from the title", (context) => {
  for (const [plan, texts] of [
    ["# Try\n\n- add `--json`\n- write it down\n", ["add `--json`", "write it down"]],
    ["## Title\n\nBe kind\n\n## TODO\n", ["Be kind"]],
  ] as const) {
    const at = bench(context, plan);
    at.run({ PRLOOM_STAGE: "designer" });
    const left = parsePlan(readFileSync(at.planFile, "utf8"));
    assert.deepEqual(
      left.todos.map(({ text }) => text),
      texts,
    );
  }
});

test("triage turns wishes into TODOs and answers the rest", (context) => {
  const at = bench(context);
  const events = join(at.dir, "events.json");
  const result = join(at.dir, "result.json");
  const env = { PRLOOM_STAGE: "triage", PRLOOM_EVENTS_FILE: events, PRLOOM_RESULT_FILE: result };
  for (const [body, todos, rebase] of [
    ["Nice. Please add a --version flag! Could you please, rename it?", ["Add a --version flag", "Rename it?"], false],
    ["please rebase", [], true],
    ["What is this?", [], false],
  ] as const) {
    writeFileSync(
      events,
      JSON.stringify([
        { id: "1", body },
        { id: "2", body: "Nice." },
      ]),
    );
    at.run(env);
    const parsed = parseTriageResult(readFileSync(result, "utf8"), ["1", "2"]);
    assert.ok(parsed.ok);
    assert.deepEqual(
      parsed.result.todos.map(({ text }) => text),
      todos,
    );
    assert.ok(parsed.result.todos.every((todo) => todo.events.join() === "1"));
    assert.equal(parsed.result.rebase_requested, rebase);
    assert.notEqual(parsed.result.reply_markdown, "");
  }
});
