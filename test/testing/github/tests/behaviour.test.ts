import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { type FakeGitHub, type FakeGitHubOptions, startFakeGitHub } from "../fake-github.ts";
import type { Repository } from "../world.ts";
import { tryGitAsync } from "./async-git.ts";
import { clientOf } from "./checked-client.ts";

const APP = "/repos/acme/app";

interface Setting {
  readonly github: FakeGitHub;
  readonly repository: Repository;
  readonly token: string;
  readonly ask: ReturnType<typeof clientOf>;
}

async function setUp(t: TestContext, options: FakeGitHubOptions = {}): Promise<Setting> {
  const github = await startFakeGitHub(options);
  t.after(() => github.close());
  const repository = github.repository("acme/app", { ada: "write", bot: "write", eve: "read" });
  const token = github.server.accounts.add("bot");
  return { github, repository, token, ask: clientOf(github, token) };
}

describe("the fake GitHub behaves", { concurrency: 4 }, () => {
  it("answers 304 to what has not changed, and counts it as nothing", async (t) => {
    const { github, repository, ask } = await setUp(t);
    const ada = github.person(repository, "ada");
    const { number } = ada.opens({ title: "One" });
    const first = await ask(`GET ${APP}/issues?state=all`);
    const headers = { "if-none-match": first.headers.get("etag") ?? "" };
    const second = await ask(`GET ${APP}/issues?state=all`, { headers });
    assert.equal(second.status, 304);
    assert.deepEqual(
      github.server.seen.map(({ points }) => points),
      [1, 0],
    );
    ada.comments(number, "News.");
    assert.equal((await ask(`GET ${APP}/issues?state=all`, { headers })).status, 200);
  });

  it("gives pages that shift when something comes in between", async (t) => {
    const { github, repository, ask } = await setUp(t);
    const ada = github.person(repository, "ada");
    for (const title of ["a", "b", "c"]) ada.opens({ title });
    const first = await ask(`GET ${APP}/issues?per_page=2&sort=created&direction=desc`);
    assert.match(first.headers.get("link") ?? "", /page=2>; rel="next"/);
    ada.opens({ title: "d" });
    const second = await ask(`GET ${APP}/issues?per_page=2&page=2`);
    assert.equal(second.body.length, 2, "one of them was on the first page");
  });

  it("tells only what changed since a moment, to the second", async (t) => {
    let now = Date.parse("2026-01-01T00:00:00.900Z");
    const { github, repository, ask } = await setUp(t, { now: () => now });
    const ada = github.person(repository, "ada");
    const { number } = ada.opens({ title: "a" });
    ada.comments(number, "old");
    now += 5000;
    ada.comments(number, "new");
    const { body } = await ask(`GET ${APP}/issues/comments?since=2026-01-01T00:00:05Z&sort=updated`);
    assert.deepEqual(
      body.map((one: { body: string }) => one.body),
      ["new"],
    );
  });

  it("refuses when a bucket is empty, and says until when", async (t) => {
    const { ask } = await setUp(t, { limits: { core: 2 } });
    await ask("GET /user");
    await ask("GET /user");
    const third = await ask("GET /user");
    assert.deepEqual([third.status, third.headers.get("x-ratelimit-remaining")], [403, "0"]);
    assert.equal((await ask("GET /rate_limit")).status, 200);
  });

  it("slows down those who write much", async (t) => {
    const { github, repository, ask } = await setUp(t, { limits: { contentPerMinute: 1 } });
    const { number } = github.person(repository, "ada").opens({ title: "a" });
    await ask(`POST ${APP}/issues/${number}/comments`, { body: { body: "1" } });
    const second = await ask(`POST ${APP}/issues/${number}/comments`, { body: { body: "2" } });
    assert.equal(second.status, 403);
    assert(Number(second.headers.get("retry-after")) > 0);
  });

  it("fails before or after the effect, as told", async (t) => {
    const { github, repository, ask } = await setUp(t);
    const { number, comments } = github.person(repository, "ada").opens({ title: "a" });
    const post = (): Promise<unknown> =>
      ask(`POST ${APP}/issues/${number}/comments`, { body: { body: "x" } }).then(
        (answered) => answered.status,
        () => "cut",
      );
    for (const [kind, status, count] of [
      ["error-before", 502, 0],
      ["error-after", 502, 1],
      ["cut-before", "cut", 1],
      ["cut-after", "cut", 2],
      ["truncated", "cut", 3],
    ] as const) {
      github.server.faults.add({ kind, on: /POST .*comments/ });
      assert.equal(await post(), status, kind);
      assert.equal(comments.length, count, kind);
    }
    assert.equal(await post(), 201);
  });

  it("fails a share of all calls, the same ones for the same seed", async (t) => {
    const { github, ask } = await setUp(t);
    const outcomes = async (): Promise<string[]> => {
      github.server.faults.failShare(0.5, 7);
      const all: string[] = [];
      for (let call = 0; call < 20; call += 1)
        all.push(
          await ask("GET /user").then(
            ({ status }) => `${status}`,
            () => "cut",
          ),
        );
      return all;
    };
    const first = await outcomes();
    assert.deepEqual(await outcomes(), first);
    assert(new Set(first).size > 1);
  });

  it("knows tokens, their rights, and when they were revoked", async (t) => {
    const { github, repository } = await setUp(t);
    const { accounts } = github.server;
    const { number } = github.person(repository, "ada").opens({ title: "a" });
    const fine = accounts.add("bot", { kind: "fine-grained", permissions: { issues: "read" } });
    const ask = clientOf(github, fine);
    const read = await ask(`GET ${APP}/issues/${number}`);
    assert.deepEqual([read.status, read.headers.get("x-oauth-scopes")], [200, null]);
    const write = await ask(`POST ${APP}/issues/${number}/comments`, { body: { body: "x" } });
    assert.equal(write.body.message, "Resource not accessible by personal access token");
    assert.equal((await ask(`GET ${APP}/commits/main/check-runs`)).status, 403, "there is no such permission");
    accounts.revoke(fine);
    assert.equal((await ask("GET /user")).status, 401);
    const stranger = clientOf(github, accounts.add("zoe"));
    assert.equal((await stranger(`POST ${APP}/issues/${number}/labels`, { body: { labels: ["x"] } })).status, 403);
  });

  it("gives an app a token for its key", async (t) => {
    const { github, repository } = await setUp(t);
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    const app = github.server.accounts.addApp("loom", pem, { issues: "write" });
    repository.permissions.set(app.bot, "write");
    const now = Math.floor(Date.now() / 1000);
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signed = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iss: app.id, iat: now - 60, exp: now + 540 })}`;
    const jwt = `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
    const { body } = await clientOf(github, jwt)(`POST /app/installations/${app.installation}/access_tokens`);
    const { number } = github.person(repository, "ada").opens({ title: "a" });
    const posted = await clientOf(github, body.token)(`POST ${APP}/issues/${number}/comments`, { body: { body: "x" } });
    assert.deepEqual([posted.body.user.login, posted.body.performed_via_github_app.slug], ["loom[bot]", "loom"]);
    assert.equal((await clientOf(github, jwt)(`GET ${APP}/installation`)).body.id, app.installation);
    assert.equal((await clientOf(github, `${jwt}x`)("GET /app")).status, 401);
  });

  it("tells what was deleted, moved and renamed apart from what was never there", async (t) => {
    const { github, repository, ask, token } = await setUp(t);
    const ada = github.person(repository, "ada");
    const other = github.repository("acme/other", { bot: "write" });
    const [gone, moved] = [ada.opens({ title: "gone" }), ada.opens({ title: "moved" })];
    ada.deletes(gone.number);
    const there = ada.transfers(moved.number, other);
    assert.equal((await ask(`GET ${APP}/issues/${gone.number}`)).status, 410);
    const redirected = await ask(`GET ${APP}/issues/${moved.number}`);
    assert.equal(redirected.status, 301);
    assert.match(redirected.headers.get("location") ?? "", new RegExp(`/repos/acme/other/issues/${there.number}$`));
    assert.equal((await ask(`GET ${APP}/issues/99`)).status, 404);
    repository.formerNames.add("acme/app");
    repository.name = "renamed";
    assert.match((await ask(`GET ${APP}/issues`)).headers.get("location") ?? "", /\/repos\/acme\/renamed\/issues$/);
    assert.equal((await ask("GET /repos/acme/nothing")).status, 404);
    const refs = `${github.cloneUrl("acme/app")}/info/refs?service=git-upload-pack`;
    const headers = { authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}` };
    const cloned = await fetch(refs, { headers, redirect: "manual" });
    assert.equal(cloned.status, 301);
    assert.match(cloned.headers.get("location") ?? "", /\/acme\/renamed\.git\/info\/refs\?service=git-upload-pack$/);
  });

  it("takes pushes by git itself, and refuses with GitHub's words", async (t) => {
    const { github, repository, token } = await setUp(t);
    const folder = mkdtempSync(join(tmpdir(), "fake-github-clone-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const url = new URL(github.cloneUrl("acme/app"));
    Object.assign(url, { username: "x-access-token", password: token });
    const git = (...args: string[]): ReturnType<typeof tryGitAsync> => tryGitAsync(folder, args);
    assert.equal((await git("clone", "--quiet", url.href, ".")).status, 0);
    await git("commit", "--quiet", "--allow-empty", "-m", "More");
    const { stdout } = await git("rev-parse", "HEAD");
    assert.equal((await git("push", "--quiet", "origin", "HEAD:refs/heads/topic")).status, 0);
    assert.equal((await clientOf(github, token)(`GET ${APP}/branches/topic`)).body.commit.sha, stdout);
    const rules = {
      requiredChecks: [],
      approvals: 0,
      mergeQueue: false,
      refusePush: "GH006: Protected branch update failed for refs/heads/main.",
    };
    repository.rules.set("main", rules);
    const refused = await git("push", "origin", "HEAD:refs/heads/main");
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /GH006: Protected branch/);
    const wrong = new URL(url);
    wrong.password = "wrong";
    assert.notEqual((await git("ls-remote", wrong.href)).status, 0);
  });
});
