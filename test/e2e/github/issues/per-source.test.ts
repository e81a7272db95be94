import assert from "node:assert/strict";
import { it } from "node:test";
import { thorough } from "../../../testing/thorough.ts";
import { githubProject } from "../github-project.ts";

it("beyond limits.perSource plans of one who may not write are drafts, and no others", thorough, async (t) => {
  const { github, repository, project, token } = await githubProject(t, { limits: { perSource: { plans: 2 } } });
  const [ada, eve] = [github.person(repository, "ada"), github.person(repository, "eve")];
  const mallory = github.person(repository, "mallory");
  const work = async (): Promise<void> => {
    const { code, stdout, stderr } = await project.work({ GITHUB_TOKEN: token });
    assert.equal(code, 0, stdout + stderr);
  };
  const plans = async () =>
    Object.fromEntries((await project.status()).plans.map((plan) => [Number(plan.source?.id.split("#")[1]), plan]));
  await work();
  const ask = (person: typeof eve, title: string): number => {
    const { number } = person.opens({ title, body: `## Tasks\n\n- [ ] make ${title}\n` });
    ada.labels(number, "prloom");
    return number;
  };
  // All of them come with one look.
  const theirs = ["one", "two", "three", "four"].map((title) => ask(eve, title));
  const [other, own] = [ask(mallory, "five"), [1, 2, 3].map((n) => ask(ada, `own ${n}`))];
  await work();
  const before = await plans();
  const statuses = (numbers: readonly number[], now: typeof before) => numbers.map((number) => now[number]?.status);
  assert.deepEqual(statuses(theirs, before), ["active", "active", "draft", "draft"]);
  assert.deepEqual(statuses([other, ...own], before), ["active", "active", "active", "active"]);
  const third = before[theirs[2] ?? 0];
  assert.match(
    String(third?.waiting),
    /^eve may not write and has 2 plans under way \(limits\.perSource\.plans is 2\)$/,
  );
  const id = third?.planId ?? "";
  assert.match((await project.cli(["status"])).stdout, new RegExp(`prloom queue ${id}.: eve may not write`));
  assert.match((await project.cli(["show", id])).stdout, /waits for: `prloom queue .*eve may not write/);
  assert.equal(JSON.parse((await project.cli(["show", id, "--json"])).stdout).waiting, third?.waiting);
  // A person decides otherwise.
  assert.equal((await project.cli(["queue", id])).code, 0);
  await work();
  assert.equal((await plans())[theirs[2] ?? 0]?.status, "active");
  // Three are under way now. When two are gone, the label of a person who may write takes up the last one.
  for (const number of theirs.slice(0, 2)) {
    const gone = before[number]?.planId ?? "";
    assert.equal((await project.cli(["delete", gone, "--yes"])).code, 0);
  }
  ada.labels(theirs[3] ?? 0, "prloom");
  await work();
  const last = (await plans())[theirs[3] ?? 0];
  assert.deepEqual([last?.status, last?.waiting?.includes("may not write")], ["active", false]);
  project.remove();
});

it("limits.perSource names what is wrong with it", async (t) => {
  for (const [perSource, words] of [
    [3, /limits\.perSource.*must be an object such as \{"plans": 3\}/],
    [{ plans: 0 }, /limits\.perSource\.plans.*must be a whole number of 1 or more/],
    [{ usd: -1 }, /limits\.perSource\.usd.*must be more than 0/],
  ] as const) {
    const { project, token } = await githubProject(t, { limits: { perSource } });
    const { code, stdout, stderr } = await project.work({ GITHUB_TOKEN: token });
    assert.equal(code, 1);
    assert.match(stdout + stderr, words);
    project.remove();
  }
});
