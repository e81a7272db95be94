import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { branchHeads } from "../../testing/github/git.ts";
import type { Repository } from "../../testing/github/world.ts";
import { thorough } from "../../testing/thorough.ts";
import { publishingProject } from "./publishing-project.ts";

const BODY = "## Tasks\n\n- [ ] make one\n";
const TRIGGERS = [{ on: "issue.labeled", repo: "acme/app", label: "prloom", do: "queue" }];

function rename(repository: Repository, name: string): void {
  repository.formerNames.add(`acme/${repository.name}`);
  repository.name = name;
}

describe("a repository on GitHub that is renamed", { concurrency: 2 }, () => {
  it("goes on with its plans and pull requests, also when another one takes its name", thorough, async (t) => {
    const { github, repository, project, ada, pulls, work } = await publishingProject(t, { triggers: TRIGGERS });
    await work();
    const { number } = ada.opens({ title: "One", body: BODY });
    ada.labels(number, "prloom");
    await work();
    const id = (await project.status()).plans[0]?.planId ?? "";
    assert.match(project.record(id).changeRequest?.url ?? "", /\/acme\/app\/pull\//);
    rename(repository, "renamed");
    const other = github.repository("acme/app", { ada: "write", bot: "write" });
    const stranger = github.person(other, "ada");
    stranger.labels(stranger.opens({ title: "Not mine", body: BODY }).number, "prloom");
    // Known to the trigger by the name that it had.
    ada.labels(ada.opens({ title: "Two", body: BODY }).number, "prloom");
    ada.edits(number, { body: `${BODY}- [ ] make two\n` });
    await work();
    const { plans } = await project.status();
    assert.deepEqual(
      plans.map(({ title, status, progress }) => [title, status, progress.completed]),
      [
        ["One", "review", 2],
        ["Two", "review", 1],
      ],
    );
    assert.match(project.record(id).changeRequest?.url ?? "", /\/acme\/renamed\/pull\//);
    assert.equal(pulls().length, 2);
    assert.deepEqual([other.issues.size, branchHeads(other.folder).size], [1, 1]);
    ada.merges(pulls()[0]?.number ?? 0);
    await work();
    assert.deepEqual(
      (await project.status()).plans.map(({ status }) => status),
      ["done", "review"],
    );
  });

  it("while it is worked on: what git cannot follow is pushed to where it is now", thorough, async (t) => {
    const { github, repository, project, ada, pulls, work } = await publishingProject(t, { triggers: TRIGGERS });
    await work();
    ada.labels(ada.opens({ title: "One", body: BODY }).number, "prloom");
    // The last that is asked before anything is pushed.
    github.server.onSeen = ({ path }) => {
      if (/\/issues\/\d+\/events$/.test(path) && repository.name === "app") rename(repository, "renamed");
    };
    await work();
    assert.equal(repository.name, "renamed");
    assert.deepEqual(
      (await project.status()).plans.map(({ status, blocked }) => [status, blocked]),
      [["review", undefined]],
    );
    assert.equal(pulls().length, 1);
  });
});
