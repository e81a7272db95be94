import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startDaemon } from "../../testing/daemon.ts";
import type { Project } from "../../testing/project.ts";
import { projectMaker, succeeds, works } from "../../testing/projects.ts";
import { oneOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";

/** Each of these was wrong once, and a review found it. */
describe("what a review found, in files and in what agents leave", { concurrency: 2 }, () => {
  const make = projectMaker();

  /** A draft that the dispatcher knows and holds back; returns its home, in which the test then breaks something. */
  async function heldBack(project: Project, id: string, todos: readonly string[]): Promise<string> {
    project.plan(id, todos, { status: "draft" });
    await succeeds(project, "pause", id);
    return join(project.authority, "plans", id);
  }

  async function letGo(project: Project, id: string): Promise<void> {
    await succeeds(project, "resume", id);
    await succeeds(project, "queue", id);
  }

  async function commitFiles(project: Project, names: readonly string[]): Promise<void> {
    for (const name of names) writeFileSync(join(project.root, name), `${name}\n`);
    project.git("add", "-A");
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "More");
  }

  test(
    "a comment to a TODO whose text has an open fence goes into its context, and holds up no other",
    thorough,
    async () => {
      const project = make();
      project.planFile("fenced", "## Title\n\nFenced\n\n## TODO\n\n- [ ] one\n  ```\n  x\n- [ ] two\n");
      project.plan("beside", ["one"]);
      await succeeds(project, "comment", "fenced", "--todo", "1", "use tabs");
      await works(project);
      assert.equal(project.record("beside").status, "review");
      const { thread } = JSON.parse(await succeeds(project, "show", "fenced", "--json"));
      assert.deepEqual(
        thread.map((entry: { body: string }) => entry.body),
        ["use tabs", 'Added to the context of "one".'],
      );
      assert.equal(project.record("fenced").status, "review");
      assert.deepEqual(project.commits("fenced"), ["one", "two"]);
    },
  );

  const COMMIT = "git add -A && git -c user.name=A -c user.email=a@localhost commit -qm mine --allow-empty";
  const TRICKS: Readonly<Record<string, string>> = {
    "points HEAD to main": "git symbolic-ref HEAD refs/heads/main",
    "commits on a branch of its own": `git symbolic-ref HEAD refs/heads/mine && ${COMMIT}`,
    "commits and detaches HEAD": `${COMMIT} && git checkout -q --detach && ${COMMIT}`,
  };
  for (const [trick, script] of oneOf(Object.entries(TRICKS))) {
    test(`a check that ${trick}: the work is on the plan's branch, main is untouched`, async () => {
      const project = make({ env: { CHECK: script }, config: { checks: ["sh check.sh"] } });
      const main = project.git("rev-parse", "main");
      project.plan("tricked", ["[writes-check] one", "two"]);
      await works(project);
      assert.equal(project.git("rev-parse", "main"), main);
      assert.equal(project.git("symbolic-ref", "HEAD"), "refs/heads/main\n");
      assert.equal(project.git("status", "--porcelain"), "");
      assert.equal(project.record("tricked").status, "review", project.record("tricked").blocked?.reason);
      assert.deepEqual(project.commits("tricked"), ["[writes-check] one", "two"]);
      assert.equal(project.git("show", "prloom/tricked:work.txt"), "[writes-check] one\ntwo\n");
    });
  }

  test("a check that deletes most of the files blocks the plan, and nothing is committed", thorough, async () => {
    const project = make();
    const names = Array.from({ length: 9 }, (_, index) => `file-${index}.txt`);
    await commitFiles(project, names);
    project.config({ checks: [`rm ${names.join(" ")}`] });
    project.plan("emptied", ["one"]);
    await works(project);
    assert.match(project.record("emptied").blocked?.reason ?? "", /would delete 9 of \d+ files \(limits\.maxDeletions/);
    assert.deepEqual(project.commits("emptied"), []);
  });

  test("unblock --reset after a failed publish keeps the TODO that is committed and ticked", thorough, async () => {
    const project = make();
    const home = await heldBack(project, "published", ["one", "two"]);
    writeFileSync(join(home, "change-request.json"), "{ garbage");
    await letGo(project, "published");
    await works(project);
    assert.match(project.record("published").blocked?.reason ?? "", /change request .* cannot be read/);
    assert.match(project.planText("published"), /- \[x\] one/);
    rmSync(join(home, "change-request.json"));
    await succeeds(project, "unblock", "published", "--reset");
    await works(project);
    assert.equal(project.record("published").status, "review");
    assert.deepEqual(project.commits("published"), ["one", "two"]);
    assert.equal(project.git("show", "prloom/published:work.txt"), "one\ntwo\n");
  });

  test(
    "a plan whose bus cannot be saved keeps neither the others nor the dispatcher from working",
    thorough,
    async () => {
      const project = make({ config: { bus: { retryMin: "10ms", retryMax: "20ms" } } });
      const home = await heldBack(project, "bad", ["one"]);
      mkdirSync(join(home, "bus"));
      writeFileSync(join(home, "bus", "state"), "a file where a folder should be");
      await letGo(project, "bad");
      await succeeds(project, "comment", "bad", "thanks");
      const daemon = await startDaemon(project);
      await daemon.said("bad", /^blocked: .*bus\/state/);
      project.plan("good", ["one"]);
      await daemon.said("good", /in review/);
      const { plans, daemon: running } = await project.status();
      assert.deepEqual([running.running, running.pid], [true, daemon.pid]);
      assert.deepEqual(plans.map((plan) => plan.planId).sort(), ["bad", "good"]);
      const ended = await daemon.end();
      assert.equal(ended.code, 0, ended.stderr);
      await succeeds(project, "comment", "bad", "thanks again");
      const { thread } = JSON.parse(await succeeds(project, "show", "bad", "--json"));
      assert.deepEqual(
        thread.map((entry: { body: string }) => entry.body).filter((body: string) => body.includes("again")),
        ["thanks again"],
      );
    },
  );

  test("a pipe and a device in the inbox are named and never opened", thorough, async () => {
    const project = make();
    mkdirSync(project.inbox, { recursive: true });
    execFileSync("mkfifo", [join(project.inbox, "pipe.json"), join(project.inbox, "text.md")]);
    symlinkSync("/dev/zero", join(project.inbox, "zero.json"));
    project.plan("good", ["one"]);
    // Made at the same moment, they are told of in any order.
    const named = (said: string) =>
      (said.match(/\w+\.\w+(?= is not a regular)/g) ?? []).filter((name, at, all) => all.indexOf(name) === at).sort();
    for (const said of [await succeeds(project, "status"), await works(project), await succeeds(project, "status")])
      assert.deepEqual(named(said), ["pipe.json", "text.md", "zero.json"], said);
    assert.deepEqual(project.commits("good"), ["one"]);
  });

  for (const point of oneOf(["delete:inbox", "delete:marked"])) {
    test(`a queued plan whose deletion was killed at ${point} is never carried out`, thorough, async () => {
      const project = make();
      project.plan("unwanted", ["one"]);
      project.plan("wanted", ["one"]);
      const killed = await project.cli(["delete", "unwanted", "--yes"], { PRLOOM_CRASH_AT: point });
      assert.equal(killed.signal, "SIGKILL", killed.stdout);
      await works(project);
      assert.equal(project.record("wanted").status, "review");
      assert(project.record("unwanted").deleted);
      assert.equal(project.record("unwanted").runs, 0);
      assert.equal(project.git("branch", "--list", "prloom/unwanted"), "");
      assert.deepEqual(
        (await project.status()).plans.map((plan) => plan.planId),
        ["wanted"],
      );
    });
  }

  test("files of one plan that cannot be read hide neither the others nor the rest of it", thorough, async () => {
    const project = make();
    for (const id of ["newer", "plain"]) project.plan(id, ["one"]);
    await succeeds(project, "comment", "newer", "thanks");
    await works(project);
    writeFileSync(join(project.authority, "plans", "plain", "runs", "1", "run.json"), "");
    const shown = JSON.parse(await succeeds(project, "show", "plain", "--json"));
    assert.deepEqual([shown.status, shown.runs, shown.commits.length], ["review", [], 1]);
    await succeeds(project, "show", "plain");

    const state = join(project.authority, "plans", "newer", "bus", "state", "dispatcher.json");
    writeFileSync(state, JSON.stringify({ ...JSON.parse(readFileSync(state, "utf8")), schemaVersion: 99 }));
    const { plans, problems } = await project.status();
    assert.deepEqual(plans.map((plan) => plan.planId).sort(), ["newer", "plain"]);
    assert.deepEqual(problems.length, 1);
    assert.match(`${problems[0]?.file} ${problems[0]?.reason}`, /newer.*(99|newer)/);
    assert.match(await succeeds(project, "status"), /problem: .*newer/);
  });

  test("with one agent at a time every plan has its turn before one has its second", thorough, async () => {
    const project = make({ config: { limits: { maxRunningAgents: 1 } } });
    const order = join(project.home, "order");
    const { test: agent } = project.config().agents as Record<string, Record<string, unknown>>;
    // A plan that has no worktree yet, or whose last run is still being accepted, cannot have its turn: runs take longer than that.
    const records = `${project.root}/.git/prloom/plans/*/state.json`;
    const ready = `until [ "$(grep -lE '"worktreeReady": ?true' ${records} | wc -l)" = 4 ]; do sleep 0.05; done; sleep 0.5; exec "$@"`;
    const args = ["-c", ready, "sh", agent?.command, ...((agent?.args ?? []) as string[])];
    project.config({ agents: { test: { ...agent, command: "/bin/sh", args, env: { ORDER: order } } } });
    const ids = ["a", "b", "c", "d"];
    for (const id of ids) project.plan(id, ["one", "two", "three"]);
    await works(project);
    const runs = readFileSync(order, "utf8").trimEnd().split("\n");
    const rounds = [0, 1, 2].map((round) => runs.slice(round * ids.length, (round + 1) * ids.length).sort());
    assert.deepEqual(
      rounds,
      [0, 1, 2].map((round) => ids.map((id) => `${id} ${round}`)),
    );
  });
});
