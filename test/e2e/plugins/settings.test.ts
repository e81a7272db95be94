import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Project, TEST_AGENT } from "../../testing/project.ts";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

const agent = (env: Record<string, string> = {}) => ({ command: process.execPath, args: [TEST_AGENT], env });

describe("what a repository and a plan can set", { concurrency: 2 }, () => {
  const fresh = projectMaker();
  test("presets, and the plan's own agent, model and limits", thorough, async () => {
    const project = fresh({
      config: {
        agents: { test: agent({ WHO: "test" }), other: { ...agent({ WHO: "other" }), model: "small" } },
        presets: {
          careful: { stages: { default: "other" }, checks: ["test -f work.txt"], limits: { attemptsPerTodo: 1 } },
        },
      },
    });
    project.plan("plain", ["one"]);
    project.plan("careful", ["one", "[no-tick] two"], { status: "queued", metadata: { preset: "careful" } });
    project.plan("own", ["one"], { status: "queued", metadata: { agent: "other", model: "large" } });
    project.plan("short", ["[no-tick] one"], { status: "queued", metadata: { limits: { attemptsPerTodo: 2 } } });
    project.plan("named", ["one"], { status: "queued", metadata: { branch: "feature/named" } });
    await project.work();
    const who = (id: string) => [project.environment(id, 1).WHO, project.environment(id, 1).PRLOOM_MODEL];
    assert.deepEqual(who("plain"), ["test", undefined]);
    assert.deepEqual(who("careful"), ["other", "small"]);
    assert.deepEqual(who("own"), ["other", "large"]);
    assert.match(project.record("careful").blocked?.reason ?? "", /TODO 2 failed after 1 attempt/);
    assert.match(project.record("short").blocked?.reason ?? "", /TODO 1 failed after 2 attempts/);
    assert(existsSync(join(project.authority, "plans", "careful", "runs", "1", "checks", "0", "exit.json")));
    assert.equal(project.record("named").branch, "feature/named");
    assert.equal(project.git("log", "--format=%s", "main..feature/named"), "one\n");
  });

  test("a check that fails is told to the next attempt, and nothing is committed before it passes", async () => {
    const check = "test -f ok.txt || { echo the check says no; exit 3; }";
    const project = fresh({ config: { checks: [check] } });
    project.plan("checked", ["[obeys] one", "two"]);
    project.plan("stubborn", ["one"], { status: "queued", metadata: { limits: { attemptsPerTodo: 2 } } });
    await project.work();
    assert.deepEqual(project.commits("checked"), ["[obeys] one", "two"]);
    const prompt = project.runFile("checked", 2, join("agent", "prompt.txt"));
    assert.match(prompt, /not accepted.*A check failed\..*ended with 3\..*the check says no/s);
    assert.equal(project.git("show", "prloom/checked~1:ok.txt"), "ok\n");
    const { blocked } = project.record("stubborn");
    assert.match(blocked?.reason ?? "", /failed after 2 attempts\. A check failed.*the check says no/s);
    assert.deepEqual(project.commits("stubborn"), []);
    assert.match(project.planText("stubborn"), /- \[ \] one/);
  });

  test("copyFiles are there for agents and checks, and are never committed", async () => {
    const project = fresh({ config: { copyFiles: [".env", "missing.txt"], checks: ["grep -q SECRET .env"] } });
    writeFileSync(join(project.root, ".env"), "SECRET=1\n");
    project.plan("copied", ["one", "[changes-env] two"]);
    const result = await project.work();
    assert.equal(project.record("copied").status, "review", result.stdout);
    assert.match(result.stdout, /copyFiles: missing\.txt does not exist/);
    assert.doesNotMatch(project.git("ls-tree", "-r", "--name-only", "prloom/copied"), /\.env/);
    assert.equal(readFileSync(join(project.root, ".env"), "utf8"), "SECRET=1\n");
  });

  test("initCommands prepare the worktree; one that fails blocks the plan until it is fixed", thorough, async () => {
    const project = fresh({
      config: { initCommands: ["echo ready > .git-is-a-file; test -f .git", "echo broken; exit 4"] },
    });
    project.plan("prepared", ["one"]);
    await project.work();
    const { blocked, status } = project.record("prepared");
    assert.match(
      blocked?.reason ?? "",
      /An initCommand failed: `echo broken; exit 4` ended with 4\.\nThe end of its output:\nbroken/,
    );
    assert.match(blocked?.hint ?? "", /prloom unblock prepared/);
    assert.equal(status, "queued");
    project.config({ initCommands: ["echo ready > ready.txt"] });
    assert.equal((await project.cli(["unblock", "prepared"])).code, 0);
    const result = await project.work();
    assert.equal(project.record("prepared").status, "review", result.stdout);
    const files = project.git("ls-tree", "-r", "--name-only", "prloom/prepared");
    assert.match(files, /^work\.txt$/m);
    // The half prepared tree was thrown away, not built upon.
    assert.doesNotMatch(files, /git-is-a-file/);
  });

  test(
    "a prompt of the repository's own replaces ours; a broken one blocks and names the words there are",
    thorough,
    async () => {
      const project = fresh();
      const prompts = join(project.root, "prloom", "prompts");
      mkdirSync(prompts);
      writeFileSync(join(prompts, "worker.md"), "Only this: {{todo}} ({{todoNumber}})\n");
      project.plan("own", ["make <b> & {{plan}}"]);
      await project.work();
      assert.equal(project.runFile("own", 1, join("agent", "prompt.txt")), "Only this: make <b> & {{plan}} (1)\n");
      writeFileSync(join(prompts, "worker.md"), "{{toodo}}\n");
      project.plan("typo", ["one"]);
      await project.work();
      assert.match(project.record("typo").blocked?.reason ?? "", /stage worker uses \{\{toodo\}\}/);
      assert.match(project.record("typo").blocked?.hint ?? "", /\{\{todo\}\}.*prloom unblock typo/s);
    },
  );

  test("agents and checks get an allow-list of the environment and nothing of ours", async () => {
    const project = fresh({ env: { MINE: "given" }, config: { checks: ["env > seen-by-check.txt"] } });
    project.plan("closed", ["one"]);
    const secrets = { GITHUB_TOKEN: "ghp_x", AWS_SECRET_ACCESS_KEY: "y", SSH_AUTH_SOCK: "/z", LC_SECRET1: "w" };
    const result = await project.work({ ...secrets, LANG: "C.UTF-8" });
    assert.equal(result.code, 0, result.stderr);
    const environment = project.environment("closed", 1);
    const checked = project.git("show", "prloom/closed:seen-by-check.txt");
    for (const name of [...Object.keys(secrets), "XDG_RUNTIME_DIR"]) {
      assert.equal(environment[name], undefined, name);
      assert.doesNotMatch(checked, new RegExp(`^${name}=`, "m"));
    }
    // The sandbox has one of its own, with a name to commit as and no more.
    assert.notEqual(environment.GIT_CONFIG_GLOBAL, "/dev/null");
    const { MINE, LANG, PRLOOM_STAGE, PRLOOM_PLAN_ID, HOME } = environment;
    assert.deepEqual([MINE, LANG, PRLOOM_STAGE, PRLOOM_PLAN_ID], ["given", "C.UTF-8", "worker", "closed"]);
    assert.equal(HOME, project.home);
  });

  test("commits bear the person's name where there is one, and ours where there is none", thorough, async () => {
    const named = fresh();
    named.git("config", "user.name", "Ada");
    named.git("config", "user.email", "ada@example.org");
    const nameless = fresh();
    for (const project of [named, nameless]) project.plan("signed", ["one"]);
    await Promise.all([named.work(), nameless.work()]);
    const author = (project: Project) => project.git("log", "-1", "--format=%an <%ae>|%cn", "prloom/signed").trim();
    assert.equal(author(named), "Ada <ada@example.org>|Ada");
    assert.equal(author(nameless), "prloom <prloom@localhost>|prloom");
  });

  test("status --json has what it promises, and the paths of the seeds resolve", async () => {
    const project = fresh();
    const source = { system: "tracker", kind: "ticket", id: "T-1" };
    project.plan("shown", ["one", "[say-blocked] two"], { status: "queued", source });
    project.plan("draft", ["one"], { status: "draft" });
    await project.work();
    const report = await project.status();
    // Why there is no sandbox is told where there is none.
    assert.deepEqual(
      Object.keys(report)
        .filter((key) => key !== "sandboxWhy")
        .sort(),
      [
        "agents",
        "bridges",
        "claimed",
        "daemon",
        "dailyBudget",
        "dead",
        "deferred",
        "ignored",
        "pinned",
        "plans",
        "problems",
        "sandbox",
        "today",
      ],
    );
    assert.deepEqual(
      [report.deferred, report.dead, report.daemon],
      [{ count: 0, oldestMs: 0, records: [] }, { count: 0, letters: [] }, { running: false }],
    );
    const [draft, shown] = ["draft", "shown"].map((id) => report.plans.find((plan) => plan.planId === id));
    const always = ["createdAt", "hidden", "location", "paused", "planId", "progress", "status", "title", "updatedAt"];
    assert.deepEqual(Object.keys(draft ?? {}).sort(), always);
    const more = ["blocked", "branch", "changeRequest", "phase", "source"];
    assert.deepEqual(Object.keys(shown ?? {}).sort(), [...always, ...more].sort());
    assert.deepEqual([shown?.title, shown?.status, shown?.location], ["Plan shown", "active", "worktree"]);
    assert.deepEqual([draft?.location, draft?.status], ["inbox", "draft"]);
    assert.deepEqual([shown?.progress, shown?.source], [{ total: 2, completed: 1 }, source]);

    const home = realpathSync(join(project.authority, "plans", "shown"));
    const local = join(project.root, "prloom", ".local");
    assert.equal(realpathSync(join(local, "plans", "shown", "state.json")), join(home, "state.json"));
    assert.equal(realpathSync(join(local, "bus")), realpathSync(join(project.authority, "bus")));
    const tree = join(local, "worktrees", "shown", "prloom", ".local");
    assert.equal(realpathSync(join(tree, "bus")), join(home, "bus"));
    assert.equal(realpathSync(join(tree, "state.json")), join(home, "state.json"));
    assert.match(readFileSync(join(tree, "plan.md"), "utf8"), /- \[x\] one/);
    assert.equal(project.git("status", "--porcelain", "--ignored", "--", "prloom"), "!! prloom/.local/\n");
  });
});
