import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { stopDaemon } from "../../../src/dispatcher/commands/live-daemon.ts";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { type GatedProject, makeGatedProject } from "../../testing/gated.ts";
import { isAlive } from "../../testing/project.ts";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

describe("the dispatcher as a process", { concurrency: 2 }, () => {
  const fresh = projectMaker();
  const gated = (): GatedProject => makeGatedProject({}, fresh);

  test("there is one: a second start is refused, and stop ends it", async () => {
    const { project } = gated();
    const daemon = await startDaemon(project);
    for (const args of [["start"], ["start", "--until-idle"], ["start", "--detach"]]) {
      const second = await project.cli(args);
      assert.equal(second.code, 1, args.join(" "));
      assert.match(second.stderr, /\[daemon-running\]\n {2}hint: .*`prloom stop`/);
    }
    assert.deepEqual((await project.status()).daemon.pid, daemon.pid);
    const stopped = await project.cli(["stop"]);
    assert.equal(stopped.code, 0, stopped.stderr);
    assert.equal((await daemon.ended).code, 0);
    assert.equal((await project.status()).daemon.running, false);
    const again = await project.cli(["stop"]);
    assert.deepEqual([again.code, again.stdout], [0, "No dispatcher is running.\n"]);
  });

  test("one that is long about stopping is shown, and stop waits for it", async () => {
    const { project } = gated();
    const [deaf, allowed] = [join(project.home, "deaf"), join(project.home, "allowed")];
    const script = `trap '' TERM; echo > ${deaf}; until [ -e ${allowed} ]; do sleep 0.1; done`;
    const agent = { adapter: "command", command: "/bin/sh", args: ["-c", script], sandbox: "none" };
    project.config({ agents: { deaf: agent }, stages: { default: "deaf" }, limits: { stopGrace: "1h" } });
    project.plan("long", ["one"]);
    const daemon = await startDaemon(project);
    await appears(deaf);
    const { socket } = JSON.parse(readFileSync(join(project.authority, "daemon.json"), "utf8"));
    process.kill(daemon.pid, "SIGTERM");
    while (existsSync(socket)) await sleep(20);
    const shown = await project.cli(["status"]);
    const waitedFor = await stopDaemon(project.root);
    writeFileSync(allowed, "");
    assert.match(shown.stdout, new RegExp(`^dispatcher: stopping \\(pid ${daemon.pid}\\)`, "m"));
    assert.equal(waitedFor?.pid, daemon.pid);
    assert.equal((await daemon.ended).code, 0);
    assert.deepEqual((await project.status()).daemon, { running: false });
  });

  test("one that was suspended is shown as that, and commands say so at once", async () => {
    const { project } = gated();
    project.plan("still", ["[waits] one"]);
    const daemon = await startDaemon(project);
    await daemon.said("still", /worker started/);
    process.kill(daemon.pid, "SIGSTOP");
    const shown = await project.cli(["status"]);
    const checked = await project.cli(["doctor"]);
    const tried = [await project.cli(["comment", "still", "hello"]), await project.cli(["stop"])];
    process.kill(daemon.pid, "SIGCONT");
    assert.match(shown.stdout, new RegExp(`^dispatcher: suspended \\(pid ${daemon.pid}\\): .fg.`, "m"));
    assert.match(checked.stdout, new RegExp(`^! dispatcher: suspended \\(pid ${daemon.pid}\\)`, "m"));
    for (const { code, stderr } of tried) {
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`is suspended.*\\[control-failed\\]\n {2}hint: .*kill -CONT ${daemon.pid}`));
    }
    assert.equal((await daemon.end("SIGTERM")).code, 0);
  });

  test("SIGTERM in the middle of a run ends the agent, and the next start goes on there", async () => {
    const { project, open, halfWay } = gated();
    project.plan("cut", ["one", "[waits] two", "three"]);
    const daemon = await startDaemon(project);
    await daemon.said("cut", /worker started \(run 2/);
    await halfWay(daemon, "cut");
    const ended = await daemon.end("SIGTERM");
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(project.processes(), []);
    const { current, status } = project.record("cut");
    assert.deepEqual([status, current?.attempt, current?.stage], ["active", 1, "running"]);
    assert.deepEqual(project.commits("cut"), ["one"]);

    open("cut");
    const result = await project.work();
    assert.equal(result.code, 0, result.stderr);
    assert.equal(project.record("cut").status, "review");
    assert.deepEqual(project.commits("cut"), ["one", "[waits] two", "three"]);
    // What the ended run left was taken back before the TODO ran again: nothing is there twice.
    assert.equal(project.git("show", "prloom/cut:half.txt"), "half of [waits] two\n");
    assert.equal(project.git("show", "prloom/cut:work.txt"), "one\n[waits] two\nthree\n");
  });

  test("what an interrupted run left is named where its plan is reset before the next start", async () => {
    const { project, halfWay } = gated();
    project.plan("left", ["[waits] one"], { status: "queued" });
    const daemon = await startDaemon(project);
    await halfWay(daemon, "left");
    await daemon.end("SIGKILL");
    await project.cli(["block", "left", "wrong way"]);
    const { stdout } = await project.cli(["unblock", "left", "--reset"]);
    assert.match(stdout, /is gone from its worktree, and kept in \S+partial\.patch \(for `git apply`\)/);
  });

  test("SIGKILL leaves no process behind either, and the interruption is not an attempt", thorough, async () => {
    const { project, open, halfWay } = gated();
    project.plan("killed", ["[waits] one"], { status: "queued", metadata: { limits: { attemptsPerTodo: 1 } } });
    const daemon = await startDaemon(project);
    await halfWay(daemon, "killed");
    await daemon.end("SIGKILL");
    open("killed");
    const result = await project.work();
    assert.equal(result.code, 0, result.stderr);
    assert.equal(project.record("killed").status, "review", result.stdout);
    assert.equal(project.git("show", "prloom/killed:half.txt"), "half of [waits] one\n");
    assert.deepEqual(project.processes(), []);
  });

  test("hide, pause and delete reach a plan whose agent is at work", thorough, async () => {
    const { project, open, halfWay } = gated();
    for (const id of ["hidden", "paused", "deleted"]) project.plan(id, ["[waits] one", "two"]);
    const daemon = await startDaemon(project);
    for (const id of ["hidden", "paused", "deleted"]) await halfWay(daemon, id);
    assert.equal((await project.cli(["hide", "hidden"])).code, 0);
    assert.equal((await project.cli(["pause", "paused"])).code, 0);
    assert.equal((await project.cli(["delete", "deleted", "--yes"])).code, 0);
    assert.equal(existsSync(project.worktree("deleted")), false);
    for (const id of ["hidden", "paused"]) {
      open(id);
      await daemon.said(id, /TODO 1 done/);
    }
    // A third plan shows that the dispatcher had time to start a next step, and did not.
    project.plan("beside", ["one"]);
    await daemon.said("beside", /in review/);
    for (const id of ["hidden", "paused"]) {
      assert.deepEqual(project.commits(id), ["[waits] one"]);
      assert.equal(project.record(id).runs, 1);
    }
    assert.equal((await project.cli(["unhide", "hidden"])).code, 0);
    assert.equal((await project.cli(["resume", "paused"])).code, 0);
    for (const id of ["hidden", "paused"]) await daemon.said(id, /in review/);
    assert.equal((await daemon.end()).code, 0);
    assert.deepEqual(project.commits("hidden"), ["[waits] one", "two"]);
    assert.deepEqual(project.commits("paused"), ["[waits] one", "two"]);
    assert.equal(project.record("deleted").deleted?.reason, "deleted");
    assert.equal(project.record("deleted").runs, 1);
    assert.deepEqual(project.processes(), []);
  });

  test("a merge by hand is noticed while it runs, and lets what depends on it start", thorough, async () => {
    const { project } = gated();
    project.plan("base", ["one"]);
    project.plan("next", ["two"], { status: "queued", metadata: { dependsOn: ["base"] } });
    const daemon = await startDaemon(project);
    await daemon.said("base", /in review/);
    const waiting = (await project.status()).plans.find((plan) => plan.planId === "next");
    assert.deepEqual([waiting?.status, waiting?.waiting], ["queued", "base must be merged first"]);
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "merge", "-q", "--no-ff", "prloom/base");
    await daemon.said("base", /^merged/);
    await daemon.said("next", /in review/);
    assert.equal((await daemon.end()).code, 0);
    assert.deepEqual([project.record("base").status, project.record("base").outcome], ["done", "merged"]);
    assert.equal(project.git("show", "prloom/next:work.txt"), "one\ntwo\n");
  });

  test("a change request that cannot be read keeps no other merge by hand from being noticed", thorough, async () => {
    const { project } = gated();
    for (const id of ["broken", "good"]) project.plan(id, ["one"]);
    assert.equal((await project.work()).code, 0);
    writeFileSync(join(project.authority, "plans", "broken", "change-request.json"), "{ half");
    for (const id of ["broken", "good"])
      project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "merge", "-q", "-X", "ours", `prloom/${id}`);
    const { stdout } = await project.work();
    assert.match(stdout, /broken {2}whether it was merged cannot be told: .*change-request\.json/);
    assert.deepEqual([project.record("broken").status, project.record("good").outcome], ["review", "merged"]);
  });

  test("what is said while a plan is being merged is neither left out nor lost", thorough, async () => {
    const { project } = gated();
    const [bin, at, go] = ["bin", "at", "go"].map((name) => join(project.home, name)) as [string, string, string];
    mkdirSync(bin);
    execFileSync("mkfifo", [go]);
    // The commit of a merge is the one with two parents.
    const wait = `case "$*" in *commit-tree*\\ -p\\ *\\ -p\\ *) echo merging > ${at}; read -r _ < ${go} ;; esac`;
    writeFileSync(join(bin, "git"), `#!/bin/sh\n${wait}\nPATH=${process.env.PATH} exec git "$@"\n`, { mode: 0o755 });
    project.plan("one", ["one"]);
    const daemon = await startDaemon(project, { PATH: `${bin}:${process.env.PATH}` });
    await daemon.said("one", /in review/);
    const merging = project.cli(["merge", "one", "--merge"]);
    await appears(at);
    await project.cli(["comment", "one", "Please do more."]);
    project.plan("other", ["two"]);
    await daemon.said("other", /in review/);
    assert.equal(project.record("one").runs, 1);
    writeFileSync(go, "go on\n");
    const refused = await merging;
    assert.deepEqual([refused.code, /1 unanswered comment/.test(refused.stderr)], [1, true], refused.stderr);
    await daemon.said("one", /in review/, 2);
    assert.equal((await daemon.end()).code, 0);
    assert.deepEqual([project.record("one").status, project.commits("one").length], ["review", 2]);
  });

  test("start --detach goes on in the background until stop", async () => {
    const { project } = gated();
    project.plan("behind", ["one"]);
    const started = await project.cli(["start", "--detach", "--json"]);
    assert.equal(started.code, 0, started.stderr);
    const { daemon } = await project.status();
    assert(daemon.running && daemon.pid !== undefined && isAlive(daemon.pid));
    const change = join(project.authority, "plans", "behind", "change-request.json");
    mkdirSync(join(project.authority, "plans", "behind"), { recursive: true });
    await appears(change);
    const stopped = await project.cli(["stop"]);
    assert.equal(stopped.code, 0, stopped.stderr);
    assert.equal(isAlive(daemon.pid), false);
    assert.match(readFileSync(join(project.authority, "daemon.log"), "utf8"), /behind/);
    assert.deepEqual(project.processes(), []);
    await project.work();
    assert.deepEqual(project.commits("behind"), ["one"]);
  });
});
