import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gateStates, succeeds } from "../../../testing/at-gate.ts";
import { thorough } from "../../../testing/thorough.ts";
import { githubProject } from "../github-project.ts";

describe("a plan from an issue that was locked", () => {
  it("is shown and answered there, and by a command where prloom may not write there any more", thorough, async (t) => {
    const { github, repository, project, token } = await githubProject(t);
    const ada = github.person(repository, "ada");
    const work = async (): Promise<void> => {
      const { code, stdout, stderr } = await project.work({ GITHUB_TOKEN: token });
      assert.equal(code, 0, stderr + stdout);
    };
    await work();
    const opened = ["First", "Second"].map(
      (title) => ada.opens({ title, body: "## Tasks\n\n- [ ] make one\n" }).number,
    );
    for (const number of opened) {
      ada.locks(number);
      ada.labels(number, "prloom");
    }
    await work();
    const ids = (await project.status()).plans.map(({ planId }) => planId);
    const [first = "", second = ""] = ["first", "second"].map((name) => ids.find((id) => id.startsWith(name)));
    ada.comments(opened[0] ?? 0, "approved");
    await work();
    assert.deepEqual(await gateStates(project, first), ["approved"]);
    repository.permissions.set(github.world.user("bot"), "read");
    ada.comments(opened[1] ?? 0, "approved");
    await work();
    assert.deepEqual(await gateStates(project, second), ["open"], "who may answer cannot be looked up");
    await succeeds(project, "approve", second);
    await work();
    assert.deepEqual(await gateStates(project, second), ["approved"]);
    assert.equal(project.record(second).status, "review");
    project.remove();
  });
});
