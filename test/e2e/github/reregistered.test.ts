import assert from "node:assert/strict";
import { it } from "node:test";
import { gateStates } from "../../testing/at-gate.ts";
import { thorough } from "../../testing/thorough.ts";
import { githubProject } from "./github-project.ts";

it("a login that another person registered again approves nothing", thorough, async (t) => {
  const { github, repository, project, token } = await githubProject(t);
  t.after(() => project.remove());
  const ada = github.person(repository, "ada");
  const approvers = [`ada#${ada.user.id}`];
  project.config({ gates: { plan: true, advisory: true, approvers } });
  const work = async (): Promise<void> => {
    const { code, stdout, stderr } = await project.work({ GITHUB_TOKEN: token });
    assert.equal(code, 0, stdout + stderr);
  };
  await work();
  const { number } = ada.opens({ title: "Once", body: "## Tasks\n\n- [ ] make one\n" });
  ada.labels(number, "prloom");
  await work();
  const id = (await project.status()).plans[0]?.planId ?? "";
  github.world.registerAgain("ada");
  github.person(repository, "ada").comments(number, "approved");
  await work();
  assert.deepEqual(await gateStates(project, id), ["open"]);
  ada.comments(number, "approved");
  await work();
  assert.deepEqual(await gateStates(project, id), ["approved"], "the person has it, whatever they are called now");
});
