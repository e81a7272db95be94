import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { NewAction } from "../../../src/hooks/contexts/event-types.ts";
import type { ProjectOptions } from "../../testing/project.ts";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";
import { type Extended, makeExtended, QUICK } from "../fixtures/extended.ts";

const SOURCE = { system: "tracker", kind: "issue", id: "1" };
const PATIENT = { ...QUICK, hookTimeout: "60s" };
const HUB = { hub: { module: "./plugins/feed.ts", config: { name: "hub" } } };
const ACTOR = { alpha: { module: "./plugins/actor.ts", config: { name: "alpha", only: ["onEvent"] } } };

describe("plugins around the steps of a plan", { concurrency: 2 }, () => {
  const fresh = projectMaker(makeExtended);

  /** Each plugin is a file with this text. */
  function extended(options: ProjectOptions, plugins: Readonly<Record<string, string>> = {}): Extended {
    const project = fresh(options);
    for (const [file, text] of Object.entries(plugins)) writeFileSync(join(project.root, "plugins", file), text);
    if (Object.keys(plugins).length > 0) project.commit();
    return project;
  }

  function reviewer(project: Extended, script: string): void {
    const { agents, stages } = project.config() as { agents: object; stages: object };
    // Its script talks to the test through files that a sandbox hides.
    const agent = { adapter: "command", command: "sh", args: ["-c", script], sandbox: "none" };
    project.config({ agents: { ...agents, reviewer: agent }, stages: { ...stages, reviewer: "reviewer" } });
    project.commit();
  }

  function upsert(id: string, todos: readonly string[]): NewAction {
    const planMarkdown = `## Title\n\nPlan one\n\n## TODO\n\n${todos.map((todo) => `- [ ] ${todo}\n`).join("")}`;
    const source = { ...SOURCE, id };
    return { target: { target: "prloom-core" }, payload: { type: "upsert_plan", source, planMarkdown } };
  }

  test("what a reviewer changes is put aside, also when the dispatcher dies under it", thorough, async () => {
    const plugins = { rev: { module: "./plugins/rev.ts" } };
    const project = extended(
      { config: { checks: ["test ! -e evil.txt"], plugins, bus: PATIENT } },
      { "rev.ts": `export default () => ({ async afterTodo(_, ctx) { await ctx.runAgent("Review it."); } });` },
    );
    reviewer(project, `cat; rm -f README.md; echo hacked > evil.txt; echo more >> work.txt`);
    project.plan("one", ["first"]);
    const killed = await project.work({ PRLOOM_CRASH_AT: "hook-agent:restored" });
    assert.notEqual(killed.code, 0);
    const worked = await project.work();
    assert.match(worked.stdout, /agent changed files; put aside/);
    assert.equal(project.record("one").status, "review");
    assert.deepEqual(project.git("show", "--format=", "--name-only", "prloom/one").trim().split("\n"), ["work.txt"]);
    assert.equal(project.git("show", "prloom/one:work.txt"), "first\n");
  });

  test("what a worker of a plugin leaves uncommitted is told, with names, however it ended", thorough, async () => {
    const hook = `async beforeFinish(_, ctx) { await ctx.runAgent("Tidy up.", { stage: "worker" }); }`;
    const project = extended(
      { config: { plugins: { tidy: { module: "./plugins/tidy.ts" } }, bus: PATIENT } },
      { "tidy.ts": `export default () => ({ ${hook} });` },
    );
    const { agents, stages } = project.config() as {
      agents: Record<string, { command: string; args?: string[] }>;
      stages: { default: string };
    };
    const { command, args = [], ...rest } = agents[stages.default] ?? assert.fail();
    const left = `cat > /dev/null; echo x > left.txt; test "$PRLOOM_PLAN_ID" = one`;
    const script = `case "$PRLOOM_RUN_ID" in */hooks/*) ${left} ;; *) exec "$@" ;; esac`;
    const worker = { ...rest, command: "sh", args: ["-c", script, "sh", command, ...args] };
    project.config({ agents: { ...agents, worker }, stages: { ...stages, worker: "worker" } });
    project.commit();
    for (const id of ["one", "failing"]) project.plan(id, ["first"]);
    const { stdout } = await project.work();
    for (const id of ["one", "failing"]) {
      const told = ` ${id}  a plugin's agent left changes uncommitted: left\\.txt; the plan's next commit takes them`;
      assert.match(stdout, new RegExp(told));
    }
    assert.match(project.record("failing").blocked?.reason ?? "", /failed in beforeFinish: the agent ended with 1/);
  });

  test("a kill in the middle of a reviewer leaves nothing of it in the commit", thorough, async () => {
    const plugins = { rev: { module: "./plugins/rev.ts" } };
    const text = `import { existsSync } from "node:fs";
      export default () => ({ async afterTodo(_, ctx) {
        if (!existsSync(process.env.OUTSIDE + "/later")) await ctx.runAgent("Review it.");
      } });`;
    const project = extended({ config: { plugins, bus: PATIENT } }, { "rev.ts": text });
    reviewer(project, `echo hacked > evil.txt; touch ${project.outside}/dirty; sleep 60`);
    project.plan("one", ["first"]);
    const daemon = await project.start();
    await waitFor(() => existsSync(join(project.outside, "dirty")));
    await daemon.end("SIGKILL");
    writeFileSync(join(project.outside, "later"), "");
    await project.work();
    assert.equal(project.record("one").status, "review");
    assert.deepEqual(project.git("show", "--format=", "--name-only", "prloom/one").trim().split("\n"), ["work.txt"]);
  });

  test(
    "after a kill under a reviewer a person's commit stays, and a lost worktree stops no other plan",
    thorough,
    async () => {
      const plugins = { rev: { module: "./plugins/rev.ts" } };
      const text = `import { existsSync } from "node:fs";
      export default () => ({ async afterFinish(_, ctx) {
        if (!existsSync(process.env.OUTSIDE + "/later")) await ctx.runAgent("Review it.");
      } });`;
      const project = extended({ config: { plugins, bus: PATIENT } }, { "rev.ts": text });
      reviewer(project, `touch ${project.outside}/at-$PRLOOM_PLAN_ID; sleep 60`);
      for (const id of ["one", "two"]) project.plan(id, ["first"]);
      const daemon = await project.start();
      await waitFor(() => ["one", "two"].every((id) => existsSync(join(project.outside, `at-${id}`))));
      await daemon.end("SIGKILL");
      writeFileSync(join(project.worktree("one"), "person.txt"), "mine\n");
      const inOne = ["-C", project.worktree("one"), "-c", "user.name=Ada", "-c", "user.email=ada@localhost"];
      project.git(...inOne, "add", "person.txt");
      project.git(...inOne, "commit", "-qm", "A person's commit");
      rmSync(project.worktree("two"), { recursive: true });
      writeFileSync(join(project.outside, "later"), "");
      project.plan("three", ["first"]);
      assert.equal((await project.work()).code, 0);
      assert.equal(project.git("log", "-1", "--format=%s", "prloom/one").trim(), "A person's commit");
      assert.equal(readFileSync(join(project.worktree("one"), "person.txt"), "utf8"), "mine\n");
      assert.equal(project.record("three").status, "review");
    },
  );

  test(
    "what a reviewer leaves read-only is put back, and a repository inside is an ordinary folder",
    thorough,
    async () => {
      const plugins = { rev: { module: "./plugins/rev.ts" } };
      const text = `import { execSync } from "node:child_process";
      export default () => ({ async afterTodo(_, ctx) {
        execSync("git init -q lib && echo mine > lib/mine.txt", { cwd: ctx.worktree });
        await ctx.runAgent("Review it.");
      } });`;
      const project = extended({ config: { plugins, bus: PATIENT } }, { "rev.ts": text });
      reviewer(project, `mkdir ro && echo junk > ro/f && chmod 555 ro; git commit -qam hacked --allow-empty; cat`);
      project.plan("one", ["first"]);
      await project.work();
      assert.equal(project.record("one").status, "review");
      const worktree = project.worktree("one");
      assert.ok(existsSync(join(worktree, "lib", "mine.txt")));
      assert.ok(!existsSync(join(worktree, "lib", ".git")), "a person's git would run what its settings say");
      assert.ok(!existsSync(join(worktree, "ro")));
      assert.deepEqual(project.git("show", "--format=%s", "--name-only", "prloom/one").trim().split(/\n+/), [
        "first",
        "lib/mine.txt",
        "work.txt",
      ]);
    },
  );

  test("what a plugin changes after a TODO is checked again, without asking it again", thorough, async () => {
    const plugins = { fmt: { module: "./plugins/fmt.ts" } };
    const text = `import { appendFileSync } from "node:fs";
      export default () => ({ afterTodo(_, ctx) {
        appendFileSync(process.env.OUTSIDE + "/calls", "x");
        appendFileSync(ctx.worktree + "/formatted.txt", "yes\\n");
      } });`;
    const project = extended({ config: { checks: [`echo >> "$HOME/checked"; true`], plugins } }, { "fmt.ts": text });
    project.plan("one", ["first"]);
    await project.work();
    assert.equal(project.git("show", "prloom/one:formatted.txt"), "yes\n");
    assert.equal(readFileSync(join(project.outside, "calls"), "utf8"), "x");
    project.config({ checks: ["test ! -e formatted.txt"], limits: { attemptsPerTodo: 1 } });
    project.commit();
    project.plan("two", ["second"]);
    await project.work();
    assert.match(project.record("two").blocked?.reason ?? "", /check failed/);
  });

  test("a TODO that beforeTodo rewords is the one that is done", thorough, async () => {
    const plugins = { stamp: { module: "./plugins/stamp.ts" } };
    const text = `export default () => ({ beforeTodo: (plan, ctx) =>
      plan.replace("- [ ] " + ctx.todo, "- [ ] " + ctx.todo + " (begun)") });`;
    const project = extended({ config: { plugins } }, { "stamp.ts": text });
    project.plan("one", ["first", "second"]);
    await project.work();
    assert.match(project.planText("one"), /- \[x\] first \(begun\)\n- \[x\] second \(begun\)/);
    assert.equal(project.record("one").runs, 2);
  });

  test("a TODO that beforeTodo takes away blocks the plan", thorough, async () => {
    const plugins = { gone: { module: "./plugins/gone.ts" } };
    const text = `export default () => ({ beforeTodo: (plan) => plan.replace(/- \\[ \\] .*\\n/, "") });`;
    const project = extended({ config: { plugins } }, { "gone.ts": text });
    project.plan("one", ["first"]);
    await project.work();
    assert.match(project.record("one").blocked?.reason ?? "", /"first" is no longer there/);
  });

  test("a round that one plugin ends is not repeated by those before it", thorough, async () => {
    const plugins = { aa: { module: "./plugins/aa.ts" }, bb: { module: "./plugins/bb.ts" } };
    const bb = `import { existsSync } from "node:fs"; export default () => ({ beforeTodo() {
      if (!existsSync(process.env.OUTSIDE + "/repaired")) throw new Error("not yet"); } });`;
    const project = extended(
      { config: { plugins } },
      { "aa.ts": `export default () => ({ beforeTodo: (plan) => plan + "\\nseen by aa\\n" });`, "bb.ts": bb },
    );
    project.plan("one", ["first"]);
    for (let round = 0; round < 3; round += 1) {
      await project.work();
      assert.match(project.record("one").blocked?.reason ?? "", /plugin bb failed in beforeTodo: not yet/);
      await project.type("unblock", "one");
    }
    writeFileSync(join(project.outside, "repaired"), "");
    await project.work();
    assert.equal(project.record("one").status, "review");
    assert.equal(project.planText("one").match(/seen by aa/g)?.length, 1);
    const state = readFileSync(join(project.authority, "plans/one/bus/state/dispatcher.json"), "utf8");
    assert.deepEqual(JSON.parse(state).results, {});
  });

  test("delete does not wait for a plugin that hangs", thorough, async () => {
    const plugins = { slow: { module: "./plugins/slow.ts" } };
    const text = `import { writeFileSync } from "node:fs"; export default () => ({ async beforeTodo() {
      writeFileSync(process.env.OUTSIDE + "/hangs", ""); await new Promise(() => {}); } });`;
    const project = extended({ config: { plugins, bus: { ...QUICK, hookTimeout: "10m" } } }, { "slow.ts": text });
    project.plan("one", ["first"]);
    const daemon = await project.start();
    await waitFor(() => existsSync(join(project.outside, "hangs")));
    await project.type("delete", "one", "--yes");
    await daemon.end();
  });

  test("agents of plugins count as agents, and one worktree has one", thorough, async () => {
    const feed = { feed: { module: "./plugins/feed.ts", config: { name: "feed" } } };
    const project = extended({
      config: { limits: { maxRunningAgents: 1 }, plugins: ACTOR, bridges: feed, bus: PATIENT },
    });
    reviewer(project, `echo begin >> ${project.outside}/runs; sleep 0.3; echo end >> ${project.outside}/runs; cat`);
    const ids = ["one", "two", "three"];
    for (const id of ids) project.plan(id, ["first"]);
    await project.work();
    for (const id of ids) project.feed("feed", id, { id: "e1", body: "alpha: agent hello" });
    await project.work();
    const runs = readFileSync(join(project.outside, "runs"), "utf8");
    assert.equal(runs, "begin\nend\n".repeat(3));
  });

  test("an upsert that came during the run of a plugin's agent is merged when that ends", thorough, async () => {
    const feed = { feed: { module: "./plugins/feed.ts", config: { name: "feed" } } };
    const project = extended({ config: { plugins: ACTOR, bridges: feed, globalBridges: HUB, bus: PATIENT } });
    reviewer(project, `touch ${project.outside}/begun; while [ ! -e ${project.outside}/go ]; do sleep 0.05; done; cat`);
    project.plan("one", ["first"], { status: "queued", source: SOURCE });
    await project.work();
    project.feed("feed", "one", { id: "e1", body: "alpha: agent hello" });
    const working = project.work();
    await waitFor(() => existsSync(join(project.outside, "begun")));
    project.feedActions("hub", undefined, upsert("1", ["first", "second"]));
    await waitFor(() => journalOf(project).includes("is being worked on"));
    writeFileSync(join(project.outside, "go"), "");
    assert.equal((await working).code, 0);
    assert.match(project.planText("one"), /- \[x\] second/);
    assert.equal(project.record("one").status, "review");
  });

  test("a plan that let an upsert go first goes on, whatever source the upsert had", thorough, async () => {
    const alias = `export default () => ({ beforeUpsert: (payload) =>
      ({ proceed: true, payload: { ...payload, source: { ...payload.source, id: "1" } } }) });`;
    const globalPlugins = { alias: { module: "./plugins/alias.ts" } };
    const project = extended(
      { env: { STEP_MS: "300" }, config: { globalPlugins, globalBridges: HUB } },
      { "alias.ts": alias },
    );
    project.plan("one", ["[slow] first", "second"], { status: "queued", source: SOURCE });
    const daemon = await project.start();
    await daemon.said("one", /worker started/);
    project.feedActions("hub", undefined, upsert("alias-1", ["[slow] first", "second", "third"]));
    await daemon.said("one", /in review/);
    await daemon.end();
    assert.match(project.planText("one"), /- \[x\] third/);
  });

  test(
    "a plan with words that a plugin put off is not merged; they do not wait for one that is taken out",
    thorough,
    async () => {
      const plugins = { later: { module: "./plugins/later.ts" } };
      const text = `export default () => ({ onEvent: (event, ctx) => ctx.markEventDeferred(event.id, "not now", 3_600_000) });`;
      const project = extended({ config: { plugins } }, { "later.ts": text });
      project.plan("one", ["first"]);
      await project.work();
      await project.type("comment", "one", "please make three");
      await project.work();
      const merged = await project.cli(["merge", "one"]);
      assert.equal(merged.code, 1);
      assert.match(merged.stderr, /1 unanswered comment\. .*\n.*A plugin put it off: `prloom status` says which one/);
      assert.match(await project.type("status"), /^one .* an unanswered comment that a plugin put off$/m);
      project.config({ plugins: {} });
      await project.work();
      assert.match(project.planText("one"), /- \[x\] make three/);
    },
  );
});

function journalOf(project: Extended): string {
  const file = join(project.authority, "bus", "settled.jsonl");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/** For what only a file tells; a test that fails waits for a minute. */
async function waitFor(isThere: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1200; tries += 1) {
    if (isThere()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("it never happened");
}
