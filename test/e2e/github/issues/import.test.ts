import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { thorough } from "../../../testing/thorough.ts";
import { githubProject } from "../github-project.ts";

const BODY = "## Tasks\n\n- [ ] make one\n";

describe("older issues", () => {
  it("are imported by number or search, once each, as drafts unless they are to be queued", async (t) => {
    const { github, repository, project, token } = await githubProject(t, { gates: { plan: false } });
    const env = { GITHUB_TOKEN: token };
    const [ada, eve] = [github.person(repository, "ada"), github.person(repository, "eve")];
    const { number: one } = eve.opens({ title: "One", body: BODY });
    const { number: two } = ada.opens({ title: "Two 🎉 \u202eowt", body: BODY });
    const { number: gone } = ada.opens({ title: "Gone" });
    ada.labels(two, "bug");
    ada.deletes(gone);
    // The first start pins the config that is asked with.
    assert.equal((await project.work(env)).code, 0);
    const ask = (...args: string[]) => project.cli(["import", ...args, "--json"], env);
    const dry = await ask(`#${one}`, `${gone}`, "99", "--dry-run");
    assert.equal(dry.code, 1);
    assert.deepEqual(JSON.parse(dry.stdout).issues, [
      { number: one, title: "One" },
      { number: gone, problem: "it was deleted" },
      { number: 99, problem: "there is no such issue" },
    ]);
    assert.deepEqual((await project.status()).plans, []);
    assert.equal((await ask(`${one}`)).code, 0);
    const found = JSON.parse((await ask("label:bug", "is:open", "--queue")).stdout);
    assert.deepEqual(
      found.issues.map(({ number }: { number: number }) => number),
      [two],
    );
    const statuses = async (): Promise<unknown> =>
      Object.fromEntries(
        (await project.status()).plans.map(({ source, status }) => [source?.id.split("#")[1], status]),
      );
    assert.deepEqual(await statuses(), { [one]: "draft", [two]: "queued" });
    const again = await project.cli(["import", `${one}`, `${two}`], env);
    assert.match(again.stdout, /#1 One: has the plan \S+ already \(draft\)\n#2 .*already \(queued\)/);
    assert.doesNotMatch(again.stdout, /\u202e/);
    assert.equal((await project.work(env)).code, 0);
    assert.deepEqual(await statuses(), { [one]: "draft", [two]: "review" });
    ada.labels(two, "prloom");
    assert.equal((await project.work(env)).code, 0);
    assert.equal((await project.status()).plans.length, 2);
    project.remove();
  });

  it("are not imported without a token that is good, and nothing of it is told", thorough, async (t) => {
    const { project, token } = await githubProject(t);
    assert.equal((await project.work({ GITHUB_TOKEN: token })).code, 0);
    const { code, stderr } = await project.cli(["import", "1"], { GITHUB_TOKEN: "ghp_revoked1234567" });
    assert.equal(code, 1);
    assert.match(stderr, /Bad credentials[\s\S]*prloom doctor/);
    assert.doesNotMatch(stderr, /ghp_/);
    project.remove();
  });
});
