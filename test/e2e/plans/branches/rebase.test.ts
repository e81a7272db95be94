import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { commitFile, conflicting, tip } from "../../../testing/conflicting.ts";
import { type Project, TEST_AGENT } from "../../../testing/project.ts";
import { projectMaker } from "../../../testing/projects.ts";
import { thorough } from "../../../testing/thorough.ts";

const fresh = projectMaker();

const trailers = (project: Project, id: string) =>
  project.git("log", "--reverse", "--format=%an %(trailers:key=Prloom-Step,valueonly)", `main..prloom/${id}`);

describe("rebase", { concurrency: 2 }, () => {
  test("an agent resolves the commit that conflicts, each TODO keeps its commit, and the plan merges", async () => {
    const project = await conflicting(fresh());
    const before = trailers(project, "second");
    const refused = await project.cli(["merge", "second"]);
    assert.match(
      refused.stderr,
      /conflicts with main in: work\.txt \[merge-conflict\]\n {2}hint: `prloom rebase second`/,
    );
    const asked = await project.cli(["rebase", "second"]);
    assert.equal(asked.code, 0, asked.stderr);
    assert.match(asked.stdout, /second conflicts with main in: work\.txt\nnext: `prloom start`/);
    assert.match((await project.cli(["rebase", "second"])).stderr, /being rebased already/);
    assert.match((await project.cli(["ls"])).stdout, /^second .* the rebase onto main: no dispatcher is running$/m);
    assert.match(
      (await project.cli(["unblock", "second", "--reset"])).stdout,
      /^second is not rebased: `prloom start` puts its branch back/,
    );
    assert.equal((await project.work()).code, 0);
    assert.deepEqual([project.record("second").rebase, trailers(project, "second")], [undefined, before]);
    await project.cli(["rebase", "second"]);
    assert.match((await project.cli(["merge", "second"])).stderr, /being rebased, not in review/);
    const worked = await project.work();
    assert.equal(worked.code, 0, worked.stderr);
    assert.deepEqual(project.commits("second"), ["c", "d"]);
    assert.equal(trailers(project, "second"), before);
    assert.equal(project.git("merge-base", "main", "prloom/second"), project.git("rev-parse", "main"));
    assert.equal(project.git("show", "prloom/second^:work.txt"), "a\nb\nc\n");
    const { rebase, status, runs } = project.record("second");
    assert.deepEqual([rebase, status, runs], [undefined, "review", 3]);
    assert.match(
      project.runFile("second", 3, join("agent", "prompt.txt")),
      /files conflict:\n\n<<<FILES \w+\n- work\.txt\n/,
    );
    assert.equal(project.git("-C", project.worktree("second"), "status", "--porcelain"), "");
    assert.equal(project.git("for-each-ref", "refs/prloom"), "");
    const shown = (await project.cli(["show", "second"])).stdout;
    assert.match(
      shown,
      /^ +1 +worker +test .* exit 0\n +2 +worker +test .* exit 0\n +3 +worker, conflict +test .* exit 0$/m,
    );
    const merged = await project.cli(["merge", "second", "--rebase"]);
    assert.equal(merged.code, 0, merged.stderr);
    assert.equal(project.git("show", "main:work.txt"), "a\nb\nc\nd\n");
  });

  test("a branch without conflicts is rebased at once, and one that is up to date stays", thorough, async () => {
    const project = fresh();
    project.plan("plain", ["one"]);
    await project.work();
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "more", "--allow-empty");
    const rebased = await project.cli(["rebase", "plain", "--json"]);
    assert.deepEqual(JSON.parse(rebased.stdout), {
      ...{ plan: "plain", base: "main", outcome: "rebased" },
      sha: tip(project, "plain"),
    });
    assert.equal(project.git("rev-parse", "prloom/plain^"), project.git("rev-parse", "main"));
    assert.match((await project.cli(["rebase", "plain"])).stdout, /^plain is up to date with main\.$/m);
    assert.equal(project.record("plain").status, "review");
  });

  for (const [how, missing, attempts] of [
    ["leaves-marks", /Marks of the conflict are left in work\.txt/, 2],
    ["drops-the-commit", /Nothing of the commit is left\. Bring in what it is for/, 2],
    ["says-nothing", /did not say that the conflict is resolved/, 2],
    ["makes-repository", /git would take a folder for a repository/, 2],
    ["gives-up", /The agent says that the conflict cannot be resolved: both cannot be/, 1],
  ] as const) {
    test(`an agent that ${how}: the branch is as it was, and the plan is blocked`, thorough, async () => {
      const project = await conflicting(fresh({ env: { RESOLVE: how }, config: { limits: { attemptsPerTodo: 2 } } }));
      const before = tip(project, "second");
      await project.cli(["rebase", "second"]);
      await project.work();
      const { blocked, rebase, current, runs, status } = project.record("second");
      assert.match(blocked?.reason ?? "", missing);
      assert.match(blocked?.hint ?? "", /`prloom rebase second` lets an agent try again/);
      assert.deepEqual([rebase, current, runs, status], [undefined, undefined, 2 + attempts, "review"]);
      assert.equal(tip(project, "second"), before);
      assert.equal(project.git("-C", project.worktree("second"), "status", "--porcelain"), "");
      if (attempts > 1) assert.match(project.runFile("second", 4, join("agent", "prompt.txt")), missing);
      assert.match(
        (await project.cli(["rebase", "second"])).stdout,
        /^next: `prloom unblock second`, for it is blocked/m,
      );
    });
  }

  test("a commit that the base makes needless is left empty, with the reason", thorough, async () => {
    const project = await conflicting(fresh({ env: { RESOLVE: "finds-it-needless" } }));
    await project.cli(["rebase", "second"]);
    await project.work();
    assert.deepEqual(project.commits("second"), ["c", "d"]);
    assert.equal(project.git("diff", "--name-only", "main", "prloom/second"), "");
    assert.equal(project.record("second").status, "review");
    assert.match((await project.cli(["show", "second"])).stdout, /run 3: nothing had to change: main does it/);
  });

  test("the checks see what was resolved, and a failing one is told to the agent", thorough, async () => {
    const check = "[ ! -e .git ] || ! grep -q a work.txt || [ -e ok.txt ] || { echo the check says no; exit 1; }";
    const project = fresh({ env: { RESOLVE: "obeys" } });
    project.plan("first", ["a"]);
    project.plan("second", ["c"]);
    await project.work();
    assert.equal((await project.cli(["merge", "first"])).code, 0);
    project.config({ checks: [check] });
    await project.cli(["reload", "--yes"]);
    await project.cli(["rebase", "second"]);
    await project.work();
    assert.deepEqual(project.git("ls-tree", "--name-only", "prloom/second", "ok.txt"), "ok.txt\n");
    assert.equal(project.record("second").runs, 3);
  });

  test("a reviewer of each TODO looks at what was resolved", thorough, async () => {
    const project = await conflicting(fresh({ config: { review: "todo" } }));
    await project.cli(["rebase", "second"]);
    const worked = await project.work();
    assert.equal(worked.code, 0, worked.stderr);
    assert.equal(project.git("show", "prloom/second:work.txt"), "a\nb\nc\nd\n");
    // Each TODO and its review, the resolution and its review, then the branch: "d" stands beside other lines than before.
    assert.equal(project.record("second").runs, 7);
    const prompt = project.runFile("second", 6, join("agent", "prompt.txt"));
    assert.match(prompt, /brought onto main, and an agent resolved its conflict in work\.txt:\n\nc\n[\s\S]*\n\+c\n/);
  });

  test("a review of the whole branch holds on where no patch changed, else it is made again", thorough, async () => {
    const project = fresh({ config: { review: "end" } });
    const onMain = (name: string) => {
      writeFileSync(join(project.root, name), "of a person\n");
      project.git("add", "--", name);
      project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", name);
    };
    project.plan("one", ["a"]);
    await project.work();
    onMain("elsewhere.txt");
    await project.cli(["rebase", "one"]);
    assert.equal((await project.work()).code, 0);
    const kept = project.record("one");
    assert.deepEqual([kept.runs, kept.status, kept.reviewedEnd?.head], [2, "review", tip(project, "one")]);
    onMain("work.txt");
    await project.cli(["rebase", "one"]);
    assert.equal((await project.work()).code, 0);
    const again = project.record("one");
    assert.deepEqual([again.runs, again.status, again.reviewedEnd?.head], [4, "review", tip(project, "one")]);
  });

  test(
    "with a reviewer of each TODO, a rebase that changes a patch without a conflict is reviewed once",
    thorough,
    async () => {
      const done = `echo '{"outcome": "done"}' > "$PRLOOM_OUTCOME_FILE"`;
      const worker = { command: "sh", args: ["-c", `cat > /dev/null; sed -i '1s/.*/mine/' notes.txt; ${done}`] };
      const critic = { command: process.execPath, args: [TEST_AGENT], env: { REVIEW: "approve" } };
      const stages = { default: "worker", reviewer: "critic" };
      const project = fresh({ config: { review: "todo", agents: { worker, critic }, stages } });
      const onMain = (name: string, text: string) => {
        writeFileSync(join(project.root, name), text);
        project.git("add", "--", name);
        project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", name);
      };
      const runs = async (): Promise<[number, string]> => {
        assert.equal((await project.cli(["rebase", "one"])).code, 0);
        assert.equal((await project.work()).code, 0);
        return [project.record("one").runs, project.record("one").status];
      };
      onMain("notes.txt", "1\n2\n3\n4\n5\n");
      project.plan("one", ["a"]);
      await project.work();
      onMain("elsewhere.txt", "of a person\n");
      assert.deepEqual(await runs(), [2, "review"], "the same patch");
      onMain("notes.txt", "1\n2\n3\nfour\n5\n");
      assert.deepEqual(await runs(), [3, "review"], "another one");
      assert.deepEqual(await runs(), [3, "review"]);
    },
  );

  test("with a reviewer of each TODO, so is a patch that a rebase changed beside a conflict", thorough, async () => {
    const edit = `case $PRLOOM_TODO in b) at=12 ;; *) at=1 ;; esac; sed -i "\${at}s/.*/mine/" notes.txt`;
    const resolve = `sed -i '/^[<=>]\\{7\\}/d' notes.txt`;
    const done = `echo '{"outcome": "done"}' > "$PRLOOM_OUTCOME_FILE"`;
    const work = `cat > /dev/null; if [ "$PRLOOM_CONFLICTS" ]; then ${resolve}; else ${edit}; fi; ${done}`;
    const critic = { command: process.execPath, args: [TEST_AGENT], env: { REVIEW: "approve" } };
    const agents = { worker: { command: "sh", args: ["-c", work] }, critic };
    const stages = { default: "worker", reviewer: "critic" };
    const project = fresh({ config: { review: "todo", agents, stages } });
    const lines = Array.from({ length: 12 }, (_unused, at) => String(at + 1));
    const onMain = () => commitFile(project, project.root, "notes.txt", `${lines.join("\n")}\n`);
    onMain();
    project.plan("one", ["a", "b"]);
    await project.work();
    lines[3] = "four";
    lines[11] = "twelve";
    onMain();
    assert.equal((await project.cli(["rebase", "one"])).code, 0);
    const worked = await project.work();
    assert.equal(worked.code, 0, worked.stderr);
    // Each TODO and its review, the resolution and its review, then the branch with the patch of "a" as it is now.
    assert.deepEqual([project.record("one").runs, project.record("one").status], [7, "review"]);
    assert.equal(project.record("one").reviewedEnd?.head, tip(project, "one"));
  });

  test("a reset calls it off, a deleted plan keeps its whole branch", thorough, async () => {
    const project = await conflicting(fresh({ env: { RESOLVE: "waits" } }), "third");
    const before = tip(project, "second");
    const resolving = async (id = "second") => {
      const whole = tip(project, id);
      await project.cli(["rebase", id]);
      const killed = await project.cli(["start", "--until-idle"], { PRLOOM_CRASH_AT: "run:prepared" });
      assert.equal(killed.signal, "SIGKILL", killed.stderr);
      assert.notEqual(tip(project, id), whole);
    };
    await resolving();
    await project.cli(["block", "second", "wait"]);
    assert.equal((await project.cli(["unblock", "second", "--reset"])).code, 0);
    assert.match((await project.cli(["rebase", "second"])).stderr, /called off, and its branch is not put back yet/);
    assert.equal((await project.work()).code, 0);
    const { rebase, current, blocked, status } = project.record("second");
    assert.deepEqual([rebase, current, blocked, status], [undefined, undefined, undefined, "review"]);
    assert.equal(tip(project, "second"), before);
    await resolving();
    const killed = await project.cli(["delete", "second", "--yes"], { PRLOOM_CRASH_AT: "delete:marked" });
    assert.equal(killed.signal, "SIGKILL", killed.stderr);
    assert.notEqual(tip(project, "second"), before);
    assert.equal((await project.work()).code, 0);
    assert.equal(tip(project, "second"), before);
    const third = tip(project, "third");
    await resolving("third");
    assert.equal((await project.cli(["delete", "third", "--yes"])).code, 0);
    assert.equal(tip(project, "third"), third);
  });

  test("killed in a conflict it shows what it did, and a worktree that vanished is made again", thorough, async () => {
    const project = await conflicting(fresh());
    const { stdout: before } = await project.cli(["diff", "second"]);
    await project.cli(["rebase", "second"]);
    await project.cli(["start", "--until-idle"], { PRLOOM_CRASH_AT: "run:prepared" });
    assert.equal(project.git("log", "main..prloom/second"), "");
    assert.match(
      (await project.cli(["show", "second"])).stdout,
      /^COMMITS\n {2}\w+ c\n {2}\w+ d\n\n {2}\+2 -0 work\.txt$/m,
    );
    assert.equal((await project.cli(["diff", "second"])).stdout, before);
    rmSync(project.worktree("second"), { recursive: true });
    await project.work();
    await project.cli(["unblock", "second"]);
    assert.equal((await project.work()).code, 0);
    assert.equal(project.git("show", "prloom/second:work.txt"), "a\nb\nc\nd\n");
  });

  test("an agent that moves the branch gets nothing of it: the branch is as it was", thorough, async () => {
    const project = await conflicting(fresh({ env: { RESOLVE: "moves-branch" } }));
    const before = tip(project, "second");
    await project.cli(["rebase", "second"]);
    await project.work();
    assert.match(project.record("second").blocked?.reason ?? "", /moved the branch/);
    assert.equal(tip(project, "second"), before);
  });

  test("a comment that asks for a rebase adds no TODO, and an agent resolves what conflicts", thorough, async () => {
    const project = await conflicting(fresh());
    await project.cli(["comment", "second", "please rebase"]);
    const worked = await project.work();
    assert.equal(worked.code, 0, worked.stderr);
    assert.doesNotMatch(project.planText("second"), /\[[ x]\] rebase/);
    assert.deepEqual(project.commits("second"), ["c", "d"]);
    assert.equal(project.git("show", "prloom/second:work.txt"), "a\nb\nc\nd\n");
    assert.match(
      (await project.cli(["show", "second"])).stdout,
      /The rebase conflicts in: work\.txt\. An agent resolves it\./,
    );
  });
});
