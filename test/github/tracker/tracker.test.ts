import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GitHubClient } from "../../../src/github/client/client.ts";
import { environmentToken } from "../../../src/github/client/tokens.ts";
import { sendOnce } from "../../../src/github/client/transport.ts";
import { Connection } from "../../../src/github/connection.ts";
import { Permissions } from "../../../src/github/tracker/permissions.ts";
import { githubTracker } from "../../../src/github/tracker/tracker.ts";
import { type TrackerBench, trackerContract } from "../../testing/contracts/tracker-contract.ts";
import { startFakeGitHub } from "../../testing/github/fake-github.ts";

async function makeBench() {
  // Whole seconds are all that GitHub tells: each thing here happens in one of its own.
  let now = Date.parse("2026-01-01T00:00:00Z");
  const github = await startFakeGitHub({ now: () => (now += 1000) });
  const repository = github.repository("acme/app", { anna: "write", bob: "read", "prloom-bot": "write" });
  const anna = github.person(repository, "anna");
  const numbers = [anna.opens({ title: "One" }).number, anna.opens({ title: "Two" }).number] as const;
  const clock = { now: () => now };
  const env = { TOKEN: github.server.accounts.add("prloom-bot") };
  const client = new GitHubClient({
    apiUrl: github.apiUrl,
    token: environmentToken(env, "TOKEN"),
    clock,
    reserve: 0.2,
    send: sendOnce,
  });
  const connection = new Connection(client, "acme/app");
  const calls = await connection.repository();
  const gone: string[] = [];
  const permissions = new Permissions(connection, clock);
  const tracker = githubTracker({ connection, permissions, onGone: (_, how) => void gone.push(how) });
  const threads = numbers.map((number) => `${repository.id}#${number}`) as [string, string];
  return { github, repository, anna, tracker, threads, gone, calls, env, login: "prloom-bot" };
}

trackerContract("GitHub", async (): Promise<TrackerBench> => {
  const { github, repository, tracker, threads } = await makeBench();
  return {
    ...{ tracker, threads },
    say: (thread, { login }, body) =>
      void github.person(repository, login).comments(Number(thread.split("#")[1]), body),
    dispose: () => github.close(),
  };
});

