import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { type Project, TEST_AGENT } from "../../testing/project.ts";
import { projectMaker, succeeds, works } from "../../testing/projects.ts";
import { oneOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";

describe("the review stage", { concurrency: 2 }, () => {
  const fresh = projectMaker();

  interface Wanted {
    readonly when: "todo" | "end";
    /** REVIEW of the test agent. */
    readonly how: string;
    readonly limits?: Record<string, unknown>;
    /** Without one it can do more harm. */
    readonly sandbox?: "auto" | "none";
  }

  /** A project with a reviewer that is an agent of its own. */
  function make({ when, how, limits = {}, sandbox = "none" }: Wanted): Project {
    const project = fresh({ config: { review: when, limits } });
    const gate = join(project.home, "gate");
    mkdirSync(gate);
    const { agents } = project.config() as { agents: Record<string, unknown> };
    const env = { REVIEW: how, GATE: gate, OUTSIDE: gate };
    const critic = { adapter: "command", command: process.execPath, args: [TEST_AGENT], env, sandbox };
    project.config({ agents: { ...agents, critic }, stages: { default: "test", reviewer: "critic" } });
    return project;
  }

  function worker(project: Project, script: string): void {
    const { agents } = project.config() as { agents: Record<string, unknown> };
    project.config({ agents: { ...agents, test: { adapter: "command", command: "sh", args: ["-c", script] } } });
  }

  async function thread(project: Project, id: string): Promise<string[]> {
    const shown = JSON.parse(await succeeds(project, "show", id, "--json"));
    return shown.thread.map((entry: { body: string }) => entry.body);
  }

  function stages(project: Project, id: string): string[] {
    const runs = join(project.authority, "plans", id, "runs");
    const numbers = readdirSync(runs).filter((name) => /^\d+$/.test(name) && existsSync(join(runs, name, "run.json")));
    const inOrder = numbers.map(Number).sort((a, b) => a - b);
    return inOrder.map((number) => JSON.parse(project.runFile(id, number, "run.json")).stage);
  }

  const work = (project: Project, id: string): string => project.git("show", `prloom/${id}:work.txt`);

  test("todo: what is approved is committed, and the reviewer was shown the TODO and the diff", thorough, async () => {
    const project = make({ when: "todo", how: "approve", sandbox: "auto" });
    project.plan("p", ["one", "two"]);
    await works(project);
    assert.equal(project.record("p").status, "review");
    assert.deepEqual(project.commits("p"), ["one", "two"]);
    assert.deepEqual(stages(project, "p"), ["worker", "reviewer", "worker", "reviewer"]);
    const prompt = project.runFile("p", 4, "agent/prompt.txt");
    assert.match(prompt, /TODO number 2 of the plan below, and only this one: two/);
    assert.match(prompt, /^\+two$/m);
    assert.doesNotMatch(prompt, /^\+one$/m);
    assert.doesNotMatch(prompt, /found before/);
    assert.match(project.runFile("p", 4, "agent/changes.diff"), /^\+two$/m);
    assert.equal(JSON.parse(project.runFile("p", 4, "review.json")).summary, "Looks right.");
    assert.deepEqual(await thread(project, "p"), []);
  });

  test("todo: findings go back to the worker as a round and not as an attempt, then the reviewer is asked again", async () => {
    const project = make({ when: "todo", how: "ask-once", limits: { attemptsPerTodo: 1 } });
    project.planFile("p", "## Title\n\nP\n\n## TODO\n\n- [ ] one\n\n## Progress Log\n\n- begun\n");
    await works(project);
    assert.equal(project.record("p").status, "review");
    assert.deepEqual(stages(project, "p"), ["worker", "reviewer", "worker", "reviewer"]);
    assert.deepEqual(project.commits("p"), ["one"]);
    assert.equal(work(project, "p"), "one\none\n", "the second run goes on with what the first one left");
    const told = project.runFile("p", 3, "agent/prompt.txt");
    assert.match(told, /> The greeting is missing\./);
    assert.match(told, /> - work\.txt:1: Say hello first\./);
    assert.match(told, /> - README\.md: Mention it here\./);
    assert.equal(JSON.parse(project.runFile("p", 3, "run.json")).attempt, 1);
    assert.match(
      project.runFile("p", 4, "agent/prompt.txt"),
      /reviewed once and sent back[^>]*> The greeting is missing/,
    );
    assert.deepEqual(await thread(project, "p"), []);
  });

  test(
    "todo: when the rounds are used up the work is committed and the findings are told, once",
    thorough,
    async () => {
      const project = make({ when: "todo", how: "ask-always", limits: { reviewRounds: 1 } });
      project.plan("p", ["one"]);
      await works(project);
      assert.equal(project.record("p").status, "review");
      assert.deepEqual(stages(project, "p"), ["worker", "reviewer", "worker", "reviewer"]);
      assert.deepEqual(project.commits("p"), ["one"]);
      const [said = "", ...more] = await thread(project, "p");
      assert.deepEqual(more, []);
      assert.match(said, /changes to TODO 1 \(one\) after a round of changes/);
      assert.match(
        said,
        /The greeting is missing\.[\s\S]*- README\.md: Mention it here\.[\s\S]*work\.txt:1: Say hello/,
      );
      await works(project);
      assert.equal((await thread(project, "p")).length, 1);
    },
  );

  test("todo: whatever the reviewer does to the tree, to git and to the plan copy, the work is committed as it was", async () => {
    const project = make({ when: "todo", how: "meddle" });
    const script = `cat > /dev/null; echo did >> work.txt; echo "- did $PRLOOM_TODO" >> "$PRLOOM_PLAN_FILE"
      sed -i "0,/- \\[ \\]/s//- [x]/" "$PRLOOM_PLAN_FILE"`;
    worker(project, script);
    project.planFile("p", "## Title\n\nP\n\n## TODO\n\n- [ ] one\n- [ ] two\n\n## Progress Log\n\n- begun\n");
    await works(project);
    assert.equal(project.record("p").status, "review");
    assert.deepEqual(project.commits("p"), ["one", "two"]);
    assert.equal(work(project, "p"), "did\ndid\n");
    assert.equal(project.git("diff", "--name-only", "main", "prloom/p"), "work.txt\n");
    assert.match(project.runFile("p", 2, "aside.patch"), /junk\.txt/);
    const status = project.git("-C", project.worktree("p"), "status", "--short", "--branch");
    assert.equal(status, "## prloom/p\n");
    const text = project.planText("p");
    assert.match(text, /- \[x\] one\n- \[x\] two\n/);
    assert.match(text, /- begun\n- did one\n- did two\n/, "what the worker wrote into its copy is not lost");
  });

  for (const how of oneOf(["garbage", "nothing", "link"])) {
    test(`todo: a reviewer that leaves ${how} blocks the plan; without a review it goes on`, async () => {
      const project = make({ when: "todo", how, limits: { attemptsPerTodo: 2 } });
      project.plan("p", ["one"]);
      await works(project);
      const { blocked } = project.record("p");
      assert.match(blocked?.reason ?? "", /^The reviewer gave no usable result in 2 attempts\./);
      assert.match(blocked?.hint ?? "", /prloom unblock p.*"review": "off"/);
      assert.deepEqual(stages(project, "p"), ["worker", "reviewer", "reviewer"]);
      assert.match(project.runFile("p", 3, "agent/prompt.txt"), /The last attempt was not accepted/);
      assert.deepEqual(project.commits("p"), []);
      project.config({ review: "off" });
      await succeeds(project, "unblock", "p");
      await works(project);
      assert.equal(project.record("p").status, "review");
      assert.equal(work(project, "p"), "one\n", "the verified work was kept");
      assert.deepEqual(stages(project, "p").length, 3);
    });
  }

  test("todo: a change that is too long for a prompt is cut there, and whole in a file", thorough, async () => {
    const project = make({ when: "todo", how: "approve", sandbox: "auto" });
    const script = `cat > /dev/null; seq -f "line %07g" 30000 > long.txt; printf "\\377\\000" > blob
      sed -i "s/- \\[ \\]/- [x]/" "$PRLOOM_PLAN_FILE"`;
    worker(project, script);
    project.plan("p", ["one"]);
    await works(project);
    assert.equal(project.record("p").status, "review");
    const prompt = project.runFile("p", 2, "agent/prompt.txt");
    assert.ok(prompt.length < 120 * 1024, `the prompt has ${prompt.length} characters`);
    const [, cut, total, file = ""] = /\(Cut after (\d+) of (\d+) bytes; all of it is in (.*)\.\)/.exec(prompt) ?? [];
    assert.ok(Number(cut) < Number(total));
    assert.match(readFileSync(file, "utf8"), /^\+line 0030000$/m);
    assert.equal(readFileSync(file).length, Number(total));
  });

  test(
    "todo: blocked under the review, the TODO can be done from scratch, also when the worktree is gone",
    thorough,
    async () => {
      const project = make({ when: "todo", how: "garbage", limits: { attemptsPerTodo: 1 } });
      project.plan("p", ["one"]);
      project.plan("q", ["one"]);
      await works(project);
      rmSync(project.worktree("q"), { recursive: true });
      const { agents } = project.config() as { agents: Record<string, { env: object }> };
      const critic = { ...agents.critic, env: { REVIEW: "approve" } };
      project.config({ agents: { ...agents, critic } });
      await succeeds(project, "unblock", "p", "--reset");
      await succeeds(project, "unblock", "q");
      await works(project);
      for (const id of ["p", "q"]) {
        assert.equal(project.record(id).status, "review");
        assert.deepEqual(stages(project, id), ["worker", "reviewer", "worker", "reviewer"]);
        assert.equal(work(project, id), "one\n");
        assert.deepEqual(project.commits(id), ["one"]);
      }
    },
  );

  test("todo: a reviewer that cannot be started blocks the plan, and starts when it is fixed", thorough, async () => {
    const project = make({ when: "todo", how: "approve" });
    const { agents } = project.config() as { agents: Record<string, object> };
    project.config({ agents: { ...agents, critic: { ...agents.critic, command: join(project.home, "nowhere") } } });
    project.plan("p", ["one"]);
    await works(project);
    assert.match(project.record("p").blocked?.reason ?? "", /nowhere/);
    project.config({ agents });
    await succeeds(project, "unblock", "p");
    await works(project);
    assert.equal(project.record("p").status, "review");
    assert.equal(work(project, "p"), "one\n");
  });

  test(
    "todo: a TODO that is reworded under the review is not committed, and its work is kept as a patch",
    thorough,
    async () => {
      const project = make({ when: "todo", how: "waits" });
      project.plan("p", ["one"]);
      const daemon = await startDaemon(project);
      await daemon.said("p", /reviewer started/);
      await appears(join(project.worktree("p"), "junk.txt"));
      const file = join(project.home, "other.md");
      writeFileSync(file, "## Title\n\nP\n\n## TODO\n\n- [ ] another\n");
      await succeeds(project, "edit", "p", "--file", file);
      writeFileSync(join(project.home, "gate", "review"), "go on\n");
      const { text } = await daemon.said("p", /the work is kept in/);
      await daemon.said("p", /in review/);
      await daemon.end();
      assert.deepEqual(project.commits("p"), ["another"]);
      assert.equal(work(project, "p"), "another\n");
      assert.match(readFileSync(/the work is kept in (\S+)$/.exec(text ?? "")?.[1] ?? "", "utf8"), /^\+one$/m);
    },
  );

  test("todo: killed under the reviewer, the next start has the work once, and asks again", thorough, async () => {
    const project = make({ when: "todo", how: "waits" });
    project.planFile("p", "## Title\n\nP\n\n## TODO\n\n- [ ] one\n\n## Progress Log\n\n- begun\n");
    const daemon = await startDaemon(project);
    await daemon.said("p", /reviewer started/);
    await appears(join(project.worktree("p"), "junk.txt"));
    await daemon.end("SIGKILL");
    writeFileSync(join(project.home, "gate", "review"), "go on\n");
    await works(project);
    assert.equal(project.record("p").status, "review");
    assert.deepEqual(stages(project, "p"), ["worker", "reviewer", "reviewer"]);
    assert.equal(work(project, "p"), "one\n");
    assert.deepEqual(project.commits("p"), ["one"]);
    assert.equal(project.git("diff", "--name-only", "main", "prloom/p"), "work.txt\n");
    assert.match(project.runFile("p", 2, "partial.patch"), /junk\.txt/);
    assert.deepEqual(project.processes(), []);
  });

  test(
    "end: findings become a TODO with its origin, and the branch is read again before it is finished",
    thorough,
    async () => {
      const project = make({ when: "end", how: "ask-once", sandbox: "auto" });
      project.plan("p", ["one", "two"]);
      await works(project);
      assert.equal(project.record("p").status, "review");
      assert.deepEqual(stages(project, "p"), ["worker", "worker", "reviewer", "worker", "reviewer"]);
      const text = project.planText("p");
      assert.match(
        text,
        /- \[x\] Address the review: The greeting is missing\.\n {2}<!-- from review\/3 by reviewer -->\n/,
      );
      assert.match(text, /^ {2}> - work\.txt:1: Say hello first\.$/m);
      assert.doesNotMatch(text, /^\s*expects: none$/m);
      assert.match(project.runFile("p", 3, "agent/prompt.txt"), /All of the plan below[\s\S]*^\+one\n\+two$/m);
      assert.equal(project.commits("p").length, 3);
      assert.deepEqual(project.record("p").reviewedEnd, {
        head: project.git("rev-parse", "prloom/p").trim(),
        rounds: 0,
      });
    },
  );

  test(
    "end: rounds are counted, then the findings are told and the plan is finished; what comes later is read again",
    thorough,
    async () => {
      const project = make({ when: "end", how: "ask-always", limits: { reviewRounds: 1 } });
      project.plan("p", ["one"]);
      await works(project);
      assert.equal(project.record("p").status, "review");
      assert.deepEqual(stages(project, "p"), ["worker", "reviewer", "worker", "reviewer"]);
      const said = await thread(project, "p");
      assert.equal(said.length, 1);
      assert.match(said[0] ?? "", /changes to the whole branch after a round of changes/);
      await succeeds(project, "comment", "p", "please do more");
      await works(project);
      assert.equal(project.record("p").status, "review");
      assert.deepEqual(stages(project, "p").slice(4), ["triage", "worker", "reviewer", "worker", "reviewer"]);
      assert.equal((await thread(project, "p")).filter((body) => /whole branch/.test(body)).length, 2);
    },
  );

  test("end: whatever the reviewer does to the tree is put aside", thorough, async () => {
    const project = make({ when: "end", how: "meddle" });
    project.plan("p", ["one"]);
    await works(project);
    assert.equal(project.record("p").status, "review");
    assert.deepEqual(project.commits("p"), ["one"]);
    assert.equal(work(project, "p"), "one\n");
    assert.ok(!existsSync(join(project.worktree("p"), "junk.txt")));
    assert.equal(readFileSync(join(project.worktree("p"), "README.md"), "utf8"), "A project\n");
  });
});
