import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fetchBranch } from "../../../src/git/remote/fetch.ts";
import { pushBranch } from "../../../src/git/remote/push.ts";
import { type Remote, remoteTip } from "../../../src/git/remote/remote.ts";
import { openRepository, type Repository } from "../../../src/git/repository.ts";
import { type FakeGitHub, startFakeGitHub } from "../../testing/github/fake-github.ts";
import { git } from "../../testing/github/git.ts";
import type { Person } from "../../testing/github/people.ts";
import { tryGitAsync } from "../../testing/github/tests/async-git.ts";

interface Setting {
  readonly github: FakeGitHub;
  readonly ada: Person;
  readonly repo: Repository;
  readonly remote: Remote;
  readonly folder: string;
  commit(name: string): string;
}

async function setUp(t: TestContext): Promise<Setting> {
  const github = await startFakeGitHub();
  const top = mkdtempSync(join(tmpdir(), "prloom-remote-"));
  t.after(async () => {
    await github.close();
    rmSync(top, { recursive: true, force: true });
  });
  const ada = github.person(github.repository("acme/app", { ada: "write", bot: "write" }), "ada");
  const token = github.server.accounts.add("bot");
  const url = github.cloneUrl("acme/app");
  const signed = url.replace("://", `://x:${token}@`);
  const folder = join(top, "here");
  assert.equal((await tryGitAsync(top, ["clone", "--quiet", signed, "here"])).status, 0);
  const commit = (name: string): string => {
    writeFileSync(join(folder, name), `${name}\n`);
    git(folder, ["add", "."]);
    git(folder, ["commit", "--quiet", "-m", name]);
    return git(folder, ["rev-parse", "HEAD"]);
  };
  const remote = { url, token, folder: join(top, "ours.git") };
  return { github, ada, repo: await openRepository(folder), remote, folder, commit };
}

