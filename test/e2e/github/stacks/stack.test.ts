import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { thorough } from "../../../testing/thorough.ts";
import { type PublishingProject, publishingProject } from "../publishing-project.ts";
import { assertAlone, head, pullOf, STACKED, stacked } from "./stacked.ts";

describe("a plan that is stacked on another", { concurrency: 2 }, () => {
  it("begins when that is in review, on its branch, and is not merged before it", async (t) => {
    const made = await publishingProject(t);
    const { project, cli, work } = made;
    project.plan("upper", ["make two"], STACKED);
    await work();
    assert.match((await cli("status")).stdout, /upper .*lower \(no such plan yet\) must be in review first/);
    await stacked(made);
    const pull = pullOf(made, "upper");
    assert.deepEqual([pull.pull.base.branch, pull.pull.draft], ["prloom/lower", false]);
    assert.equal(project.git("rev-parse", "prloom/upper^").trim(), head(project, "lower"));
    assert.match((await cli("status")).stdout, /upper .*stacked on lower, which must be merged first/);
    assert.match(
      (await cli("show", "upper")).stdout,
      /branch: prloom\/upper \(from prloom\/lower at \w+, stacked on lower\)/,
    );
    const listed = (await project.status()).plans.find(({ planId }) => planId === "upper");
    const shown = JSON.parse((await cli("show", "upper", "--json")).stdout);
    assert.deepEqual([listed?.stackedOn, shown.stackedOn], ["lower", "lower"]);
    for (const force of [[], ["--force"]]) {
      const refused = await cli("merge", "upper", ...force);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /upper is stacked on lower, which is not merged\.[\s\S]*prloom merge lower/);
    }
    assert.equal(pull.pull.merged, undefined);
  });

  it("follows when the lower one moves, and its approval holds", thorough, async (t) => {
    const made = await publishingProject(t, { gates: { pr: true, advisory: true } });
    const { project, cli, work, ada, there } = made;
    project.plan("lower", ["make one"]);
    await work();
    assert.equal((await cli("approve", "lower")).code, 0);
    project.plan("upper", ["make two"], STACKED);
    await work();
    assert.equal((await cli("approve", "upper")).code, 0);
    await work();
    const theirs = ada.pushes("prloom/lower", { "more.txt": "more\n" });
    await work();
    await work();
    assert.equal(project.git("rev-parse", "prloom/upper^").trim(), theirs);
    assert.equal(there("prloom/upper"), head(project, "upper"));
    const { status, baseSha, blocked } = project.record("upper");
    assert.deepEqual({ status, baseSha, blocked }, { status: "review", baseSha: theirs, blocked: undefined });
  });

  it(
    "gets the base of the lower one when that is squashed: before it, without its commits, and keeps the title of a person",
    thorough,
    async (t) => {
      const made = await stacked(await publishingProject(t));
      const { cli, work, github, there, repository, ada } = made;
      ada.edits(pullOf(made, "upper").number, { title: "feat: two" });
      const asked: string[] = [];
      github.server.onSeen = () => {
        if (asked.length === 0 && pullOf(made, "lower").pull.merged) asked.push(pullOf(made, "upper").pull.base.branch);
      };
      const merged = await cli("merge", "lower");
      assert.equal(merged.code, 0, merged.stderr);
      await work();
      assert.deepEqual(asked, ["main"]);
      assert.equal(there("prloom/lower"), undefined);
      await assertAlone(made);
      assert.equal(pullOf(made, "upper").title, "feat: two");
      assert.equal((await cli("merge", "upper")).code, 0);
      await work();
      assert.equal(there("prloom/upper"), undefined);
      assert.ok([...repository.issues.values()].every(({ pull }) => pull?.merged));
    },
  );

  it("also when a person merges it there; other pull requests on that branch live on, too", thorough, async (t) => {
    const made = await stacked(await publishingProject(t));
    const { work, ada, there } = made;
    ada.pushes("ada/more", { "ada.txt": "ada\n" });
    const own = ada.opensPull({ title: "More", head: "ada/more", base: "prloom/lower" });
    ada.merges(pullOf(made, "lower").number);
    await work();
    assert.equal(there("prloom/lower"), undefined);
    assert.deepEqual([own.state, own.pull?.base.branch], ["open", "main"]);
    await assertAlone(made);
  });

  it("is not merged into the branch of the lower one while GitHub has not got its next base", thorough, async (t) => {
    const made = await stacked(await publishingProject(t));
    const { project: one, cli, work, ada, there, github } = made;
    one.config({ github: { ...(one.config().github as object), deleteBranch: false } });
    ada.merges(pullOf(made, "lower").number);
    github.server.faults.add({ kind: "error-before", on: /PATCH .*\/pulls\//, times: 99 });
    await work();
    assert.equal(there("prloom/upper"), head(one, "upper"));
    assert.equal(pullOf(made, "upper").pull.base.branch, "prloom/lower");
    for (const force of [[], ["--force"]]) {
      const refused = await cli("merge", "upper", ...force);
      assert.match(refused.stderr, /does not merge upper: its pull request is for prloom\/lower, not for main/);
    }
    assert.equal(pullOf(made, "upper").pull.merged, undefined);
  });

  it("keeps its base when the lower one is not merged after all", thorough, async (t) => {
    const made = await stacked(await publishingProject(t));
    const { cli, work, repository } = made;
    const rules = { requiredChecks: ["build"], approvals: 0, mergeQueue: false, refusePush: undefined };
    repository.rules.set("main", rules);
    assert.equal((await cli("merge", "lower")).code, 1);
    await work();
    assert.equal(pullOf(made, "upper").pull.base.branch, "prloom/lower");
    assert.equal(project(made, "upper").stack?.on, project(made, "lower").uid);
  });

  for (const [end, why] of [
    ["close", "closed"],
    ["delete", "deleted"],
  ] as const)
    it(`whose lower one is ${why} waits for a person, and then has its own commits alone`, thorough, async (t) => {
      const made = await stacked(await publishingProject(t));
      const { cli, work, ada } = made;
      if (end === "close") ada.closes(pullOf(made, "lower").number);
      else {
        assert.equal((await cli("delete", "lower", "--yes")).code, 0);
        assert.match(
          (await cli("status")).stdout,
          /upper .*stacked on lower, which was deleted: the dispatcher looks at it/,
        );
      }
      await work();
      assert.equal(project(made, "upper").blocked?.reason, `It is stacked on lower, which was ${why}.`);
      assert.deepEqual([pullOf(made, "upper").state, pullOf(made, "upper").pull.base.branch], ["open", "main"]);
      ada.deletesBranch("prloom/lower");
      assert.match((await cli("merge", "upper", "--force")).stderr, /upper is (blocked|to be brought onto main first)/);
      assert.equal((await cli("unblock", "upper")).code, 0);
      await work();
      await assertAlone(made);
    });

  it("whose pull request GitHub closed with the branch of the lower one gets another", thorough, async (t) => {
    const made = await stacked(await publishingProject(t));
    const { cli, work, ada, pulls } = made;
    ada.closes(pullOf(made, "lower").number);
    ada.deletesBranch("prloom/lower");
    assert.ok(pullOf(made, "upper").pull.isDead);
    await work();
    await work();
    assert.equal(project(made, "upper").status, "review");
    assert.match(project(made, "upper").blocked?.reason ?? "", /stacked on lower, which was closed/);
    assert.equal((await cli("unblock", "upper")).code, 0);
    await work();
    assert.equal(pulls().length, 3);
    await assertAlone(made);
    assert.equal(pullOf(made, "upper").pull.draft, false);
    assert.equal((await cli("merge", "upper")).code, 0);
  });

  it("whose change was shown at a pull request that is closed so is shown at the next", thorough, async (t) => {
    const made = await publishingProject(t, { gates: { pr: true, advisory: true } });
    const { cli, work, ada } = made;
    made.project.plan("lower", ["make one"]);
    await work();
    ada.comments(pullOf(made, "lower").number, "approved");
    made.project.plan("upper", ["make two"], STACKED);
    await work();
    const first = pullOf(made, "upper");
    assert.match(first.comments[0]?.body ?? "", /The change waits for your answer/);
    ada.closes(pullOf(made, "lower").number);
    ada.deletesBranch("prloom/lower");
    await work();
    await work();
    ada.comments(first.number, "approved");
    assert.equal((await cli("unblock", "upper")).code, 0);
    await work();
    const next = pullOf(made, "upper");
    assert.notEqual(next.number, first.number);
    assert.equal(next.comments.filter(({ body }) => /The change waits for your answer/.test(body)).length, 1);
    assert.equal(next.pull.draft, true);
    const [gate] = JSON.parse((await cli("show", "upper", "--json")).stdout).gates.slice(-1);
    ada.comments(next.number, `/approve ${gate.gateId}`);
    await work();
    await assertAlone(made);
    assert.equal(next.pull.draft, false);
  });

  it("can bear another one, and goes on while the lower one is blocked", thorough, async (t) => {
    const made = await stacked(await publishingProject(t));
    const { project: one, cli, work } = made;
    one.plan("top", ["make three"], { status: "queued", metadata: { dependsOn: ["upper"], stack: true } });
    assert.equal((await cli("block", "lower", "not so fast")).code, 0);
    await work();
    assert.equal(pullOf(made, "top").pull.base.branch, "prloom/upper");
    assert.equal(one.record("top").status, "review");
    assert.equal((await cli("unblock", "lower")).code, 0);
    for (const id of ["lower", "upper", "top"]) {
      const merged = await cli("merge", id);
      assert.equal(merged.code, 0, merged.stderr);
      await work();
      await work();
    }
    assert.ok(made.pulls().every(({ pull }) => pull?.merged));
    const onMain = one.git("-C", made.repository.folder, "log", "--format=%s", "main").trim().split("\n");
    const plans = onMain.map((subject) => subject.replace(/ \(#\d+\)$/, ""));
    assert.deepEqual(plans, ["Plan top", "Plan upper", "Plan lower", "Begin"]);
  });

  it("does not begin on one whose approval was taken back", thorough, async (t) => {
    const made = await publishingProject(t, { gates: { plan: true, advisory: true } });
    const { project: one, cli, work } = made;
    one.plan("lower", ["make one"]);
    await work();
    assert.equal((await cli("approve", "lower")).code, 0);
    await work();
    assert.equal((await cli("withdraw", "lower")).code, 0);
    one.plan("upper", ["make two"], STACKED);
    await work();
    await work();
    assert.equal(one.record("upper").status, "queued");
  });

  it("is closed when a person closes its own pull request", thorough, async (t) => {
    const made = await stacked(await publishingProject(t));
    made.ada.closes(pullOf(made, "upper").number);
    await made.work();
    assert.equal(project(made, "upper").outcome, "closed");
    assert.equal(project(made, "lower").status, "review");
  });

  it("that conflicts with what the base got: an agent resolves it", thorough, async (t) => {
    const made = await stacked(await publishingProject(t));
    const { work, ada } = made;
    ada.merges(pullOf(made, "lower").number);
    ada.pushes("main", { "work.txt": "of a person\n" });
    await work();
    await assertAlone(made);
  });

  it("is not merged while an agent has not resolved its conflict, and tries again", thorough, async (t) => {
    const made = await stacked(await publishingProject(t));
    const { project: one, cli, work, ada } = made;
    const { agents } = one.config() as { agents: { test: object } };
    one.config({ agents: { test: { ...agents.test, env: { RESOLVE: "gives-up" } } } });
    ada.merges(pullOf(made, "lower").number);
    ada.pushes("main", { "work.txt": "of a person\n" });
    await work();
    assert.match(one.record("upper").blocked?.reason ?? "", /The branch was not rebased onto main/);
    assert.match((await cli("merge", "upper", "--force")).stderr, /upper is to be brought onto main first/);
    one.config({ agents });
    assert.equal((await cli("unblock", "upper")).code, 0);
    await work();
    await assertAlone(made);
  });

  it("outlasts an outage while the lower one is merged", thorough, async (t) => {
    const made = await stacked(await publishingProject(t, { bus: { retryMin: "20s", retryMax: "30s" } }));
    const { work, ada, github } = made;
    ada.merges(pullOf(made, "lower").number);
    github.server.faults.failShare(0.33, 7);
    for (let start = 0; start < 3; start += 1) await work();
    github.server.faults.failShare(0, 7);
    await work();
    await work();
    await assertAlone(made);
  });
});

describe("a plan that cannot be stacked", { concurrency: 2 }, () => {
  it("is blocked, and says why", async (t) => {
    const { project: one, work, cli } = await publishingProject(t);
    const made = await cli("new", "Alone", "--stack");
    assert.match(made.stdout + made.stderr, /depends on no plan that it could be stacked on/);
    one.plan("none", ["a"], { status: "queued", metadata: { stack: true } });
    one.plan("two", ["a"], { status: "queued", metadata: { stack: true, dependsOn: ["a", "b"] } });
    one.plan("word", ["a"], { status: "queued", metadata: { stack: "yes", dependsOn: ["a"] } });
    await work();
    assert.match(one.record("none").blocked?.reason ?? "", /depends on no plan that it could be stacked on/);
    assert.match(one.record("two").blocked?.reason ?? "", /depends on 2 plans: a branch can stand on one only/);
    assert.match(one.record("word").blocked?.reason ?? "", /metadata\.stack must be true or false, but is "yes"/);
    one.config({ forge: "local" });
    one.plan("local", ["a"], STACKED);
    await work();
    assert.match(one.record("local").blocked?.reason ?? "", /`stack`, which needs the forge "github"/);
  });
});

const project = ({ project: one }: PublishingProject, id: string) => one.record(id);
