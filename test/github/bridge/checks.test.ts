import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { excerptOf } from "../../../src/github/bridge/check-report.ts";
import { whyNotGreen } from "../../../src/github/bridge/green.ts";
import { judgeGraphql } from "../../../src/github/client/outcome.ts";
import { Pulls } from "../../../src/github/pulls/pulls.ts";
import { reportCheck, reportStatus } from "../../testing/github/people.ts";
import { pullSetting } from "../pull-setting.ts";
import { setUp } from "../setting.ts";

const PERMISSIONS = { issues: "write", pull_requests: "write", contents: "write", actions: "read" } as const;
/** Is told what they come to. */
const FORBIDDEN = { kind: "fine-grained", permissions: { ...PERMISSIONS, statuses: "read" } } as const;
const BLIND = { kind: "fine-grained", permissions: PERMISSIONS } as const;
const RULES = { approvals: 0, mergeQueue: false, refusePush: undefined };

describe("the checks of a pull request", { concurrency: 4 }, () => {
  it("are told when all that count have ended: what failed, with its annotations and its log", async (t) => {
    const { look, pull, github, repository, pass } = await pullSetting(t);
    await look();
    const { number, token, pull: pulled } = pull();
    const sha = pulled?.head.sha ?? "";
    const failed = { sha, name: "test", conclusion: "failure" } as const;
    const annotations = [{ path: "dark.css", line: 1, level: "failure", message: "too dark" } as const];
    const log = `${"2026-01-01T00:00:00.0000000Z line\n".repeat(200)}2026-01-01T00:00:01Z \u001b[31m##[error]it broke\u001b[0m\ncleaning up\n`;
    reportCheck(github.world, repository, { ...failed, log, annotations });
    reportCheck(github.world, repository, { sha, name: "slow" });
    assert.deepEqual(await look(), [], "one is still running");
    reportCheck(github.world, repository, { sha, name: "slow", conclusion: "success" });
    pass(60);
    const [event, ...more] = await look();
    assert.deepEqual(more, []);
    assert.deepEqual([event?.type, event?.plan, event?.replyTo?.token], ["check_failed", `plan-${number}`, token]);
    assert.deepEqual(event?.context, { check: "test", sha, required: false });
    const lines = event?.body.split("\n") ?? [];
    assert.deepEqual(
      [lines[0], lines.length, lines.at(-1)],
      ["dark.css:1: failure: too dark", 82, "##[error]it broke"],
    );
    assert.deepEqual(await look(), []);
    reportCheck(github.world, repository, { ...failed, conclusion: "success" });
    pass(600);
    assert.deepEqual(
      (await look()).map(({ type }) => type),
      ["checks_passed"],
    );
    pass(600);
    assert.deepEqual(await look(), []);
  });

  it("that are required count alone, and one that is red on the base, too, is information", async (t) => {
    const { look, pull, github, repository, pass, ada } = await pullSetting(t);
    repository.rules.set("main", { ...RULES, requiredChecks: ["test", "lint", "ci/old"] });
    const main = ada.pushes("main", { "x.txt": "x\n" });
    reportCheck(github.world, repository, { sha: main, name: "lint", conclusion: "failure" });
    reportStatus(github.world, repository, { sha: main, context: "ci/old", state: "failure" });
    await look();
    const sha = pull().pull?.head.sha ?? "";
    for (const name of ["test", "lint", "optional"])
      reportCheck(github.world, repository, { sha, name, conclusion: "failure" });
    reportStatus(github.world, repository, { sha, context: "ci/old", state: "failure" });
    const events = await look();
    pass(60);
    assert.deepEqual(await look(), []);
    assert.deepEqual(
      events.map(({ title, context }) => [title, context?.required, context?.information ?? false]),
      [
        ["The check test failed", true, false],
        ["The check lint failed, as on main", true, true],
        ["The check ci/old failed, as on main", true, true],
      ],
    );
  });

  it("are those of GitHub Actions and statuses for a token without the permission, which is said", async (t) => {
    const { look, pull, github, repository, warnings, ada } = await pullSetting(t, { token: FORBIDDEN });
    const main = ada.pushes("main", { "x.txt": "x\n" });
    reportCheck(github.world, repository, { sha: main, name: "lint", conclusion: "failure" });
    await look();
    const sha = pull().pull?.head.sha ?? "";
    reportCheck(github.world, repository, { sha, name: "lint", conclusion: "failure" });
    reportCheck(github.world, repository, { sha, name: "test", conclusion: "failure", log: "error: no\n" });
    reportStatus(github.world, repository, { sha, context: "ci/other", state: "failure" });
    const events = await look();
    assert.deepEqual(
      events.map(({ title, body }) => [title, body]),
      [
        ["The check test failed", "error: no"],
        ["The check lint failed, as on main", ""],
        ["The check ci/other failed", ""],
      ],
    );
    assert.match(warnings.join(), /may not see checks/);
  });

  for (const [whose, { token, about: most }] of Object.entries({
    seen: { token: undefined, about: 0 },
    forbidden: { token: FORBIDDEN, about: 6 },
  })) {
    it(`that stay red are asked for together, or less and less often, where they are ${whose}`, async (t) => {
      const { look, pull, github, repository, pass } = await pullSetting(t, token ? { token } : {});
      await look();
      for (let count = 0; count < 6; count += 1) {
        // At one time all would be the same commit.
        pass(1);
        const sha = pull(`prloom/${count}`).pull?.head.sha ?? "";
        reportCheck(github.world, repository, { sha, name: "test", conclusion: "failure" });
      }
      assert.equal((await look()).length, 6);
      for (let minutes = 0; minutes < 60; minutes += 20) {
        pass(1200);
        assert.deepEqual(await look(), []);
      }
      const { length } = github.server.seen;
      for (let minutes = 0; minutes < 60; minutes += 10) {
        pass(600);
        assert.deepEqual(await look(), []);
      }
      const seen = github.server.seen.slice(length);
      assert.deepEqual(
        seen.filter(({ bucket, points }) => bucket === "core" && points > 0),
        [],
      );
      assert.equal(seen.filter(({ bucket }) => bucket === "graphql").length, 12);
      const about = seen.filter(({ path }) => /\/(actions|commits)\//.test(path));
      assert.equal(about.length, most);
    });
  }

  it("that the token may not see keep those it sees from being green", async (t) => {
    const { look, pull, github, repository, pass } = await pullSetting(t, { token: FORBIDDEN });
    await look();
    const sha = pull().pull?.head.sha ?? "";
    reportCheck(github.world, repository, { sha, name: "test", conclusion: "success" });
    reportCheck(github.world, repository, { sha, name: "scan", app: "other-ci", conclusion: "failure" });
    assert.deepEqual(await look(), []);
    reportCheck(github.world, repository, { sha, name: "scan", app: "other-ci", conclusion: "success" });
    pass(600);
    assert.deepEqual(
      (await look()).map(({ type }) => type),
      ["checks_passed"],
    );
  });

  for (const [whose, token] of Object.entries({ forbidden: FORBIDDEN, "not even summed up": BLIND })) {
    it(`that fail again after a person ran them once more are told again, where they are ${whose}`, async (t) => {
      const { look, pull, github, repository, pass } = await pullSetting(t, { token });
      await look();
      const sha = pull().pull?.head.sha ?? "";
      const check = reportCheck(github.world, repository, { sha, name: "test", conclusion: "failure" });
      const types = async (): Promise<string[]> => (await look()).map(({ type }) => type);
      assert.deepEqual(await types(), ["check_failed"]);
      pass(600);
      assert.deepEqual(await types(), []);
      Object.assign(check, { completedAt: "2026-01-01T00:15:00Z" });
      pass(600);
      assert.deepEqual(await types(), ["check_failed"]);
    });
  }

  for (const [whose, token] of Object.entries({ seen: undefined, forbidden: FORBIDDEN, "not even summed up": BLIND })) {
    for (const old of ["cancelled", "failure", undefined] as const) {
      it(`count by their newest run, whatever became of an older one (${old ?? "unfinished"}), where they are ${whose}`, async (t) => {
        const { look, pull, github, repository } = await pullSetting(t, token ? { token } : {});
        await look();
        const sha = pull().pull?.head.sha ?? "";
        // As when a draft is made ready: one event cancels the run of another.
        reportCheck(github.world, repository, { sha, name: "test", ...(old ? { conclusion: old } : {}) });
        reportCheck(github.world, repository, { sha, name: "test", conclusion: "success" });
        reportCheck(github.world, repository, { sha, name: "lint", conclusion: "failure" });
        assert.deepEqual(
          (await look()).map(({ title }) => title),
          ["The check lint failed"],
        );
      });
    }
  }

  it("of one app say nothing about those of another that have the same name", async (t) => {
    const { look, pull, github, repository, ada } = await pullSetting(t);
    const main = ada.pushes("main", { "x.txt": "x\n" });
    reportCheck(github.world, repository, { sha: main, name: "test", app: "other-ci", conclusion: "failure" });
    await look();
    const sha = pull().pull?.head.sha ?? "";
    reportCheck(github.world, repository, { sha, name: "test", conclusion: "failure" });
    assert.deepEqual(
      (await look()).map(({ title }) => title),
      ["The check test failed"],
    );
  });

  it("run once more first where the config says so", async (t) => {
    const { look, pull, github, repository, pass } = await pullSetting(t, { settings: { rerun: true } });
    await look();
    const sha = pull().pull?.head.sha ?? "";
    const check = reportCheck(github.world, repository, { sha, name: "test", conclusion: "failure" });
    assert.deepEqual(await look(), []);
    assert.deepEqual([check.attempt, check.status], [2, "queued"]);
    pass(60);
    assert.deepEqual(await look(), []);
    Object.assign(check, { status: "completed", conclusion: "failure", completedAt: "2026-01-01T00:05:00Z" });
    pass(60);
    assert.deepEqual(
      (await look()).map(({ type }) => type),
      ["check_failed"],
    );
  });
});

it("an excerpt ends at the last error", () => {
  assert.equal(excerptOf("one\nerror: two\nthree\n"), "one\nerror: two");
  assert.equal(excerptOf("one\ntwo\n"), "one\ntwo");
});

it("a check whose newest run passed speaks against no merge", async (t) => {
  const { ada, calls, repository, github } = await setUp(t);
  const sha = ada.pushes("prloom/dark", { "dark.css": "x\n" });
  const pull = await new Pulls(calls).open({ head: "prloom/dark", base: "main", title: "Dark mode", body: "" });
  assert(!("refused" in pull));
  const report = (conclusion: "cancelled" | "success" | "failure"): unknown =>
    reportCheck(github.world, repository, { sha, name: "test", conclusion });
  report("cancelled");
  assert.match((await whyNotGreen(calls, pull)) ?? "", /not all checks are green: test/);
  report("success");
  assert.equal(await whyNotGreen(calls, pull), undefined);
  report("failure");
  assert.match((await whyNotGreen(calls, pull)) ?? "", /not all checks are green: test/);
});

it("checks that the token may not see are not green", async (t) => {
  const permissions = { issues: "write", pull_requests: "write", contents: "write" } as const;
  const { ada, calls, repository, github } = await setUp(t, { token: { kind: "fine-grained", permissions } });
  const pulls = new Pulls(calls);
  const sha = ada.pushes("prloom/dark", { "dark.css": "x\n" });
  const pull = await pulls.open({ head: "prloom/dark", base: "main", title: "Dark mode", body: "" });
  assert(!("refused" in pull));
  reportCheck(github.world, repository, { sha, name: "test", conclusion: "failure" });
  assert.match((await whyNotGreen(calls, pull)) ?? "", /the token may not see whether the checks are green: give it/);
});

it("a check that the token may not see speaks against a merge when GitHub says that not all are green", async (t) => {
  const { ada, calls, repository, github } = await setUp(t, { token: FORBIDDEN });
  const sha = ada.pushes("prloom/dark", { "dark.css": "x\n" });
  const pull = await new Pulls(calls).open({ head: "prloom/dark", base: "main", title: "Dark mode", body: "" });
  assert(!("refused" in pull));
  reportCheck(github.world, repository, { sha, name: "test", conclusion: "success" });
  assert.equal(await whyNotGreen(calls, pull), undefined);
  reportCheck(github.world, repository, { sha, name: "scan", app: "other-ci", conclusion: "failure" });
  assert.match((await whyNotGreen(calls, pull)) ?? "", /not all checks are green: one that the token may not see/);
});

for (const [whose, token] of [
  ["classic", undefined],
  ["fine-grained", FORBIDDEN],
  ["blind", BLIND],
] as const)
  it(`a run that goes on speaks against a merge though all jobs that it has by now passed (${whose})`, async (t) => {
    const { ada, calls, repository, github } = await setUp(t, token && { token });
    const sha = ada.pushes("prloom/dark", { "dark.css": "x\n" });
    const pull = await new Pulls(calls).open({ head: "prloom/dark", base: "main", title: "Dark mode", body: "" });
    assert(!("refused" in pull));
    const passed = { sha, conclusion: "success" } as const;
    const lint = reportCheck(github.world, repository, { ...passed, name: "lint", hasFollowers: true });
    assert.match((await whyNotGreen(calls, pull)) ?? "", /not all checks are green: .*not ended/);
    reportCheck(github.world, repository, { ...passed, name: "test", beside: lint });
    assert.equal(await whyNotGreen(calls, pull), undefined);
  });

it("of a run with more than a hundred jobs each counts", async (t) => {
  const { ada, calls, repository, github } = await setUp(t, { token: FORBIDDEN });
  const sha = ada.pushes("prloom/dark", { "dark.css": "x\n" });
  const pull = await new Pulls(calls).open({ head: "prloom/dark", base: "main", title: "Dark mode", body: "" });
  assert(!("refused" in pull));
  const beside = reportCheck(github.world, repository, { sha, name: "test 0", conclusion: "success" });
  for (let job = 1; job < 120; job += 1)
    reportCheck(github.world, repository, {
      sha,
      name: `test ${job}`,
      conclusion: job < 119 ? "success" : "failure",
      beside,
    });
  assert.match((await whyNotGreen(calls, pull)) ?? "", /not all checks are green: test 119 \(failed\)/);
});

it("checks of other apps are not left out because GitHub cannot tell them now", async (t) => {
  const { calls, ada, repository, github } = await setUp(t);
  const sha = ada.pushes("dark", { "dark.css": "x\n" });
  const pull = await new Pulls(calls).open({ head: "dark", base: "main", title: "Dark", body: "" });
  assert(!("refused" in pull));
  reportCheck(github.world, repository, { sha, name: "elsewhere", conclusion: "failure" });
  const error = { type: "RESOURCE_LIMITS_EXCEEDED", message: "Resource limits for this query exceeded." };
  const { client } = calls;
  client.graphql = async () =>
    judgeGraphql({ kind: "ok", headers: {}, data: { data: { node: null }, errors: [error] } });
  await assert.rejects(whyNotGreen(calls, pull), /Resource limits/);
});
