import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { projectMaker } from "../../../testing/projects.ts";
import { oneOf } from "../../../testing/sample.ts";
import { thorough } from "../../../testing/thorough.ts";

const TODO = "## Title\n\nA plan\n\n## TODO\n\n- [ ] one\n";

describe("bad input", { concurrency: 2 }, () => {
  const fresh = projectMaker();

  test("a broken config is an error with line, key and nearest spelling, and starts nothing", async () => {
    const project = fresh();
    project.plan("waits", ["one"]);
    const file = join(project.root, "prloom", "config.json");
    const good = readFileSync(file, "utf8");
    const cases: readonly [config: string, ...expected: RegExp[]][] = [
      [good.replace('"stages"', '"agents": {},\n  "stages"'), /config\.json:\d+:3\s+agents: is given twice/],
      [good.replace(/,\n {2}"stages"/, '\n  "stages"'), /config\.json:\d+:3\s+a comma is missing/],
      [good.replace('"limits"', '"limts"'), /config\.json:\d+:3\s+limts: unknown key/, /did you mean limits\?/],
      [good.replace('"200ms"', '"2 hours"'), /config\.json:\d+:5\s+limits\.stopGrace: .*unit \(ms, s, m, h, d\)/],
      [good.replace('"default": "test"', '"default": "tset"'), /stages\.default: .*"tset"/, /did you mean test\?/],
      ["", /config\.json:1:1/],
    ];
    for (const [config, ...expected] of oneOf(cases)) {
      writeFileSync(file, config);
      const result = await project.work();
      assert.equal(result.code, 1, config);
      assert.match(result.stderr, /^error: prloom\/config\.json has .*\[config-invalid\]$/m);
      assert.match(result.stderr, /^ {2}hint: .*`prloom doctor`/m);
      for (const pattern of expected) assert.match(result.stderr, pattern);
      assert.equal(existsSync(project.authority), false);
    }
    rmSync(file);
    const result = await project.work();
    assert.equal(result.code, 1);
    assert.match(result.stderr, /\[config-missing\]\n {2}hint: .*`prloom init`/);
    assert.equal(existsSync(project.authority), false);
    assert(existsSync(join(project.inbox, "waits.md")));
  });

  test("what cannot become a plan is named, what is odd but right is worked on, and the others go on", async () => {
    const project = fresh({ config: { limits: { maxRunningAgents: 4 } } });
    const source = { system: "github", kind: "issue", id: "o/r#1" };
    const put = (name: string, text: string | Uint8Array) => writeFileSync(join(project.inbox, name), text);
    project.plan("good", ["make one", "make two"]);
    project.plan("first-of-source", ["one"], { status: "queued", source });
    project.plan("second-of-source", ["one"], { status: "queued", source });
    project.planFile("crlf", TODO.replaceAll("\n", "\r\n"));
    project.planFile("bom", `\uFEFF${TODO}`);
    project.planFile("latin", Buffer.from(`${TODO}\nGr\xf6\xdfe\n`, "latin1"));
    project.planFile("empty", "");
    project.planFile("wrong-key", TODO, { status: "queued", priority: 1 });
    project.planFile("wrong-status", TODO, { status: "active" });
    project.planFile("wrong-agent", TODO, { status: "queued", metadata: { agent: "tset" } });
    project.planFile("greedy", TODO, { status: "queued", metadata: { limits: { attemptsPerTodo: 99 } } });
    put("broken-json.json", "{ status: queued");
    put("broken-json.md", TODO);
    put("no-text.json", '{"status":"queued"}');
    put("Not An Id.md", TODO);
    put(".swap.md", TODO); // what editors leave is not a plan
    put("a..b.md", TODO);
    project.planFile("utf-16", Buffer.from(`\ufeff${TODO}`, "utf16le"));
    put(`${"x".repeat(80)}.md`, TODO);
    mkdirSync(join(project.inbox, "folder.md"));
    const elsewhere = join(project.home, "elsewhere.md");
    writeFileSync(elsewhere, TODO);
    symlinkSync(elsewhere, join(project.inbox, "link.md"));
    put("link.json", '{"status":"queued"}');
    put("folder.json", '{"status":"queued"}');
    put("README", "not a plan\n");

    const before = await project.status();
    assert.equal(before.plans.find((plan) => plan.planId === "broken-json")?.blocked?.cause, "inbox");
    const hintOf = (id: string, { plans }: typeof before) => plans.find((plan) => plan.planId === id)?.blocked?.hint;
    assert.match(hintOf("folder", before) ?? "", /Fix prloom\/\.local\/inbox\/folder\.md/);
    const result = await project.work();
    assert.equal(result.code, 0, result.stderr + result.stdout);
    const report = await project.status();
    assert.match(hintOf("folder", report) ?? "", /Fix prloom\/\.local\/inbox\/folder\.md/);
    assert.match(hintOf("broken-json", report) ?? "", /Fix prloom\/\.local\/inbox\/broken-json\.json/);
    const plans = new Map(report.plans.map((plan) => [plan.planId, plan]));
    const blocked = (id: string) => plans.get(id)?.blocked?.reason ?? `not blocked: ${JSON.stringify(plans.get(id))}`;

    assert.deepEqual(project.commits("good"), ["make one", "make two"]);
    for (const id of ["good", "crlf", "bom", "latin", "empty"]) assert.equal(plans.get(id)?.status, "review", id);
    assert.match(project.planText("crlf"), /- \[x\] one\r\n$/);
    assert.match(project.planText("bom"), /^\uFEFF## Title\n/);
    assert.deepEqual(project.commits("empty"), ["designed one", "designed two"]);

    const [one, two] = ["first-of-source", "second-of-source"];
    assert.equal(plans.get(one)?.status, "review");
    assert.match(blocked(two), /first-of-source is already the plan for github issue o\/r#1/);
    assert.match(blocked("wrong-key"), /priority/);
    assert.match(blocked("wrong-status"), /status/);
    assert.match(blocked("wrong-agent"), /no agent called "tset".*did you mean test/);
    assert.match(blocked("greedy"), /limits\.attemptsPerTodo: 99 is more than the 3/);
    assert.match(blocked("broken-json"), /broken-json\.json cannot be read/);
    assert.match(blocked("utf-16"), /not UTF-8 but another encoding, UTF-16 it seems: save it as UTF-8/);
    assert.match(blocked("folder"), /folder\.md is not a regular file/);
    assert.match(blocked("link"), /link\.md is not a regular file/);
    assert.equal(plans.get("no-text")?.status, "queued");
    assert.match(plans.get("no-text")?.waiting ?? "", /no plan text yet/);
    const named = report.problems.map((problem) => problem.file).sort();
    assert.deepEqual(named, ["Not An Id.md", "a..b.md", `${"x".repeat(80)}.md`].sort());
    for (const problem of report.problems)
      assert.match(problem.hint, /Rename it, .*at most 64, .*no `\.\.`, and neither `\.` nor `\.lock` at the end/);
    assert.equal(readFileSync(elsewhere, "utf8"), TODO);

    put("broken-json.json", '{"status":"queued"}');
    put("good.md", TODO);
    const again = await project.work();
    assert.equal(again.code, 0, again.stderr);
    assert.equal(project.record("broken-json").status, "review");
    const taken = (await project.status()).problems.find((problem) => problem.file === "good.md");
    assert.match(taken?.reason ?? "", /id in use/);
    assert.deepEqual(project.commits("good"), ["make one", "make two"]);
    assert.equal(readFileSync(join(project.inbox, "good.md"), "utf8"), TODO);
  });

  test("an id that climbs out of the inbox is refused wherever it is given", thorough, async () => {
    const project = fresh();
    const climbing = ["../../evil", "..", "/tmp/evil", ""];
    for (const id of climbing) {
      const made = await project.cli(["new", "A plan", "--id", id, "--todo", "one"]);
      assert.equal(made.code, 2, `${id}: ${made.stdout}`);
      assert.match(made.stderr, /\[id-invalid\]\n {2}hint: /);
    }
    const titled = await project.cli(["new", "../../etc/passwd", "--json"]);
    assert.equal(titled.code, 0, titled.stderr);
    assert.match(JSON.parse(titled.stdout).plan, /^[a-z0-9][a-z0-9._-]*$/);
    for (const command of ["show", "hide"]) {
      const result = await project.cli([command, "../../../config"]);
      assert.equal(result.code, 1);
      assert.match(result.stderr, /\[plan-not-found\]/);
    }
    assert.deepEqual(project.git("status", "--porcelain"), "");
  });

  test(
    "a worktree that a person deleted blocks its plan; unblock makes it again and it finishes",
    thorough,
    async () => {
      const project = fresh();
      project.plan("gone", ["one"]);
      project.plan("beside", ["one"]);
      await project.work();
      const { worktree = "" } = project.record("gone");
      rmSync(worktree, { recursive: true });
      await project.work();
      const { blocked, status } = project.record("gone");
      assert.match(blocked?.reason ?? "", /Its worktree is missing/);
      assert.match(blocked?.hint ?? "", /`prloom unblock gone` makes it again from branch prloom\/gone/);
      assert.equal(status, "review");
      assert.equal(existsSync(worktree), false);
      assert.equal(project.record("beside").blocked, undefined);

      assert.equal((await project.cli(["unblock", "gone"])).code, 0);
      assert.equal((await project.cli(["comment", "gone", "please make two"])).code, 0);
      const result = await project.work();
      assert.equal(project.record("gone").blocked, undefined, result.stdout);
      assert.equal(project.record("gone").status, "review");
      assert.deepEqual(project.commits("gone"), ["one", "make two"]);
      assert.equal(readFileSync(join(worktree, "work.txt"), "utf8"), "one\nmake two\n");
    },
  );

  test(
    "a branch that exists blocks its plan; after it was renamed and unblocked the plan finishes",
    thorough,
    async () => {
      const project = fresh();
      project.git("branch", "prloom/taken", "main");
      const before = project.git("rev-parse", "prloom/taken");
      project.plan("taken", ["one"]);
      project.plan("beside", ["one"]);
      await project.work();
      const { blocked } = project.record("taken");
      assert.match(blocked?.reason ?? "", /branch prloom\/taken exists already, and prloom did not make it/);
      assert.match(blocked?.hint ?? "", /git branch -m prloom\/taken <other>.*prloom unblock taken/);
      assert.equal(project.git("rev-parse", "prloom/taken"), before);
      assert.equal(project.record("beside").status, "review");
      project.git("branch", "-m", "prloom/taken", "mine");
      assert.equal((await project.cli(["unblock", "taken"])).code, 0);
      const result = await project.work();
      assert.equal(project.record("taken").status, "review", result.stdout);
      assert.deepEqual(project.commits("taken"), ["one"]);
      assert.equal(project.git("rev-parse", "mine"), before);
    },
  );

  test("a state file that cannot be read is reported and left alone, and the others go on", thorough, async () => {
    const project = fresh();
    for (const id of ["torn", "newer", "strange", "good"]) project.plan(id, ["one"], { status: "draft" });
    await project.work();
    const file = (id: string) => join(project.authority, "plans", id, "state.json");
    const record = readFileSync(file("newer"), "utf8");
    const bad = {
      torn: record.slice(0, 40),
      newer: record.replace(/"schemaVersion": \d+/, '"schemaVersion": 99'),
      strange: record.replace('"draft"', '"sleeping"'),
    };
    for (const [id, text] of Object.entries(bad)) writeFileSync(file(id), text);
    for (const id of Object.keys(bad)) writeFileSync(join(project.inbox, `${id}.json`), '{"status":"queued"}');
    // Not even its home can be made: something else lies there.
    writeFileSync(join(project.authority, "plans", "a-file"), "not a folder\n");
    project.plan("a-file", ["one"]);
    project.plan("later", ["one"]);
    assert.equal((await project.cli(["queue", "good"])).code, 0);
    const result = await project.work();
    assert.match(result.stdout, /a-file.*taking it from the inbox failed/);
    assert.deepEqual(project.commits("later"), ["one"]);
    assert.equal(result.code, 0, result.stderr);
    assert.deepEqual(project.commits("good"), ["one"]);
    const { problems } = await project.status();
    const reasonOf = (id: string) => problems.find((problem) => problem.file === file(id))?.reason ?? "";
    assert.match(reasonOf("torn"), /state\.json cannot be used/);
    assert.match(reasonOf("newer"), /has format 99; this prloom knows format \d+/);
    assert.match(reasonOf("strange"), /state\.json cannot be used: status: .+draft[^\n]+$/);
    assert.match(result.stdout, /has format 99/);
    for (const end of ["md", "json"]) rmSync(join(project.inbox, `strange.${end}`));
    for (const command of ["show", "delete"]) {
      assert.match((await project.cli([command, "strange"])).stderr, /state\.json cannot be used: status: /);
    }
    for (const [id, text] of Object.entries(bad)) assert.equal(readFileSync(file(id), "utf8"), text);
    // What was torn may have been at work: no one is told to remove its worktree.
    for (const name of ["torn", "nobodys"]) mkdirSync(join(project.root, "prloom/.local/worktrees", name));
    const { stdout } = await project.cli(["doctor"]);
    assert.match(
      stdout,
      /worktrees\/torn seems to belong to torn, whose record.*\n.*Keep it until .*torn\/state\.json/,
    );
    assert.match(stdout, /If you do not need it: git worktree remove --force .*\/nobodys\n/);
    assert.doesNotMatch(stdout, /--force .*\/torn\n/);
    for (const name of ["torn", "nobodys"])
      rmSync(join(project.root, "prloom/.local/worktrees", name), { recursive: true });
    assert.equal((await project.cli(["hide", "newer"])).code, 1);
    assert.equal(readFileSync(file("newer"), "utf8"), bad.newer);

    writeFileSync(
      file("torn"),
      JSON.stringify({ ...JSON.parse(record), id: "torn", uid: "01ZZZZZZZZZZZZZZZZZZZZZZZZ" }),
    );
    await project.work();
    assert.deepEqual(project.commits("torn"), ["one"]);
  });

  test(
    "a plan text that vanished from its home blocks its plan, and edit with unblock fixes it",
    thorough,
    async () => {
      const project = fresh();
      for (const id of ["lost", "beside"]) project.plan(id, ["one"]);
      await project.work();
      for (const id of ["lost", "beside"])
        assert.equal((await project.cli(["comment", id, "please make two"])).code, 0);
      const text = project.planText("lost");
      rmSync(join(project.authority, "plans", "lost", "plan.md"));
      await project.work();
      assert.match(project.record("lost").blocked?.reason ?? "", /plan\.md is missing or unreadable/);
      assert.match(project.record("lost").blocked?.hint ?? "", /prloom edit lost --file.*prloom unblock lost/);
      assert.deepEqual(project.commits("beside"), ["one", "make two"]);
      writeFileSync(join(project.home, "kept.md"), text);
      assert.equal((await project.cli(["edit", "lost", "--file", join(project.home, "kept.md")])).code, 0);
      assert.equal((await project.cli(["unblock", "lost"])).code, 0);
      await project.work();
      assert.deepEqual(project.commits("lost"), ["one", "make two"]);
    },
  );

  test("outside a repository, and in one without commits, it says so", thorough, async () => {
    const project = fresh();
    rmSync(join(project.root, ".git"), { recursive: true });
    const result = await project.cli(["status"]);
    assert.equal(result.code, 1);
    assert.match(result.stderr, /\[not-a-repository\]\n {2}hint: /);
    project.git("init", "-q", "-b", "main");
    project.plan("early", ["one"]);
    const early = await project.work();
    assert.equal(early.code, 0, early.stderr);
    assert.match(project.record("early").blocked?.reason ?? "", /no commit/i);
    assert.match(project.record("early").blocked?.hint ?? "", /prloom unblock early/);
  });
});
