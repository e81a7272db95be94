import assert from "node:assert/strict";
import { test } from "node:test";
import { Board } from "../testing/github/boards.ts";
import { startFakeGitHub } from "../testing/github/fake-github.ts";
import { makeProject } from "../testing/project.ts";
import { snippetOf, withCommands } from "./installed.ts";

test("a card that is moved to Todo becomes a plan and is worked on", async (t) => {
  const github = await startFakeGitHub();
  t.after(() => github.close());
  const repository = github.repository("acme/app", { ada: "write", bot: "write" });
  const board = new Board(github.world, "acme", { columns: ["Backlog", "Todo", "Done"] });
  const ada = github.person(repository, "ada");
  const issue = ada.opens({ title: "Dark mode", body: "## Tasks\n\n- [ ] Add the colours\n" });
  const card = board.adds("Backlog", { repository, issue });
  const snippet = snippetOf("github-board");
  const project = withCommands(
    makeProject({ config: { ...snippet, github: { ...snippet.github, apiUrl: github.apiUrl } } }),
  );
  t.after(() => project.remove());
  const env = { GITHUB_TOKEN: github.server.accounts.add("bot") };
  await project.untilIdle(env);
  assert.deepEqual((await project.status()).plans, []);
  board.moves(card, "Todo");
  ada.labels(issue.number, "prloom");
  await project.untilIdle(env);
  const { plans } = await project.status();
  assert.deepEqual(
    plans.map(({ title, status }) => [title, status]),
    [["Dark mode", "review"]],
  );
  await project.untilIdle(env);
  assert.match(issue.body, /## Tasks\n\n- \[ \] Add the colours\n\n\n<!-- prloom plan [\s\S]*- \[x\] Add the colours/);
  assert.deepEqual(project.commits(plans[0]?.planId ?? ""), ["Add the colours"]);
});
