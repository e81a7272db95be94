import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { CLI } from "../../testing/program.ts";
import { isAlive, makeProject, type Project, TEST_AGENT } from "../../testing/project.ts";

/** What must have become of a plan whose agent misbehaves. */
interface Case {
  readonly todos: readonly string[];
  readonly metadata?: Record<string, unknown>;
  /** Why the plan is blocked; a plan without it must be in review. */
  readonly blocked?: RegExp;
  readonly commits: readonly string[];
  /** Marks of its TODOs in the home's text; what the TODOs say must be unchanged. */
  readonly marks: string;
  /** Number of runs that it took. */
  readonly runs: number;
}

const once = { limits: { attemptsPerTodo: 1 } };
const done = (todo: string, runs = 1): Case => ({ todos: [todo], commits: [todo], marks: "x", runs });
const refused = (todo: string, blocked: RegExp, more: Partial<Case> = {}): Case => ({
  todos: [todo],
  metadata: once,
  blocked,
  commits: [],
  marks: " ",
  runs: 1,
  ...more,
});

const CASES: Readonly<Record<string, Case>> = {
  missing: refused("one", /could not be started.*no-such-program/, { metadata: { agent: "missing" } }),
  hangs: refused("[hangs] one", /failed after 1 attempt.*longer than limits\.runTimeout/, {
    metadata: { limits: { attemptsPerTodo: 1, runTimeout: "2s" } },
  }),
  silent: refused("[silent] one", /silent for limits\.silenceTimeout/, {
    metadata: { limits: { attemptsPerTodo: 1, silenceTimeout: "1s" } },
  }),
  stubborn: refused("[stubborn] one", /longer than limits\.runTimeout/, {
    metadata: { limits: { attemptsPerTodo: 1, runTimeout: "2s" } },
  }),
  dies: refused("[dies] one", /died of SIGKILL/),
  fails: refused("[exit-1] one", /ended with code 1.*cannot go on/s, {
    metadata: { limits: { attemptsPerTodo: 2 } },
    runs: 2,
  }),
  floods: done("[floods] one"),
  escapes: done("[escapes] one"),
  "ticks-nothing": refused("[no-tick] one", /not ticked in the plan copy/),
  "changes-nothing": refused("[no-change] one", /no file changed.*expects: none/s),
  "ticks-everything": {
    todos: ["[tick-all] one", "two"],
    commits: ["[tick-all] one", "two"],
    marks: "xx",
    runs: 2,
  },
  "rewrites-plan": refused("[rewrite-plan] one", /not ticked/, { todos: ["[rewrite-plan] one", "two"], marks: "  " }),
  "deletes-plan": refused("[delete-plan] one", /not ticked/),
  "says-blocked": refused("[say-blocked] one", /TODO 1 cannot be done: the moon is not in the repository/, {
    marks: "b",
  }),
  "links-folder": refused("[link-folder] one", /not ticked/, { metadata: { limits: { attemptsPerTodo: 2 } }, runs: 2 }),
  "links-plan": refused("[link-plan] one", /not ticked/),
  "links-source": refused("[link-source] one", /The links `src` lead out of the project/),
  commits: done("[commits] one"),
  "other-branch": done("[other-branch] one"),
  // The branch is left as the agent put it, for a person to look at.
  diverges: refused("[diverges] one", /does not follow from where the TODO began/, { commits: ["a new beginning"] }),
  "breaks-git": done("[breaks-git] one"),
  cleans: done("[clean-xfd] one"),
  "cleans-everything": refused("[clean-everything] one", /not ticked/),
  "deletes-half": refused("[delete-half] one", /would delete 4 of 6 files.*limits\.maxDeletions/),
  "deletes-worktree": refused("[remove-worktree] one", /worktree is missing/),
  "changes-config": refused("[changes-config] one", /only files under prloom\/ changed/),
  "second-try": { ...done("[second-try] one", 2), metadata: { limits: { attemptsPerTodo: 2 } } },
  "calls-prloom": done("[calls-prloom] one"),
  "designs-nothing": refused("", /designer gave no usable result in 1 attempt.*no idea/s, {
    todos: [],
    metadata: { ...once, agent: "undecided" },
    marks: "",
  }),
};

/** Blocked as well, and taken back. */
const TAKEN_BACK = { "half-deleted": "[delete-half] one", diverged: "[diverges] one" };

