import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type FakeGitHub, startFakeGitHub } from "../fake-github.ts";
import type { Person } from "../people.ts";
import { reportCheck, reportStatus } from "../people.ts";
import type { Repository } from "../world.ts";
import { clientOf } from "./checked-client.ts";

const APP = "/repos/acme/app";

interface Happened {
  readonly event: string;
  readonly actor: { readonly login: string };
  readonly assigner?: { readonly login: string };
}

describe("the fake GitHub's REST", () => {
  let github: FakeGitHub;
  let repository: Repository;
  let ada: Person;
  let ask: ReturnType<typeof clientOf>;

  before(async () => {
    github = await startFakeGitHub();
    repository = github.repository("acme/app", { ada: "write", bot: "write", eve: "read" });
    ada = github.person(repository, "ada");
    ask = clientOf(github, github.server.accounts.add("bot"));
  });
  after(() => github.close());

  it("tells who asks, and what is left", async () => {
    assert.equal((await ask("GET /user")).body.login, "bot");
    const { body } = await ask("GET /rate_limit");
    assert.deepEqual([body.resources.core.limit, body.resources.graphql.limit], [5000, 5000]);
    assert.equal((await ask("GET /users/ada")).body.id, ada.user.id);
    assert.equal((await ask(`GET ${APP}`)).body.permissions.push, true);
    assert.equal((await ask(`GET /repositories/${repository.id}`)).body.full_name, "acme/app");
  });

  it("has issues with comments, labels and the people who set them", async () => {
    const { number } = ada.opens({ title: "Dark mode", body: "Please." });
    ada.labels(number, "prloom");
    await ask(`POST ${APP}/issues/${number}/labels`, { body: { labels: ["seen"] } });
    await ask(`POST ${APP}/issues/${number}/assignees`, { body: { assignees: ["ada"] } });
    const comment = await ask(`POST ${APP}/issues/${number}/comments`, { body: { body: "Hello." } });
    assert.equal(comment.status, 201);
    await ask(`PATCH ${APP}/issues/comments/${comment.body.id}`, { body: { body: "Hello again." } });
    assert.equal((await ask(`GET ${APP}/issues/comments/${comment.body.id}`)).body.body, "Hello again.");
    const issue = (await ask(`GET ${APP}/issues/${number}`)).body;
    assert.deepEqual([issue.title, issue.comments, issue.assignee.login], ["Dark mode", 1, "ada"]);
    const events = (await ask(`GET ${APP}/issues/${number}/events`)).body;
    assert.deepEqual(
      events.map((one: Happened) => [one.event, one.actor.login, one.assigner?.login]),
      [
        ["labeled", "ada", undefined],
        ["labeled", "bot", undefined],
        ["assigned", "ada", "bot"],
      ],
    );
    await ask(`DELETE ${APP}/issues/${number}/labels/seen`);
    assert.deepEqual((await ask(`GET ${APP}/issues?labels=seen`)).body, []);
    assert.equal((await ask(`GET ${APP}/issues/${number}/comments`)).body[0].user.login, "bot");
    assert.equal((await ask(`GET ${APP}/collaborators/eve/permission`)).body.permission, "read");
  });

  it("opens issues and searches them", async () => {
    const opened = await ask(`POST ${APP}/issues`, { body: { title: "Needle", body: "x" } });
    assert.equal(opened.status, 201);
    const { body } = await ask("GET /search/issues?q=needle%20repo:acme/app%20is:open");
    assert.deepEqual([body.total_count, body.items[0].number], [1, opened.body.number]);
    assert.equal((await ask(`POST ${APP}/issues`, { body: {} })).status, 422);
  });

  it("has pull requests over real branches, and merges them", async () => {
    const sha = ada.pushes("dark", { "dark.css": "body { background: black }\n" });
    const opened = await ask(`POST ${APP}/pulls`, { body: { title: "Dark", head: "dark", base: "main", draft: true } });
    assert.deepEqual([opened.status, opened.body.draft, opened.body.head.sha], [201, true, sha]);
    const { number } = opened.body;
    const again = await ask(`POST ${APP}/pulls`, { body: { title: "Dark", head: "dark", base: "main" } });
    assert.deepEqual(
      [again.status, again.body.errors[0].message],
      [422, "A pull request already exists for acme:dark."],
    );
    assert.equal((await ask(`GET ${APP}/pulls?head=acme:dark`)).body.length, 1);
    const review = {
      state: "CHANGES_REQUESTED",
      body: "No.",
      comments: [{ path: "dark.css", line: 1, body: "Grey." }],
    } as const;
    ada.reviews(number, review);
    const [comment] = (await ask(`GET ${APP}/pulls/comments`)).body;
    assert.deepEqual([comment.path, comment.line, comment.body], ["dark.css", 1, "Grey."]);
    const reply = await ask(`POST ${APP}/pulls/${number}/comments/${comment.id}/replies`, { body: { body: "Done." } });
    assert.equal(reply.body.in_reply_to_id, comment.id);
    assert.equal((await ask(`GET ${APP}/pulls/${number}/reviews`)).body[0].state, "CHANGES_REQUESTED");
    assert.equal((await ask(`PUT ${APP}/pulls/${number}/merge`, { body: {} })).status, 405, "a draft is not merged");
    const pull = repository.issues.get(number)?.pull;
    assert(pull);
    pull.draft = false;
    const stale = await ask(`PUT ${APP}/pulls/${number}/merge`, { body: { sha: "0".repeat(40) } });
    assert.equal(stale.status, 409);
    const merged = await ask(`PUT ${APP}/pulls/${number}/merge`, { body: { sha, merge_method: "squash" } });
    assert.equal(merged.body.merged, true);
    assert.equal((await ask(`GET ${APP}/branches/main`)).body.commit.sha, merged.body.sha);
    assert.equal((await ask(`GET ${APP}/pulls/${number}`)).body.merged, true);
  });

  it("rebases and merges with a merge commit, and refuses a conflict", async () => {
    for (const method of ["rebase", "merge"]) {
      ada.pushes(`by-${method}`, { [`${method}.txt`]: "1\n" });
      const { number } = (
        await ask(`POST ${APP}/pulls`, { body: { title: method, head: `by-${method}`, base: "main" } })
      ).body;
      assert.equal((await ask(`PUT ${APP}/pulls/${number}/merge`, { body: { merge_method: method } })).status, 200);
    }
    ada.pushes("clash", { "clash.txt": "ours\n" });
    const { number } = (await ask(`POST ${APP}/pulls`, { body: { title: "Clash", head: "clash", base: "main" } })).body;
    ada.pushes("main", { "clash.txt": "theirs\n" });
    assert.equal((await ask(`GET ${APP}/pulls/${number}`)).body.mergeable_state, "dirty");
    assert.equal((await ask(`PUT ${APP}/pulls/${number}/merge`, { body: {} })).status, 405);
  });

  it("closes a pull request for good when its base is deleted", async () => {
    ada.pushes("lower", { "a.txt": "a\n" });
    ada.pushes("upper", { "b.txt": "b\n" });
    const { number } = (await ask(`POST ${APP}/pulls`, { body: { title: "Upper", head: "upper", base: "lower" } }))
      .body;
    await ask(`DELETE ${APP}/git/refs/heads/lower`);
    assert.equal((await ask(`GET ${APP}/pulls/${number}`)).body.state, "closed");
    assert.equal((await ask(`PATCH ${APP}/pulls/${number}`, { body: { state: "open" } })).status, 422);
  });

  it("tells checks, statuses and the log of a job", async () => {
    const sha = ada.pushes("red", { "red.txt": "1\n" });
    const annotations = [{ path: "red.txt", line: 1, level: "failure", message: "wrong" }] as const;
    const check = reportCheck(github.world, repository, {
      sha,
      name: "test",
      conclusion: "failure",
      log: "Error: wrong\n",
      annotations,
    });
    reportStatus(github.world, repository, { sha, context: "lint", state: "success" });
    assert.equal((await ask(`GET ${APP}/commits/${sha}/check-runs`)).body.check_runs[0].conclusion, "failure");
    assert.equal((await ask(`GET ${APP}/check-runs/${check.id}/annotations`)).body[0].message, "wrong");
    assert.equal((await ask(`GET ${APP}/commits/${sha}/status`)).body.state, "success");
    assert.equal((await ask(`GET ${APP}/actions/runs?head_sha=${sha}`)).body.total_count, 1);
    assert.equal((await ask(`GET ${APP}/actions/runs/${check.workflowRun}/jobs`)).body.jobs[0].name, "test");
    const log = await ask(`GET ${APP}/actions/jobs/${check.id}/logs`);
    assert.equal(await (await fetch(log.headers.get("location") ?? "")).text(), "Error: wrong\n");
    assert.equal(
      (await ask(`POST ${APP}/actions/runs/${check.workflowRun}/rerun-failed-jobs`, { body: {} })).status,
      201,
    );
  });

  it("keeps a ref for one that asks first", async () => {
    const { sha } = (await ask(`GET ${APP}/branches/main`)).body.commit;
    const claim = { ref: "refs/prloom/claims/1", sha };
    assert.equal((await ask(`POST ${APP}/git/refs`, { body: claim })).status, 201);
    assert.equal((await ask(`POST ${APP}/git/refs`, { body: claim })).body.message, "Reference already exists");
    assert.equal((await ask(`GET ${APP}/git/ref/prloom/claims/1`)).body.object.sha, sha);
  });
});