describe("a repository on a server", { concurrency: 3 }, () => {
  it("takes a branch, and the next commits on it", async (t) => {
    const { repo, remote, commit } = await setUp(t);
    const first = commit("one");
    assert.deepEqual(await pushBranch(repo, remote, { branch: "topic", sha: first, expected: undefined }), {
      kind: "pushed",
    });
    const second = commit("two");
    assert.deepEqual(await pushBranch(repo, remote, { branch: "topic", sha: second, expected: first }), {
      kind: "pushed",
    });
    assert.equal(await remoteTip(repo, remote, "topic"), second);
    // The push before got through, and its answer was lost.
    assert.deepEqual(await pushBranch(repo, remote, { branch: "topic", sha: second, expected: first }), {
      kind: "pushed",
    });
  });

  it("keeps what another person pushed, or deleted", async (t) => {
    const { repo, remote, ada, commit } = await setUp(t);
    const sha = commit("one");
    await pushBranch(repo, remote, { branch: "topic", sha, expected: undefined });
    const theirs = ada.pushes("topic", { "theirs.txt": "x\n" });
    const next = commit("two");
    assert.deepEqual(await pushBranch(repo, remote, { branch: "topic", sha: next, expected: sha }), {
      kind: "diverged",
      tip: theirs,
    });
    assert.deepEqual(await fetchBranch(repo, remote, "topic"), { kind: "fetched", sha: theirs });
    assert.equal(git(repo.root, ["cat-file", "-t", theirs]), "commit");
    ada.deletesBranch("topic");
    assert.deepEqual(await pushBranch(repo, remote, { branch: "topic", sha: next, expected: sha }), {
      kind: "diverged",
      tip: undefined,
    });
    assert.deepEqual(await fetchBranch(repo, remote, "topic"), { kind: "absent" });
    assert.equal(await remoteTip(repo, remote, "topic"), undefined);
  });

  it("tells a refusal in the server's words, and a server that cannot be reached", async (t) => {
    const { github, repo, remote, commit } = await setUp(t);
    const sha = commit("one");
    const sent = Buffer.from(`x-access-token:${remote.token}`).toString("base64");
    const refusePush = `GH006: Protected branch update failed. (${remote.token}, ${sent})`;
    github.world.repositories[0]?.rules.set("topic", {
      requiredChecks: [],
      approvals: 0,
      mergeQueue: false,
      refusePush,
    });
    const refused = await pushBranch(repo, remote, { branch: "topic", sha, expected: undefined });
    assert(refused.kind === "refused");
    assert.match(refused.reason, /^GH006: Protected branch update failed\. \(\(token\), \(token\)\)/);
    const wrong = await pushBranch(
      repo,
      { ...remote, token: "ghp_wrong" },
      { branch: "other", sha, expected: undefined },
    );
    assert.equal(wrong.kind, "failed");
    assert.doesNotMatch(JSON.stringify(wrong), /ghp_/);
    const nowhere = await fetchBranch(repo, { ...remote, url: "http://127.0.0.1:1/acme/app.git" }, "main");
    assert.equal(nowhere.kind, "failed");
  });

  it("fails, and refuses nothing, where the server has trouble of its own with a branch", async (t) => {
    const { github, repo, remote, commit } = await setUp(t);
    const sha = commit("one");
    const rules = github.world.repositories[0]?.rules;
    const push = () => pushBranch(repo, remote, { branch: "topic", sha, expected: undefined });
    for (const failPush of ["Internal Server Error", "failure"]) {
      rules?.set("topic", { requiredChecks: [], approvals: 0, mergeQueue: false, refusePush: undefined, failPush });
      assert.equal((await push()).kind, "failed", failPush);
    }
    rules?.clear();
    assert.equal((await push()).kind, "pushed");
  });

  it("fails, and refuses nothing, while the branch waits in a merge queue", async (t) => {
    const { github, repo, remote, commit } = await setUp(t);
    const [first, then] = [commit("one"), commit("two")];
    const push = (sha: string, expected?: string) => pushBranch(repo, remote, { branch: "topic", sha, expected });
    assert.equal((await push(first)).kind, "pushed");
    const [repository] = github.world.repositories;
    assert.ok(repository);
    const { pull } = github.person(repository, "bot").opensPull({ title: "Topic", head: "topic", base: "main" });
    assert.ok(pull);
    pull.queued = true;
    const outcome = await push(then, first);
    assert(outcome.kind === "failed");
    assert.match(
      outcome.reason,
      /^error: A pull request for this branch has been added to a merge queue\. Branches that are/,
    );
    pull.queued = false;
    assert.equal((await push(then, first)).kind, "pushed");
  });

  it("cannot be sent elsewhere by configuration, hooks or attributes of the repository", async (t) => {
    const { repo, remote, commit, folder } = await setUp(t);
    const asked: string[] = [];
    const thief = createServer((request, response) => {
      asked.push(request.headers.authorization ?? request.headers["proxy-authorization"] ?? "asked");
      response.writeHead(404).end();
    });
    await once(thief.listen(0, "127.0.0.1"), "listening");
    t.after(() => thief.close());
    const url = `http://127.0.0.1:${(thief.address() as AddressInfo).port}/`;
    const ran = join(folder, "ran");
    for (const [key, value] of [
      [`url.${url}.insteadOf`, remote.url],
      [`url.${url}.pushInsteadOf`, remote.url],
      ["http.proxy", url],
      ["core.sshCommand", `touch ${ran}`],
      ["credential.helper", `!touch ${ran}`],
      ["core.hooksPath", join(folder, "hooks")],
      ["push.gpgSign", "true"],
      ["gpg.program", `touch ${ran}`],
    ] as const) {
      git(folder, ["config", key, value]);
    }
    writeFileSync(join(folder, ".git", "hooks", "pre-push"), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    const sha = commit("one");
    assert.deepEqual(await pushBranch(repo, remote, { branch: "topic", sha, expected: undefined }), { kind: "pushed" });
    assert.deepEqual([asked, existsSync(ran)], [[], false]);
  });

  it("that sends git elsewhere does not get the token shown there", async (t) => {
    const { repo, remote } = await setUp(t);
    const shown: unknown[] = [];
    const refs = `001e# service=git-upload-pack\n0000000eversion 2\n000cls-refs\n0000`;
    const elsewhere = createServer((request, response) => {
      shown.push(request.headers.authorization);
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" }).end(refs);
    });
    const front = createServer(({ url = "" }, response) => {
      const { port } = elsewhere.address() as AddressInfo;
      response.writeHead(302, { location: `http://127.0.0.1:${port}${url}` }).end();
    });
    for (const server of [elsewhere, front]) {
      await once(server.listen(0, "127.0.0.1"), "listening");
      t.after(() => server.close());
    }
    const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/acme/app.git`;
    const outcome = await fetchBranch(repo, { ...remote, url }, "main");
    assert.equal(outcome.kind, "failed");
    assert.deepEqual(shown.filter(Boolean), []);
  });

  it("brings commits into a shallow clone, and takes a push from one", async (t) => {
    const { github, ada, remote, folder } = await setUp(t);
    ada.pushes("main", { "more.txt": "1\n" });
    const shallow = join(folder, "..", "shallow");
    const signed = github.cloneUrl("acme/app").replace("://", `://x:${remote.token}@`);
    assert.equal((await tryGitAsync(folder, ["clone", "--quiet", "--depth=1", signed, shallow])).status, 0);
    const repo = await openRepository(shallow);
    writeFileSync(join(shallow, "new.txt"), "x\n");
    git(shallow, ["add", "."]);
    git(shallow, ["commit", "--quiet", "-m", "New"]);
    const sha = git(shallow, ["rev-parse", "HEAD"]);
    assert.deepEqual(await pushBranch(repo, remote, { branch: "topic", sha, expected: undefined }), { kind: "pushed" });
    const newer = ada.pushes("main", { "more.txt": "2\n" });
    assert.deepEqual(await fetchBranch(repo, remote, "main"), { kind: "fetched", sha: newer });
  });
});