describe("agents that misbehave, side by side", () => {
  const outside = mkdtempSync(join(tmpdir(), "prloom-outside-"));
  let project: Project;

  before(async () => {
    const agent = (env: Record<string, string>) => ({
      command: process.execPath,
      args: [TEST_AGENT],
      env,
      sandbox: "none",
    });
    project = makeProject({
      config: {
        agents: {
          test: agent({ OUTSIDE: outside, CLI_FILE: CLI }),
          missing: { command: "./no-such-program" },
          undecided: agent({ DESIGN: "nothing" }),
        },
        limits: { maxRunningAgents: 6, maxOpenPlans: 100, maxOutput: "1MB" },
      },
    });
    writeFileSync(join(outside, "precious.txt"), "do not touch\n");
    mkdirSync(join(outside, "folder"));
    project.plan("good", ["make one", "make two", "make three"]);
    for (const [id, { todos, metadata = {} }] of Object.entries(CASES)) {
      project.plan(id, todos, { status: "queued", metadata });
    }
    for (const [id, todo] of Object.entries(TAKEN_BACK)) project.plan(id, [todo], { status: "queued", metadata: once });
    const result = await project.work();
    assert.equal(result.code, 0, result.stdout + result.stderr);
  });
  after(() => {
    project.remove();
    rmSync(outside, { recursive: true, force: true });
  });

  test("a good plan beside them ends as if it were alone", () => {
    const record = project.record("good");
    assert.deepEqual([record.status, record.blocked, record.runs], ["review", undefined, 3]);
    assert.deepEqual(project.commits("good"), ["make one", "make two", "make three"]);
    assert.equal(project.git("show", "prloom/good:work.txt"), "make one\nmake two\nmake three\n");
    assert.equal(project.git("diff", "--stat", "main...prloom/good", "--", "src", "README.md", "prloom"), "");
  });

  /** In a pid namespace the agent knew its children by other numbers, which may be those of any process out here. */
  const isLingering = (pid: number): boolean =>
    isAlive(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("process.on('SIGTERM'");

  test("no process is left, whatever group it went to", () => {
    assert.deepEqual(project.processes(), []);
    for (const id of ["hangs", "escapes"]) {
      const pids = project.runFile(id, 1, join("agent", "pids")).trim().split("\n").map(Number);
      assert(pids.length > 0 && pids.every((pid) => pid > 1 && !isLingering(pid)), `${id}: ${pids}`);
    }
  });

  for (const [id, expected] of Object.entries(CASES)) {
    test(`${id}: ${expected.blocked ? "blocked with its reason" : "in review"}`, () => {
      const record = project.record(id);
      if (expected.blocked) {
        assert.match(record.blocked?.reason ?? "", expected.blocked);
        assert.match(record.blocked?.hint ?? "", new RegExp(`prloom (unblock|edit|comment) ${id}`));
      } else assert.equal(record.blocked, undefined, record.blocked?.reason);
      assert.equal(record.status, expected.blocked ? "active" : "review");
      assert.deepEqual(project.commits(id), expected.commits);
      const lines = project.planText(id).match(/^- \[.\] .*$/gm) ?? [];
      assert.deepEqual(
        lines.map((line) => line.slice(6)),
        expected.todos,
      );
      assert.equal(lines.map((line) => line[3]).join(""), expected.marks);
      // A run that is due again after `unblock` has its number already.
      const started = readdirSync(join(project.authority, "plans", id, "runs")).filter((run) =>
        existsSync(join(project.authority, "plans", id, "runs", run, "run.json")),
      );
      assert.equal(started.length, expected.runs);
    });
  }

  test("what lies outside is as it was", () => {
    assert.equal(readFileSync(join(outside, "precious.txt"), "utf8"), "do not touch\n");
    assert.deepEqual(readdirSync(outside).sort(), ["folder", "linked-plan.md", "plan.md", "precious.txt"]);
    assert.equal(project.git("status", "--porcelain"), "");
    assert.equal(project.git("rev-parse", "--abbrev-ref", "HEAD"), "main\n");
    assert.equal(project.git("log", "--format=%s", "main"), "Begin\n");
    project.git("fsck", "--no-dangling");
  });

  test("output is capped, and says so", () => {
    const file = join(project.authority, "plans", "floods", "runs", "1", "output.log");
    assert(statSync(file).size < 1024 * 1024 + 200);
    assert.match(readFileSync(file, "utf8"), /… \d+ bytes not kept/);
  });

  test("ticks beyond the one TODO, and a plan of the agent's own, are proposals and nothing more", () => {
    assert.match(project.runFile("ticks-everything", 1, "proposal.md"), /two/);
    assert.match(project.runFile("rewrites-plan", 1, "proposal.md"), /something else entirely/);
    assert.match(project.runFile("deletes-plan", 1, "proposal.md"), /deleted/);
  });

  test("the agent's own commits become one of ours, with our author and trailer", () => {
    for (const id of ["commits", "other-branch"]) {
      const [author, trailer] = project
        .git("log", "-1", "--format=%an%n%(trailers:key=Prloom-Step)", `prloom/${id}`)
        .split("\n");
      assert.equal(author, "prloom");
      assert.match(trailer ?? "", new RegExp(`^Prloom-Step: ${project.record(id).uid}/`));
      assert.equal(project.git("show", `prloom/${id}:work.txt`), `${CASES[id]?.todos[0]}\n`);
    }
  });

  test("the second attempt is told what the first one lacked", () => {
    assert.doesNotMatch(project.runFile("second-try", 1, join("agent", "prompt.txt")), /was not accepted/);
    assert.match(project.runFile("second-try", 2, join("agent", "prompt.txt")), /was not accepted.*not ticked/s);
    assert.equal(project.git("show", "prloom/second-try:tried.txt"), "once\n");
  });

  test("an agent that calls prloom is refused", () => {
    assert.equal(project.git("show", "prloom/calls-prloom:calls.txt"), "merge 2\nunblock 2\nstop 2\n");
  });

  test("what blocked can be taken back: --reset starts the TODO from scratch", async () => {
    for (const id of Object.keys(TAKEN_BACK)) assert.ok(project.record(id).blocked, id);
    const result = await project.cli(["unblock", "half-deleted", "--reset"]);
    assert.equal(result.code, 0, result.stderr);
    const worktree = project.worktree("half-deleted");
    assert.deepEqual(readdirSync(join(worktree, "src")).sort(), ["a.txt", "b.txt", "c.txt", "d.txt"]);
    assert.equal(project.record("half-deleted").current, undefined);
    assert.equal((await project.cli(["unblock", "diverged", "--reset"])).code, 0);
    assert.equal(project.git("rev-parse", "prloom/diverged"), project.git("rev-parse", "main"));
  });
});

test("an agent that runs `git clean -xffd` in the person's checkout costs unfinished work and nothing else", {
  timeout: 120_000,
}, async () => {
  const outside = mkdtempSync(join(tmpdir(), "prloom-outside-"));
  const gate = join(outside, "gate");
  const project = makeProject();
  after(() => {
    project.remove();
    rmSync(outside, { recursive: true, force: true });
  });
  const env = { OUTSIDE: outside, GATE: gate, REPO_ROOT: project.root };
  project.config({ agents: { test: { command: process.execPath, args: [TEST_AGENT], env, sandbox: "none" } } });
  project.plan("beside", ["one", "[waits] two"]);
  project.plan("ready", ["one"]);
  const daemon = await startDaemon(project);
  await daemon.said("ready", /in review/);
  await daemon.said("beside", /worker started \(run 2/);
  await appears(join(project.worktree("beside"), "half.txt"));
  project.plan("cleaner", ["[clean-main] one"]);
  await daemon.said("cleaner", /blocked: Its worktree is missing/);
  mkdirSync(gate, { recursive: true });
  writeFileSync(join(gate, "beside"), "go on\n");
  await daemon.said("beside", /blocked: Its worktree is missing/);
  for (const id of ["beside", "cleaner"]) {
    const unblocked = await project.cli(["unblock", id]);
    assert.equal(unblocked.code, 0, unblocked.stderr);
    await daemon.said(id, /in review/);
  }
  assert.equal((await daemon.end()).code, 0);
  assert.deepEqual(project.commits("beside"), ["one", "[waits] two"]);
  assert.deepEqual(project.commits("cleaner"), ["[clean-main] one"]);
  assert.deepEqual(project.commits("ready"), ["one"]);
  assert.match(project.planText("beside"), /- \[x\] one\n- \[x\] \[waits\] two/);
});
