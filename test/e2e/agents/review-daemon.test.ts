import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { appears, shimOf, until } from "../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { type GatedProject, makeGatedProject } from "../../testing/gated.ts";
import { finished, isAlive, type Project, type ProjectOptions } from "../../testing/project.ts";
import { projectMaker, succeeds } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

/** Each of these was wrong once, and a review found it. */
describe("what a review found, around a dispatcher that runs", { concurrency: 2 }, () => {
  const fresh = projectMaker();
  const make = (options?: ProjectOptions): GatedProject => makeGatedProject(options, fresh);

  function socketOf(project: Project): string {
    return JSON.parse(readFileSync(join(project.authority, "daemon.json"), "utf8")).socket;
  }

  test("unblock --reset of a plan that is not blocked leaves its agent and the work alone", thorough, async () => {
    const { project, open, halfWay } = make();
    project.plan("busy", ["[waits] one"]);
    const daemon = await startDaemon(project);
    await halfWay(daemon, "busy");
    const told = await succeeds(project, "unblock", "busy", "--reset");
    assert.match(told, /^busy was not blocked\./);
    assert(existsSync(join(project.worktree("busy"), "half.txt")));
    open("busy");
    await daemon.said("busy", /in review/);
    assert.equal((await daemon.end()).code, 0);
    assert.equal(project.record("busy").runs, 1);
    assert.deepEqual(project.commits("busy"), ["[waits] one"]);
    assert.equal(project.git("show", "prloom/busy:half.txt"), "half of [waits] one\n");
    assert.equal(project.git("show", "prloom/busy:work.txt"), "[waits] one\n");
  });

  test("a dispatcher whose lock was taken away ends, and leaves its successor alone", async () => {
    const { project } = make();
    const first = await startDaemon(project);
    const lock = join(project.authority, "daemon.lock");
    rmSync(lock);
    const second = await startDaemon(project);
    const info = join(project.authority, "daemon.json");
    await until(project.authority, () => readFileSync(info, "utf8").includes(`"pid": ${second.pid}`));
    project.plan("dropped", ["one"]);
    const ended = await first.ended;
    assert.equal(ended.code, 1);
    assert.match(ended.stderr + ended.stdout, /lock-lost/);
    await second.said("dropped", /in review/);
    assert.deepEqual(project.commits("dropped"), ["one"]);
    assert(existsSync(socketOf(project)));
    const { daemon } = await project.status();
    assert.deepEqual([daemon.running, daemon.pid], [true, second.pid]);
    await succeeds(project, "stop");
    assert.equal((await second.ended).code, 0);
  });

  interface SlowGit {
    readonly env: { readonly PATH: string };
    /** Resolves when a dispatcher has called git in the way that is slow. */
    readonly begun: () => Promise<void>;
    /** Lets it, and all later ones, go on. */
    goOn(): void;
  }

  /** A git that waits before it does one kind of thing. */
  function slowGit(project: Project, subcommand: string): SlowGit {
    const bin = join(project.home, "bin");
    mkdirSync(bin);
    const [begun, goOn] = [join(bin, "begun"), join(bin, "go-on")];
    const wait = `echo yes > ${begun}; while [ ! -e ${goOn} ]; do sleep 0.02; done`;
    const path = process.env.PATH ?? "";
    const script = `case " $* " in *" ${subcommand} "*) ${wait};; esac\nPATH='${path}'\nexec git "$@"\n`;
    writeFileSync(join(bin, "git"), `#!/bin/sh\n${script}`, { mode: 0o755 });
    return { env: { PATH: `${bin}:${path}` }, begun: () => appears(begun), goOn: () => writeFileSync(goOn, "") };
  }

  test("stop lets a merge that is under way end first", thorough, async () => {
    const { project } = make();
    const git = slowGit(project, "merge-tree");
    project.plan("merged", ["one"]);
    const daemon = await startDaemon(project, git.env);
    await daemon.said("merged", /in review/);
    const merge = finished(project.spawnCli(["merge", "merged"]));
    await Promise.race([git.begun(), merge]);
    const socket = socketOf(project);
    const stop = finished(project.spawnCli(["stop"]));
    await Promise.race([until(dirname(socket), () => !existsSync(socket)), stop]);
    git.goOn();
    const merged = await merge;
    assert.equal(merged.code, 0, merged.stderr);
    const stopped = await stop;
    assert.equal(stopped.code, 0, stopped.stderr);
    assert.equal(isAlive(daemon.pid), false);
    assert.equal((await daemon.ended).code, 0);
    assert.deepEqual([project.record("merged").status, project.record("merged").outcome], ["done", "merged"]);
    assert.equal(project.git("show", "main:work.txt"), "one\n");
  });

  test("delete in the middle of a step: nothing of the plan is started any more", thorough, async () => {
    const { project } = make({ config: { checks: ["sleep 600"] } });
    const git = slowGit(project, "diff");
    project.plan("unwanted", ["one"]);
    const daemon = await startDaemon(project, git.env);
    await git.begun();
    const deleted = finished(project.spawnCli(["delete", "unwanted", "--yes"]));
    const home = join(project.authority, "plans", "unwanted");
    await until(home, () => project.record("unwanted").deleted !== undefined);
    git.goOn();
    assert.equal((await deleted).code, 0);
    assert.equal(existsSync(project.worktree("unwanted")), false);
    const { code, stdout } = await daemon.end();
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /could not be blocked|failed/);
  });

  test("delete without a dispatcher ends what a killed one left alive", thorough, async () => {
    const { project } = make();
    project.plan("left", ["[stubborn] one"]);
    const daemon = await startDaemon(project);
    await daemon.said("left", /worker started/);
    const runDir = join(project.authority, "plans", "left", "runs", "1");
    await appears(join(runDir, "output.log"));
    // Held still, it cannot end the agent by itself when its dispatcher is gone: that is left to the command.
    process.kill(shimOf(runDir), "SIGSTOP");
    await daemon.end("SIGKILL");
    assert(project.processes().length > 1);
    await succeeds(project, "delete", "left", "--yes");
    assert.deepEqual(project.processes(), []);
    assert.equal(existsSync(project.worktree("left")), false);
    assert.equal(project.git("worktree", "list").trim().split("\n").length, 1);
  });

  test("delete ends an initCommand that runs, and that is not a failure of the plan", thorough, async () => {
    const { project } = make();
    const started = join(project.worktree("unwanted"), "started");
    project.config({ initCommands: ["echo yes > started; sleep 600", "sleep 601"] });
    project.plan("unwanted", ["one"]);
    const daemon = await startDaemon(project);
    // The folder is not there at first, so it cannot be watched.
    while (!existsSync(started)) await sleep(20);
    await succeeds(project, "delete", "unwanted", "--yes");
    assert.deepEqual(
      project.processes().filter((line) => line.includes("sleep")),
      [],
    );
    assert.equal(existsSync(project.worktree("unwanted")), false);
    assert.equal(project.git("worktree", "list").trim().split("\n").length, 1);
    const { code, stdout } = await daemon.end();
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /could not be blocked|failed/);
  });

  test("what depends on a deleted plan, or on itself, is blocked while the dispatcher runs", thorough, async () => {
    const { project } = make();
    project.plan("base", ["one"]);
    project.plan("next", ["two"], { status: "queued", metadata: { dependsOn: ["base"] } });
    const daemon = await startDaemon(project);
    await daemon.said("base", /in review/);
    await succeeds(project, "delete", "base", "--yes");
    await daemon.said("next", /^blocked: It depends on base, which was deleted/);
    project.plan("left", ["one"], { status: "queued", metadata: { dependsOn: ["right"] } });
    project.plan("right", ["one"], { status: "queued", metadata: { dependsOn: ["left"] } });
    await daemon.said("left", /^blocked: .*left → right → left/);
    await daemon.said("right", /^blocked: .*right → left → right/);
    assert.equal((await daemon.end()).code, 0);
  });

  test("merge is refused while triage works, and done when it has answered", thorough, async () => {
    const { project, open } = make({ env: { TRIAGE: "waits" } });
    project.plan("asked", ["one"]);
    const daemon = await startDaemon(project);
    await daemon.said("asked", /in review/);
    await succeeds(project, "comment", "asked", "thanks");
    await daemon.said("asked", /triage started/);
    for (const args of [
      ["merge", "asked"],
      ["merge", "asked", "--force"],
    ]) {
      const refused = await project.cli(args);
      assert.equal(refused.code, 1, refused.stdout);
      assert.match(refused.stderr, /asked is being worked on, not in review\. \[plan-state\]/);
    }
    assert.equal(project.record("asked").status, "review");
    open("triage");
    await daemon.said("asked", /^triaged 1 comment/);
    await succeeds(project, "merge", "asked");
    assert.equal((await daemon.end()).code, 0);
    assert.equal(project.record("asked").outcome, "merged");
    assert.equal(project.git("show", "main:work.txt"), "one\n");
  });

  test("a fixed config is applied by reload: then unblock is enough, no restart", thorough, async () => {
    const { project } = make();
    const { agents } = project.config();
    project.config({ agents: { test: { command: join(project.home, "no-such-agent") } } });
    project.plan("repaired", ["one"]);
    const daemon = await startDaemon(project);
    await daemon.said("repaired", /^blocked: The agent could not be started.*no-such-agent/);
    project.config({ agents });
    const early = await project.cli(["unblock", "repaired"]);
    assert.match(early.stderr, /^note: what is checked out differs .* `prloom reload` applies it$/m);
    await daemon.said("repaired", /^blocked: The agent could not be started.*no-such-agent/, 2);
    await succeeds(project, "reload", "--yes");
    await succeeds(project, "unblock", "repaired");
    await daemon.said("repaired", /in review/);
    assert.equal((await daemon.end()).code, 0);
    assert.deepEqual(project.commits("repaired"), ["one"]);
  });
});
