import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { errorLines, exitCodeOf } from "../../src/cli/report-error.ts";
import { sha256 } from "../../src/kernel/ids.ts";
import { CLI } from "../testing/program.ts";
import { someOf } from "../testing/sample.ts";
import { thorough } from "../testing/thorough.ts";
import { git, prloom, testRepository } from "./fixture.ts";

const repository = testRepository();
const { root, run } = repository;
after(() => repository.close());
before(async () => {
  for (const id of ["one", "two", "three", "texts"]) await run(["new", `Plan ${id}`, "--id", id, "--todo", "a"]);
});

async function json(args: readonly string[]) {
  const { code, stdout, stderr } = await run([...args, "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

describe("commands without a dispatcher", () => {
  it("status lists all plans and their surroundings", async () => {
    const report = await json(["status"]);
    assert.deepEqual(report.plans.map((plan: { planId: string }) => plan.planId).sort(), [
      "one",
      "texts",
      "three",
      "two",
    ]);
    assert.deepEqual([report.deferred.count, report.dead.count, report.daemon.running], [0, 0, false]);
    const { stdout } = await run(["status"]);
    assert.match(stdout, /^PLAN +STATUS +TODO +CHANGED +WAITS FOR$/m);
    assert.match(stdout, /^one +draft +0\/1 /m);
    assert.match(stdout, /sandbox: none: agents run with your rights/);
    assert.ok(!stdout.includes("\u001b"));
  });

  it("filters by status and age", thorough, async () => {
    assert.match((await run(["status", "--status", "review"])).stdout, /^No plans match/);
    assert.match((await run(["status", "--stale", "1d"])).stdout, /^No plans match/);
  });

  it("changes several plans; one that is wrong does not keep the others from it", async () => {
    assert.deepEqual(await json(["queue", "one", "two"]), { changed: ["one", "two"], failed: [] });
    const { code, stdout, stderr } = await run(["hide", "nope", "one", "--json"]);
    assert.equal(code, 1);
    assert.deepEqual(JSON.parse(stdout).changed, ["one"]);
    assert.match(stderr, /\[plan-not-found\]/);
    const { plans } = await json(["status"]);
    const one = plans.find((plan: { planId: string }) => plan.planId === "one");
    assert.deepEqual([one.status, one.hidden], ["queued", true]);
    await json(["unhide", "one"]);
    await json(["pause", "one"]);
    assert.match((await run(["status"])).stdout, /one +queued, paused/);
    await json(["resume", "one"]);
  });

  it("blocks with a reason that show tells wholly and tables in one line, and unblocks", thorough, async () => {
    await json(["block", "two", `waits for rain\n${"and more rain ".repeat(20)}\nto fall`]);
    assert.match((await run(["status"])).stdout, /^two .*blocked: waits for rain$/m);
    await json(["block", "three", "long ".repeat(100)]);
    const line = /blocked: long .*/.exec((await run(["status"])).stdout)?.[0] ?? "";
    assert.ok(line.length > 100 && line.length <= 160, line);
    const { stdout } = await run(["show", "two"]);
    assert.match(
      stdout,
      /^blocked: waits for rain \(\d+s ago\)\n {2}and more rain .*\n {2}to fall\n {2}hint: `prloom unblock two`/m,
    );
    assert.match((await run(["comment", "two", "It rained."])).stdout, /^two is blocked: .*`prloom unblock two`\.$/m);
    const unblocked = await run(["unblock", "two", "three", "one"]);
    assert.match(
      unblocked.stdout,
      /^two is no longer blocked\.\nthree is no longer blocked\.\none was not blocked\.$/m,
    );
    assert.match(unblocked.stdout, /^No dispatcher is running: .*`prloom start`/m);
    assert.equal((await json(["show", "two"])).blocked, undefined);
  });

  it("deletes no plan by a part of its id where it does not ask", async () => {
    await run(["new", "Plan long", "--id", "quite-long-name", "--todo", "a"]);
    const { code, stderr } = await run(["delete", "quite-long", "--yes"]);
    assert.equal(code, 1);
    assert.match(stderr, /no plan "quite-long"\. \[plan-not-found\]\n {2}hint: Did you mean `quite-long-name`/);
    assert.equal((await run(["delete", "quite-long-name", "--yes"])).code, 0);
  });

  it("takes a part of an id that only one plan begins with", thorough, async () => {
    assert.match((await run(["show", "thr"])).stdout, /^three: draft/m);
    assert.match((await run(["unblock", "thr", "one"])).stdout, /^three was not blocked\.\none was not blocked\.$/m);
    const { code, stderr } = await run(["show", "t"]);
    assert.equal(code, 2);
    assert.match(stderr, /"t" may be any of \d+ plans: .*three, two\. \[usage\]/);
  });

  it("names the plan that was probably meant", thorough, async () => {
    for (const args of [["show"], ["queue"], ["events"], ["delete"]]) {
      const { code, stderr } = await run([...args, "threee"]);
      assert.equal(code, 1);
      assert.match(stderr, /\[plan-not-found\]\n {2}hint: Did you mean `three`\?/, args[0]);
    }
  });

  it("says a comment in the name of git's user", async () => {
    git(root, "config", "user.name", "Ada");
    assert.match((await run(["comment", "one", "please", "hurry"])).stdout, /^No dispatcher is running/m);
    assert.match((await run(["show", "one"])).stdout, /Ada, \d+s ago \(not read yet\)\n {4}please hurry/);
    const { thread } = await json(["show", "one"]);
    assert.deepEqual(
      thread.map(({ author, body }: { author: string; body: string }) => [author, body]),
      [["Ada", "please hurry"]],
    );
    assert.equal((await run(["comment", "one", "--todo", "7", "x"])).code, 2);
    const [event] = await json(["events", "one"]);
    assert.equal(event.data.body, "please hurry");
    assert.ok(event.cursor && event.ts && event.kind);
    assert.match(
      (await run(["events", "one"])).stdout,
      /^[\d-]+ [\d:]+ {2}comment {2}Ada {2}please hurry {2}\[not read yet\]$/m,
    );
    assert.deepEqual(await json(["events"]), []);
  });

  it("has no logs before anything ran", async () => {
    const { code, stderr } = await run(["logs", "one"]);
    assert.equal(code, 1);
    assert.match(stderr, /\[run-not-found\]/);
  });

  it("merges nothing that is not in review, and cleans nothing", async () => {
    assert.match((await run(["merge", "three"])).stderr, /\[plan-state\]/);
    assert.deepEqual(await json(["clean"]), { removed: [], branches: { deleted: [], merged: [] } });
  });

  it("deletes a draft without a question", async () => {
    await json(["new", "Away", "--id", "away"]);
    assert.match((await run(["delete", "awa"])).stderr, /\[plan-not-found\]\n {2}hint: Did you mean `away`\?/);
    const { text } = await json(["delete", "away"]);
    assert.equal((await run(["show", "away"])).code, 1);
    assert.match(readFileSync(text, "utf8"), /^Away$/m);
  });

  it("stops nothing when nothing runs", async () => assert.deepEqual(await json(["stop"]), { stopped: false }));

  it("refuses every change from inside an agent's run", async () => {
    const changes = [
      "init",
      "new x",
      "start",
      "stop",
      "queue one",
      "block one x",
      "unblock one",
      "delete one",
      "clean",
      "edit one",
      "comment one x",
      "merge one",
    ];
    for (const args of someOf(changes, 4)) {
      const { code, stderr } = await run(args.split(" "), { env: { PRLOOM_RUN_ID: "some/1" } });
      assert.equal(code, 2, args);
      assert.match(stderr, /agents cannot change plans \[usage\]/);
    }
    assert.equal((await run(["status"], { env: { PRLOOM_RUN_ID: "some/1" } })).code, 0);
  });
});

describe("edit", () => {
  const editor = (command: string) => ({ env: { EDITOR: command } });

  it("puts the editor's text in, and leaves text that was not changed", async () => {
    assert.match((await run(["edit", "texts"], editor("true"))).stdout, /Nothing was changed/);
    const script = `f() { printf '\\nmore words\\n' >> "$1"; }; f`;
    assert.equal((await run(["edit", "texts"], editor(script))).code, 0);
    assert.match((await json(["show", "texts"])).text, /more words/);
  });

  it("needs an editor or a file", thorough, async () => {
    const { code, stderr } = await run(["edit", "texts"]);
    assert.equal(code, 2);
    assert.match(stderr, /hint: .*--file/);
    assert.equal((await run(["edit", "texts"], editor("false"))).code, 2);
  });

  it("keeps what the person wrote when the text changed meanwhile", thorough, async () => {
    const { planFile } = await json(["show", "texts"]);
    const script = `f() { printf 'mine\\n' >> "$1"; printf 'theirs\\n' >> '${planFile}'; }; f`;
    const { code, stderr } = await run(["edit", "texts"], editor(script));
    assert.equal(code, 1);
    const kept = /Your version is in (\S+) \[revision-conflict\]/.exec(stderr)?.[1];
    assert.match(readFileSync(kept ?? "", "utf8"), /mine\n$/);
    assert.match(readFileSync(planFile, "utf8"), /theirs\n$/);
  });

  it("takes text from standard input, if it is still based on the present one", thorough, async () => {
    const { text, sha256: hash } = await json(["show", "texts"]);
    assert.equal(hash, sha256(text));
    const args = ["edit", "texts", "--stdin", "--based-on", hash];
    assert.equal((await run(args, { input: "## Title\n\nNew\n" })).code, 0);
    assert.match((await run(args, { input: "again\n" })).stderr, /\[revision-conflict\]/);
    assert.equal((await json(["show", "texts"])).title, "New");
  });
});

describe("doctor", () => {
  it("finds a healthy repository healthy", async () => {
    const { code, stdout } = await run(["doctor", "--json"]);
    assert.equal(code, 0, stdout);
    const names = JSON.parse(stdout).map((finding: { name: string }) => finding.name);
    for (const name of [
      "node",
      "git",
      "repository",
      "commits",
      "config",
      "agent test",
      "sandbox",
      "dispatcher",
      "records",
      "disk",
      "plans",
    ]) {
      assert.ok(names.includes(name), name);
    }
  });

  it(
    "advises a git that takes no files for a repository, where a repository cannot say otherwise",
    thorough,
    async (t) => {
      const there = testRepository({});
      t.after(() => there.close());
      git(there.root, "config", "safe.bareRepository", "explicit");
      const { code, stdout } = await there.run(["doctor"]);
      assert.equal(code, 0, stdout);
      assert.match(stdout, /! git settings: .*\n {2}hint: .*`git config --global safe\.bareRepository explicit`/);
      const global = join(there.root, "..", "gitconfig");
      writeFileSync(global, "[safe]\n\tbareRepository = explicit\n");
      const safe = await there.run(["doctor"], { env: { GIT_CONFIG_GLOBAL: global } });
      assert.match(safe.stdout, /✓ git settings: /);
    },
  );

  it("says what is missing and what to do about it", async (t) => {
    const bare = testRepository({ commits: false, config: false });
    t.after(() => bare.close());
    const nothing = await bare.run(["doctor"]);
    assert.equal(nothing.code, 1);
    assert.match(nothing.stdout, /✗ commits: .*\n {2}hint: .*git commit/);
    assert.match(nothing.stdout, /✗ config: .*\n {2}hint: .*prloom init/);
    await bare.run(["init", "--command", "does-not-exist --at-all"]);
    writeFileSync(join(bare.root, "prloom", ".local", "inbox", "Bad Name.md"), "x");
    const { code, stdout } = await bare.run(["doctor"]);
    assert.equal(code, 1);
    assert.match(stdout, /✗ agent does-not-exist: .*was not found/);
    assert.match(stdout, /! plans: .*Bad Name\.md/);
    const outside = await prloom(["doctor"], { cwd: join(bare.root, "..") });
    assert.equal(outside.code, 1);
    assert.match(outside.stdout, /✗ repository/);
  });
});

describe("errors and ends", () => {
  it("calls a bug a bug", () => {
    const error = new TypeError("x is not a function");
    const text = errorLines(error, ["show", "one"]).join("\n");
    assert.equal(exitCodeOf(error), 1);
    assert.match(text, /^error: x is not a function \[internal\]\n {2}This is a bug in prloom/);
    for (const part of ["version:", "node:", "platform:", "command:  prloom show one", "TypeError"])
      assert.ok(text.includes(part), part);
  });

  it("calls a file that may not be used the user's matter, and names it", () => {
    const denied = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES", path: "/some/file" });
    const [first = "", ...more] = errorLines(denied, ["show"]);
    assert.match(first, /^error: .*\/some\/file: permission denied .*\[no-permission\]$/);
    assert.equal(more.length, 1);
    assert.match(more[0] ?? "", /^ {2}hint: .*\/some\/file/);
  });

  it("does not mind when the reader leaves early", async () => {
    const { PRLOOM_RUN_ID: _run, ...env } = process.env;
    const child = spawn(process.execPath, [CLI, "status", "--json"], {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.destroy();
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const code = await new Promise((resolve) => child.once("close", resolve));
    assert.deepEqual([code, stderr], [0, ""]);
  });
});
