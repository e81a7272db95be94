import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { git } from "../../../testing/github/git.ts";
import { makeProject, type Project } from "../../../testing/project.ts";
import { thorough } from "../../../testing/thorough.ts";
import { publishingProject } from "../publishing-project.ts";

const BODY = "## Tasks\n\n- [ ] make one\n";
const TRIGGERS = [{ on: "issue.labeled", label: "prloom", do: "queue" }];

/** Two clones of acme/app, each with a dispatcher of its own. */
async function twoClones(t: TestContext) {
  const one = await publishingProject(t, { triggers: TRIGGERS });
  const { github, repository, token, ada } = one;
  const { forge, baseBranch, gates, triggers, github: settings } = one.project.config();
  const other = makeProject({ config: { forge, baseBranch, gates, triggers, github: settings } });
  t.after(() => other.remove());
  const env = { GITHUB_TOKEN: token };
  const work = async (project: Project, more: Record<string, string> = {}): Promise<string> => {
    const { code, signal, stdout, stderr } = await project.work({ ...env, ...more });
    assert.ok(more.PRLOOM_CRASH_AT === undefined ? code === 0 : signal === "SIGKILL", stdout + stderr);
    return stdout + stderr;
  };
  const issue = (title: string): number => {
    const { number } = ada.opens({ title, body: BODY });
    ada.labels(number, "prloom");
    return number;
  };
  const plans = async (project: Project) => (await project.status()).plans;
  const claims = (): string[] =>
    git(repository.folder, ["for-each-ref", "--format=%(refname)", "refs/prloom"]).split("\n").filter(Boolean);
  for (const project of [one.project, other]) await work(project);
  return { ...one, github, one: one.project, other, env, work, issue, plans, claims };
}

describe("two dispatchers for one repository on GitHub", { concurrency: 2 }, () => {
  it("make one plan of an issue: the first claims it, the other says so, and takes it over when a person says so", async (t) => {
    const { one, other, env, work, issue, plans, claims, pulls } = await twoClones(t);
    const number = issue("Dark mode");
    await work(one);
    assert.deepEqual(claims(), [`refs/prloom/claims/${number}`]);
    assert.match(await work(other), new RegExp(`no plan is made of acme/app#${number}: it is claimed by \\S+ since 2`));
    assert.deepEqual(await plans(other), []);
    assert.equal(pulls().length, 1);
    const line = new RegExp(`claimed: acme/app#${number} by .*prloom import ${number} --claim. takes it over`);
    assert.match((await other.cli(["status"])).stdout, line);
    const { claimed } = JSON.parse((await other.cli(["status", "--json"])).stdout);
    assert.equal(claimed[0].name, `acme/app#${number}`);
    const dry = await other.cli(["import", `${number}`, "99", "--dry-run", "--json"], env);
    assert.match(JSON.parse(dry.stdout).issues[0].problem, /^it is claimed by .*\(--claim takes it over\)$/);
    const refused = await other.cli(["import", `${number}`, "--json"], env);
    assert.equal(refused.code, 1);
    assert.match(JSON.parse(refused.stdout).issues[0].problem, /^it is claimed by .*\(--claim takes it over\)$/);
    assert.equal((await other.cli(["import", `${number}`, "--claim"], env)).code, 0);
    assert.equal((await plans(other)).length, 1);
    assert.deepEqual((await other.status()).claimed, []);
    // The claim is the other's now, so the plan that is deleted here leaves it.
    assert.equal((await one.cli(["delete", (await plans(one))[0]?.planId ?? "", "--yes"], env)).code, 0);
    await work(one);
    assert.deepEqual(claims(), [`refs/prloom/claims/${number}`]);
  });

  it("that hear of a label at the same moment make one plan of each issue", thorough, async (t) => {
    const { one, other, work, issue, plans, claims, pulls } = await twoClones(t);
    const titles = ["Dark mode", "Light mode", "No mode"];
    for (const title of titles) issue(title);
    await Promise.all([work(one), work(other)]);
    const made = [...(await plans(one)), ...(await plans(other))].map(({ title }) => title);
    assert.deepEqual(made.toSorted(), titles);
    assert.deepEqual([claims().length, pulls().length], [3, 3]);
  });

  it(
    "killed between the claim and the plan: it knows its own claim; a deleted plan releases it, also over a kill",
    thorough,
    async (t) => {
      const { one, other, env, work, issue, plans, claims, ada, pulls } = await twoClones(t);
      const number = issue("Dark mode");
      await work(one, { PRLOOM_CRASH_AT: "server:claimed" });
      assert.deepEqual([(await plans(one)).length, claims().length], [0, 1]);
      await work(other);
      assert.deepEqual(await plans(other), []);
      await work(one);
      const [plan] = await plans(one);
      assert.equal(plan?.status, "review");
      ada.merges(pulls()[0]?.number ?? 0);
      await work(one);
      // Done is not deleted: a dispatcher that comes late makes no second plan.
      ada.labels(number, "prloom");
      for (const project of [other, one]) await work(project);
      assert.deepEqual([(await plans(other)).length, claims().length], [0, 1]);
      assert.equal((await one.cli(["delete", plan?.planId ?? "", "--yes"], env)).code, 0);
      await work(one, { PRLOOM_CRASH_AT: "server:released" });
      await work(one);
      assert.deepEqual(claims(), []);
      ada.labels(number, "prloom");
      await work(other);
      assert.equal((await plans(other)).length, 1);
    },
  );

  it("a claim that is not let through waits, or is a dead letter that says what to do", thorough, async (t) => {
    const { one, github, work, issue, plans, repository } = await twoClones(t);
    issue("Dark mode");
    const hook = join(repository.folder, "hooks", "update");
    const refuse = 'case "$1" in refs/prloom/*) echo "no such refs here" >&2; exit 1;; esac';
    writeFileSync(hook, `#!/bin/sh\n${refuse}\n`, { mode: 0o755 });
    await work(one);
    assert.deepEqual(await plans(one), []);
    const { stdout } = await one.cli(["status"]);
    assert.match(stdout, /claiming acme\/app#\d+: .*no such refs here.*github\.claim/);
    rmSync(hook);
    assert.equal((await one.cli(["retry", "--all"])).code, 0);
    github.server.faults.add({ kind: "cut-before", on: /git-receive-pack/, times: 1 });
    await work(one);
    await work(one);
    assert.equal((await plans(one)).length, 1);
  });
});
