import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { thorough } from "../../testing/thorough.ts";
import { git, repositoryFor } from "../fixture.ts";

describe("start", { concurrency: 2 }, () => {
  it("ends by itself, and says in lines of JSON what it did", async (t) => {
    const { root, run } = repositoryFor(t);
    await run(["new", "First", "--todo", "one", "--queue"]);
    await run(["new", "Second", "--todo", "two", "--queue", "--depends-on", "nobody"]);
    const { code, stdout, stderr } = await run(["start", "--until-idle", "--json"]);
    assert.equal(code, 0, stderr);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const end = lines.pop();
    assert.ok(lines.length > 0);
    for (const line of lines) assert.ok(line.type === "progress" && line.at && line.text, JSON.stringify(line));
    assert.equal(end.type, "end");
    const [first, second] = end.plans;
    assert.equal(first.status, "review");
    assert.match(second.waiting, /nobody/);
    const shown = JSON.parse((await run(["show", "first", "--json"])).stdout);
    assert.deepEqual([shown.runs.length, shown.commits.length, shown.todos[0].state], [1, 1, "done"]);
    assert.match((await run(["logs", "first"])).stdout, /^working on one$/m);
    assert.equal((await run(["logs", "first", "--tail", "0"])).stdout, "");
    assert.match((await run(["logs", "first", "--run", "9"])).stderr, /\[run-not-found\]/);
    const merged = await run(["merge", "first"]);
    assert.match(merged.stdout, /git log [0-9a-f]{12}/);
    assert.match(git(root, "log", "--format=%s", "main"), /^First$/m);
    const cleaned = JSON.parse((await run(["clean", "--json"])).stdout);
    assert.deepEqual(cleaned, { removed: ["first"], branches: { deleted: [], merged: ["first"] } });
  });

  it("lists at its end what stands still and why, in plain lines", thorough, async (t) => {
    const { run } = repositoryFor(t);
    await run(["new", "Hidden one", "--todo", "x", "--queue"]);
    await run(["hide", "hidden-one"]);
    await run(["new", "Blocked one", "--todo", "x", "--queue"]);
    await run(["block", "blocked-one", "no", "time"]);
    await run(["new", "Draft", "--todo", "x"]);
    const { code, stdout } = await run(["start", "--until-idle"]);
    assert.equal(code, 0);
    assert.match(stdout, /^draft +draft .*`prloom queue draft`$/m);
    assert.match(stdout, /^hidden-one: `prloom unhide hidden-one`$/m);
    assert.match(stdout, /^blocked-one: blocked: no time\n {2}hint: `prloom unblock blocked-one`/m);
    assert.ok(!stdout.includes("\u001b"));
    assert.doesNotMatch(stdout, /^stopped/m);
  });

  it("says truly what it left when it is stopped, and lists what is blocked in review", thorough, async (t) => {
    const { root, run } = repositoryFor(t);
    const config = join(root, "prloom", "config.json");
    writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, "utf8")), checks: ["echo looks fine"] }));
    await run(["new", "Quick", "--todo", "one", "--queue"]);
    await run(["new", "Never", "--todo", "never", "--queue"]);
    assert.equal((await run(["start", "--until-idle"])).code, 0);
    assert.match(
      (await run(["logs", "quick"])).stdout,
      /^working on one\n--- check `echo looks fine` \(exit 0\) ---\nlooks fine\n$/,
    );
    const { stdout: shown } = await run(["show", "never"]);
    assert.equal(shown.match(/\d+s ago +\d+s +exit 0, not accepted$/gm)?.length, 3);
    await run(["block", "quick", "not now"]);
    await run(["new", "Slow", "--todo", "slow", "--queue"]);
    const { code, stdout } = await run(["start"], {
      when: { says: "worker started", act: (child) => child.kill("SIGTERM") },
    });
    assert.equal(code, 0);
    assert.match(stdout, /^quick: blocked: not now\n {2}hint: /m);
    assert.match(stdout, /^stopped; agents were ended, `prloom start` goes on where they were$/m);
    assert.doesNotMatch(stdout, /agent is working/);
    assert.match((await run(["delete", "quick"])).stderr, /stay\. If you mean it: prloom delete quick --yes/);
    const deleted = await run(["delete", "quick", "--yes", "--branch"]);
    assert.match(deleted.stdout, /Its branch prloom\/quick is gone, too/);
  });

  it("is followed by logs from before the first run until the plan rests", async (t) => {
    const { root, run } = repositoryFor(t);
    await run(["new", "Two steps", "--id", "steps", "--todo", "gated", "--todo", "two"]);
    await run(["start", "--detach"]);
    // The first agent waits until its words have been seen.
    const when = { says: "working on gated", act: () => writeFileSync(join(root, "go"), "") };
    const [followed, told] = await Promise.all([
      run(["logs", "steps", "--follow"], { when }),
      run(["logs", "steps", "--follow", "--json"]),
      run(["queue", "steps"]),
    ]);
    assert.equal(followed.code, 0, followed.stderr);
    assert.equal(told.code, 0, told.stderr);
    const events = told.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      events.map(({ run: number, type, text }) => `${number} ${type} ${text ?? ""}`.trimEnd()),
      ["1 text working on gated", "1 done", "2 run", "2 text working on two", "2 done"],
    );
    assert.match(followed.stdout, /^working on gated\n--- run 2 \(worker, .*\) ---\nworking on two\n$/);
  });

  it("is followed from the first run on, however late the follower gets to look", thorough, async (t) => {
    const { root, run } = repositoryFor(t);
    writeFileSync(join(root, "go"), "");
    await run(["new", "Two steps", "--id", "steps", "--todo", "gated", "--todo", "two"]);
    await run(["start", "--detach"]);
    // Held before it has read a single file, as on a machine that has no time for it.
    let held: ChildProcess | undefined;
    const followed = run(["logs", "steps", "--follow", "--json"], {
      began: (child) => {
        held = child;
        child.kill("SIGSTOP");
      },
    });
    await run(["queue", "steps"]);
    await run(["logs", "steps", "--follow"]);
    assert.match((await run(["show", "steps"])).stdout, /review/);
    held?.kill("SIGCONT");
    const { stdout } = await followed;
    const events = stdout.trimEnd().split("\n");
    assert.deepEqual(
      events.map((line) => JSON.parse(line)).map(({ run: number, type }) => `${number} ${type}`),
      ["1 text", "1 done", "2 run", "2 text", "2 done"],
    );
  });

  it("runs in the background until it is stopped, once per repository", thorough, async (t) => {
    const { run } = repositoryFor(t);
    const first = JSON.parse((await run(["start", "--detach", "--json"])).stdout);
    assert.ok(first.pid > 0 && first.running);
    for (const args of [["start"], ["start", "--detach"]]) {
      const second = await run(args);
      assert.equal(second.code, 1);
      assert.match(second.stderr, /\[daemon-running\]/);
    }
    const { daemon } = JSON.parse((await run(["status", "--json"])).stdout);
    assert.equal(daemon.pid, first.pid);
    assert.equal((await run(["new", "While it runs", "--id", "later"])).code, 0);
    assert.equal((await run(["pause", "later"])).code, 0);
    assert.deepEqual(JSON.parse((await run(["stop", "--json"])).stdout), { stopped: true, pid: first.pid });
    assert.deepEqual(JSON.parse((await run(["stop", "--json"])).stdout), { stopped: false });
  });
});