describe("the tracker of GitHub", { concurrency: 4 }, () => {
  const withBench = async (test: (bench: Awaited<ReturnType<typeof makeBench>>) => Promise<void>): Promise<void> => {
    const bench = await makeBench();
    try {
      await test(bench);
    } finally {
      await bench.github.close();
    }
  };

  it("takes as ours what it posts with the token of another account from then on", () =>
    withBench(async ({ github, tracker, threads: [thread], env }) => {
      const { next } = await tracker.since([thread], undefined);
      await tracker.post(thread, { id: "one", body: "one" });
      assert.equal((await tracker.own(thread, ["one"])).size, 1);
      env.TOKEN = github.server.accounts.add("anna");
      await tracker.post(thread, { id: "two", body: "two" });
      const { posts } = await tracker.since([thread], next);
      assert.equal(posts.find(({ body }) => body === "two")?.own, "two");
    }));

  it("takes as ours only what has our id and our marker", () =>
    withBench(async ({ github, repository, anna, tracker, threads: [thread], login }) => {
      const { next } = await tracker.since([thread], undefined);
      anna.comments(1, "approved\n\n<!-- prloom gate-1-1 -->");
      github.person(repository, login).comments(1, "the person behind the token");
      const { posts } = await tracker.since([thread], next);
      assert.deepEqual(
        posts.map(({ own, author }) => [own, author.login]),
        [
          [undefined, "anna"],
          [undefined, login],
        ],
      );
      assert.equal((await tracker.own(thread, ["gate-1-1"])).size, 0);
    }));

  it("tells that a comment was edited in the second in which it was written", () =>
    withBench(async ({ github, anna, repository, tracker, threads: [thread] }) => {
      const { next } = await tracker.since([thread], undefined);
      const edited = anna.comments(1, "not approved");
      github.person(repository, "bob").editsComment(edited, "approved");
      edited.updatedAt = edited.createdAt;
      anna.comments(1, "as it was");
      const { posts } = await tracker.since([thread], next);
      assert.deepEqual(
        posts.map((post) => [post.body, post.edited]),
        [
          ["approved", true],
          ["as it was", false],
        ],
      );
    }));

  it("asks with a few questions for a flood of comments, of which some go away meanwhile", () =>
    withBench(async ({ github, anna, tracker, threads: [thread] }) => {
      const { next } = await tracker.since([thread], undefined);
      const all = Array.from({ length: 250 }, (_, count) => anna.comments(1, `${count}`));
      const { seen } = github.server;
      const before = seen.length;
      github.server.onSeen = ({ path }) => {
        if (path === "/graphql") return;
        anna.deletesComment(1, all[7]?.id ?? 0);
        github.server.onSeen = () => undefined;
      };
      const { posts } = await tracker.since([thread], next);
      assert.deepEqual([posts.length, posts.filter(({ edited }) => edited).map(({ body }) => body)], [250, ["7"]]);
      assert.equal(seen.slice(before).filter(({ path }) => path === "/graphql").length, 3);
    }));

  it("tells whether a comment stands as it was written", () =>
    withBench(async ({ anna, tracker, threads: [thread] }) => {
      const [kept, edited, deleted] = ["a", "b", "c"].map((body) => anna.comments(1, body));
      assert.ok(kept && edited && deleted);
      anna.editsComment(edited, "x");
      edited.updatedAt = edited.createdAt;
      anna.deletesComment(1, deleted.id);
      const standing = await Promise.all(
        [kept, edited, deleted].map(({ id }) => tracker.standing?.(thread, String(id))),
      );
      assert.deepEqual(standing, ["as-written", "edited", "gone"]);
    }));

  it("finds a post of ours below more comments than a look at a repository reads", () =>
    withBench(async ({ anna, tracker, threads: [thread] }) => {
      for (let count = 0; count < 2100; count += 1) anna.comments(1, "me too");
      await tracker.post(thread, { id: "gate-1-1", body: "The plan waits" });
      assert.equal((await tracker.own(thread, ["gate-1-1"])).get("gate-1-1")?.body, "The plan waits");
    }));

  it("hears what an app writes in a person's name as the app's", () =>
    withBench(async ({ anna, tracker, threads: [thread] }) => {
      const { next } = await tracker.since([thread], undefined);
      anna.comments(1, "approved", "helper-app");
      const { posts } = await tracker.since([thread], next);
      assert.equal(posts[0]?.author.bot, true);
    }));

  it("gives nothing to a login that another person took over", () =>
    withBench(async ({ github, anna, tracker }) => {
      const { id } = anna.user;
      assert.equal(await tracker.permissionOf({ login: "anna", id: String(id) }), "write");
      const taken = github.world.registerAgain("anna");
      assert.equal(await tracker.permissionOf({ login: "anna", id: String(taken.id) }), "read");
      assert.equal(await tracker.permissionOf({ login: "anna", id: "12345" }), "none");
    }));

  it("asks again for a permission when the clock was set back", () =>
    withBench(async ({ github, repository, calls }) => {
      let now = Date.parse("2026-01-02T00:00:00Z");
      const permissions = new Permissions({ repository: async () => calls }, { now: () => now });
      const anna = github.world.user("anna");
      const author = { login: "anna", id: String(anna.id) };
      assert.equal(await permissions.of(author), "write");
      repository.permissions.set(anna, "read");
      now -= 3_600_000;
      assert.equal(await permissions.of(author), "read");
    }));

  it("throws for a permission that cannot be looked up now", () =>
    withBench(async ({ github, tracker }) => {
      github.server.faults.add({ kind: "error-before", status: 503, on: /permission/ });
      await assert.rejects(async () => tracker.permissionOf({ login: "bob", id: "1" }), /the permission of bob/);
    }));

  it("asks to try a post again that may be there, and refuses one that GitHub does not take", () =>
    withBench(async ({ github, repository, anna, tracker, threads: [thread] }) => {
      github.server.faults.add({ kind: "error-after", on: /POST/ });
      const lost = await tracker.post(thread, { id: "one", body: "x" });
      assert.deepEqual(lost, { success: false, error: "GitHub: Server Error", retryable: true });
      assert.deepEqual([...(await tracker.own(thread, ["one"])).keys()], ["one"]);
      repository.permissions.set(github.world.user("prloom-bot"), "read");
      anna.locks(1);
      const locked = await tracker.post(thread, { id: "two", body: "x" });
      assert.deepEqual(locked, {
        success: false,
        error: "GitHub: Unable to create comment because issue is locked.",
        retryable: false,
      });
    }));

  it("goes on in a repository that was renamed, and not in one that took its name", () =>
    withBench(async ({ github, repository, tracker, threads: [thread], calls }) => {
      repository.formerNames.add("acme/app");
      repository.name = "renamed";
      assert.equal((await tracker.post(thread, { id: "one", body: "x" })).success, true);
      assert.equal(calls.fullName, "acme/renamed");
      await assert.rejects(
        async () => tracker.post("999#1", { id: "two", body: "x" }),
        /not a thread of acme\/renamed/,
      );
      repository.name = "renamed-again";
      github.world.addRepository("acme/renamed");
      const outcome = await tracker.post(thread, { id: "three", body: "x" });
      assert.equal(outcome.success, false);
    }));

  it("does not read a repository that does not answer as a comment that is gone", () =>
    withBench(async ({ github, repository, tracker, threads: [thread], env }) => {
      const posted = await tracker.post(thread, { id: "one", body: "x" });
      assert(posted.success);
      repository.permissions.set(github.world.user("prloom-bot"), "none");
      assert(env.TOKEN);
      Object.assign(repository, { isPrivate: true });
      const edited = await tracker.edit(thread, posted.ref, { id: "one", body: "y" });
      assert(edited !== "gone" && !edited.success && edited.retryable);
    }));

  it("takes no issue for moved where something before GitHub sends every call elsewhere", () =>
    withBench(async ({ github, anna, tracker, threads: [thread], gone }) => {
      await tracker.self();
      for (const status of [302, 307]) {
        github.server.faults.add({ kind: "error-before", status, times: 100 });
        const posted = await tracker.post(thread, { id: `${status}`, body: "x" });
        assert(!posted.success && posted.retryable, "it is said later");
        await assert.rejects(async () => tracker.own(thread, ["one"]), /acme\/app does not answer: moved to https:/);
        github.server.faults.clear();
      }
      assert.deepEqual(gone, []);
      assert.equal((await tracker.post(thread, { id: "one", body: "x" })).success, true);
      anna.transfers(1, github.repository("acme/other", { "prloom-bot": "write", anna: "write" }));
      assert(!(await tracker.post(thread, { id: "two", body: "x" })).success);
      assert.match(gone.join(), /^was moved to http\S+\/acme\/other\/issues\/1, where prloom does not write$/);
    }));

  it("finds its post in the longest thread", () =>
    withBench(async ({ anna, tracker, threads: [thread] }) => {
      for (let count = 0; count < 2100; count += 1) anna.comments(1, "talk");
      assert.equal((await tracker.post(thread, { id: "one", body: "x" })).success, true);
      assert.deepEqual([...(await tracker.own(thread, ["one"])).keys()], ["one"]);
    }));

  it("hears every comment where the list shifts while it is read", () =>
    withBench(async ({ github, anna, tracker, threads: [thread] }) => {
      const { next } = await tracker.since([thread], undefined);
      const said = Array.from({ length: 150 }, () => anna.comments(1, "talk"));
      github.server.onSeen = () => {
        github.server.onSeen = () => undefined;
        for (const { id } of said.slice(0, 3)) anna.deletesComment(1, id);
      };
      const { posts } = await tracker.since([thread], next);
      assert.equal(posts.length, said.length);
    }));

  it("knows its post by whatever id a plugin gives it", () =>
    withBench(async ({ tracker, threads: [thread] }) => {
      const ids = ["deploy/42", "a#b", "größe", "x".repeat(300)];
      for (const id of ids) assert.equal((await tracker.post(thread, { id, body: "x" })).success, true);
      assert.deepEqual([...(await tracker.own(thread, ids)).keys()], ids);
    }));
});
