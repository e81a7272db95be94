import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { appToken } from "../../../src/github/client/app.ts";
import { GitHubClient } from "../../../src/github/client/client.ts";
import { judgeAnswer, judgeGraphql } from "../../../src/github/client/outcome.ts";
import { environmentToken, firstToken, ghToken } from "../../../src/github/client/tokens.ts";
import { sendOnce } from "../../../src/github/client/transport.ts";
import { CallError } from "../../../src/github/pages.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { thorough } from "../../testing/thorough.ts";
import { setUp as setUpClient } from "../setting.ts";

const ISSUES = "/repos/acme/app/issues";

async function setUp(t: TestContext, options: Parameters<typeof setUpClient>[1] = {}) {
  const setting = await setUpClient(t, options);
  return { ...setting, number: setting.ada.opens({ title: "One" }).number };
}

describe("the client for GitHub", { concurrency: 4 }, () => {
  it("asks with tags, and gives from memory what is unchanged", async (t) => {
    const { github, client, ada, number } = await setUp(t);
    const first = await client.get(ISSUES);
    assert.deepEqual(await client.get(ISSUES), first);
    assert.deepEqual(
      github.server.seen.map(({ status }) => status),
      [200, 304],
    );
    ada.comments(number, "News.");
    const third = await client.get(ISSUES);
    assert(third.kind === "ok" && first.kind === "ok");
    assert.notDeepEqual(third.data, first.data);
  });

  it("remembers no more than a few long answers", thorough, async (t) => {
    const { github, client, ada } = await setUp(t);
    for (let count = 0; count < 99; count += 1) ada.opens({ title: "long", body: "x".repeat(65_000) });
    const statuses = async (...pages: number[]): Promise<number[]> => {
      github.server.seen.length = 0;
      for (const page of pages) await client.get(ISSUES, { query: { per_page: 100, unused: page } });
      return github.server.seen.map(({ status }) => status);
    };
    assert.deepEqual(await statuses(1, 2, 3), [200, 200, 200]);
    assert.deepEqual(await statuses(3, 1), [304, 200]);
  });

  it("asks once for what several want at the same time", async (t) => {
    const { github, client } = await setUp(t);
    await Promise.all([client.get(ISSUES), client.get(ISSUES), client.get(`${ISSUES}/1`)]);
    assert.equal(github.server.seen.length, 2);
  });

  it("forgets what another token saw", async (t) => {
    const { github, client, env } = await setUp(t);
    await client.get(ISSUES);
    env.TOKEN = github.server.accounts.add("ada");
    await client.get(ISSUES);
    assert.deepEqual(
      github.server.seen.map(({ status }) => status),
      [200, 200],
    );
  });

  it("never asks again by itself, and says whether it may have happened", async (t) => {
    const { github, client, number } = await setUp(t);
    const post = (): ReturnType<GitHubClient["send"]> =>
      client.send("POST", `${ISSUES}/${number}/comments`, { body: { body: "x" } });
    for (const kind of ["error-after", "cut-after", "truncated", "error-before", "cut-before"] as const) {
      github.server.faults.add({ kind, on: /POST/ });
      const outcome = await post();
      assert(outcome.kind === "failed", kind);
      assert.equal(outcome.mayHaveHappened, true, kind);
    }
    assert.equal(github.world.repositories[0]?.issues.get(number)?.comments.length, 3);
    await github.server.close();
    const { kind, mayHaveHappened } = { mayHaveHappened: true, ...(await post()) };
    assert.deepEqual([kind, mayHaveHappened], ["failed", false], "it cannot have arrived");
    await github.server.listen();
  });

  it("tells limits as a time to wait", async (t) => {
    const { client, number } = await setUp(t, { limits: { contentPerMinute: 1 } });
    const post = (): ReturnType<GitHubClient["send"]> =>
      client.send("POST", `${ISSUES}/${number}/comments`, { body: { body: "x" } });
    assert.equal((await post()).kind, "ok");
    const limited = await post();
    assert(limited.kind === "limited");
    assert(limited.retryAfterMs > 0 && limited.retryAfterMs <= 60_000);
  });

  it("makes 400 comments in an hour and no more, and says so", async (t) => {
    let now = Date.parse("2026-01-01T00:00:00Z");
    const { github, env, number } = await setUp(t, { now: () => now });
    const client = new GitHubClient({
      ...{ apiUrl: github.apiUrl, token: environmentToken(env, "TOKEN"), clock: { now: () => now } },
      ...{ reserve: 0.2, send: sendOnce },
    });
    const post = (): ReturnType<GitHubClient["send"]> =>
      client.send("POST", `${ISSUES}/${number}/comments`, { body: { body: "x" } });
    for (let made = 0; made < 400; made += 1) {
      assert.equal((await post()).kind, "ok");
      now += 2000;
    }
    const limited = await post();
    assert(limited.kind === "limited");
    assert.match(limited.reason, /^prloom makes no more than 400 comments, .* in an hour with one token/);
    assert.equal(limited.retryAfterMs, 3_600_000 - 800_000);
    assert.equal((await client.get(ISSUES)).kind, "ok", "it is heard all the same");
    now += limited.retryAfterMs;
    assert.equal((await post()).kind, "ok");
  });

  it("asks for nothing at all while GitHub asks to be left alone", async (t) => {
    let now = Date.parse("2026-01-01T00:00:00Z");
    const { github, env } = await setUp(t, { now: () => now });
    const client = new GitHubClient({
      ...{ apiUrl: github.apiUrl, token: environmentToken(env, "TOKEN"), clock: { now: () => now } },
      ...{ reserve: 0.2, send: sendOnce },
    });
    github.server.faults.add({ kind: "secondary-limit" });
    assert.equal((await client.get(ISSUES)).kind, "limited");
    const other = await client.graphql("query { viewer { login } }", {});
    assert(other.kind === "limited" && other.unasked && other.retryAfterMs === 1000, JSON.stringify(other));
    now += 1000;
    assert.equal((await client.get(ISSUES)).kind, "ok");
  });

  it("takes no page of a proxy for an answer", async (t) => {
    const { github, client, number } = await setUp(t);
    github.server.faults.add({ kind: "page", times: 3 });
    const outcomes = [
      await client.get(ISSUES),
      await client.send("PATCH", `${ISSUES}/${number}`, { body: { state: "closed" } }),
      await client.graphql("query { viewer { login } }", {}),
    ];
    for (const outcome of outcomes) assert(outcome.kind === "failed" && outcome.mayHaveHappened, outcome.kind);
    const empty = judgeGraphql({ kind: "ok", data: { data: null }, headers: {} });
    assert.equal(empty.kind, "failed", "with neither data nor errors");
  });

  it("takes a limit for one that has ended by our clock, and in both of GraphQL's words", () => {
    const now = 1_800_000_000_000;
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${now / 1000 - 1}` };
    const answer = { status: 403, headers, data: { message: "API rate limit exceeded for user ID 1." } };
    assert.equal(judgeAnswer(answer, now).kind, "limited");
    for (const type of ["RATE_LIMIT", "RATE_LIMITED"]) {
      const data = { errors: [{ type, message: "API rate limit already exceeded for user ID 1." }] };
      assert.equal(judgeGraphql({ kind: "ok", headers: {}, data }).kind, "limited");
    }
  });

  it("leaves the reserve to people", async (t) => {
    const { github, client } = await setUp(t, { limits: { core: 10 }, reserve: 0.5 });
    const kinds: string[] = [];
    for (let call = 1; call <= 8; call += 1) kinds.push((await client.get(`${ISSUES}/${call}`)).kind);
    assert.deepEqual(kinds.slice(-2), ["limited", "limited"]);
    assert(github.server.seen.length <= 6, `${github.server.seen.length} calls`);
  });

  it("tells deleted, moved, refused and never there apart", async (t) => {
    const { github, client, ada, env } = await setUp(t);
    const other = github.repository("acme/other", { bot: "write" });
    ada.transfers(ada.opens({ title: "moves" }).number, other);
    const { number: gone } = ada.opens({ title: "goes" });
    ada.deletes(gone);
    assert.equal((await client.get(`${ISSUES}/99`)).kind, "not-found");
    assert.equal((await client.get(`${ISSUES}/${gone}`)).kind, "deleted");
    const moved = await client.get(`${ISSUES}/2`);
    assert(moved.kind === "moved");
    assert.match(moved.to, /acme\/other\/issues\/1$/);
    const refused = await client.send("POST", "/repos/acme/app/pulls", {
      body: { title: "x", head: "none", base: "main" },
    });
    assert.deepEqual(refused, { kind: "refused", status: 422, reason: "Validation Failed: head invalid" });
    github.server.accounts.revoke(env.TOKEN ?? "");
    assert.deepEqual(await client.get(ISSUES), { kind: "unauthorised", reason: "Bad credentials" });
    env.TOKEN = "";
    assert.deepEqual(await client.get(ISSUES), { kind: "unauthorised", reason: "TOKEN is not set", unasked: true });
  });

  it("says of a call that failed whether GitHub said so", () => {
    for (const [outcome, words] of [
      [{ kind: "unauthorised", reason: "Bad credentials" }, "GitHub says Bad credentials"],
      [{ kind: "unauthorised", reason: "TOKEN is not set", unasked: true }, "TOKEN is not set"],
      [
        { kind: "failed", reason: "it broke off", mayHaveHappened: true, lost: true },
        "GitHub did not answer: it broke off",
      ],
    ] as const)
      assert.equal(new CallError("issue #1", outcome).message, `issue #1: ${words}`);
  });

  it("asks by GraphQL, whose errors come with 200", async (t) => {
    const { client } = await setUp(t);
    const outcome = await client.graphql("query { viewer { login } }", {});
    assert(outcome.kind === "ok");
    assert.deepEqual(outcome.data, { viewer: { login: "bot" } });
    const query = 'query ($n: Int!) { repository(owner: "acme", name: "app") { pullRequest(number: $n) { id } } }';
    assert.equal((await client.graphql(query, { n: 99 })).kind, "not-found");
    assert.equal((await client.graphql("query { nothing }", {})).kind, "refused");
    const one = { type: "NOT_FOUND", path: ["nodes", 0], message: "Could not resolve to a node" };
    const answer = { data: { nodes: [null, { id: "x" }] }, errors: [one] };
    assert.equal(judgeGraphql({ kind: "ok", data: answer, headers: {} }).kind, "ok", "one that is gone hides no other");
    const broke = "Something went wrong while executing your query. This may be the result of a timeout.";
    const failed = judgeGraphql({ kind: "ok", data: { errors: [{ message: broke }] }, headers: {} });
    assert.deepEqual(failed, { kind: "failed", reason: broke, mayHaveHappened: true }, "nothing was refused");
  });

  it("counts calls by plan", async (t) => {
    const { client } = await setUp(t);
    await client.get(ISSUES);
    await client.get(`${ISSUES}/1`, { plan: "dark" });
    await client.graphql("query { viewer { login } }", {}, "dark");
    assert.deepEqual(
      [...client.calls()],
      [
        ["", 1],
        ["dark", 2],
      ],
    );
  });

  it("never tells the token", async (t) => {
    const { client, env } = await setUp(t);
    const body = { title: "x", head: env.TOKEN, base: env.TOKEN, body: env.TOKEN };
    const outcomes = [
      await client.send("POST", "/repos/acme/app/pulls", { body }),
      await client.get(`/repos/acme/${env.TOKEN}`),
      await client.graphql(`query { ${env.TOKEN} }`, {}),
    ];
    assert.doesNotMatch(JSON.stringify(outcomes), /ghp_/);
  });

  it("comes with what the person is logged in with at gh", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "prloom-gh-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const env = { PATH: `${folder}:${process.env.PATH}` };
    const script = '#!/bin/sh\n[ "$*" = "auth token --hostname github.test" ] && echo gho_1234567890 || exit 1\n';
    writeFileSync(join(folder, "gh"), script, { mode: 0o755 });
    assert.equal(await ghToken(env, "github.test", systemClock).get(), "gho_1234567890");
    assert.deepEqual(await ghToken(env, "other.test", systemClock).get(), {
      missing: "gh is not logged in to other.test",
    });
    assert.deepEqual(await ghToken({ PATH: "/nowhere" }, "other.test", systemClock).get(), {
      missing: "gh is not installed",
    });
  });

  it("comes as an app with a token for its key, and renews it before it ends", async (t) => {
    const { github } = await setUp(t);
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = (key: typeof publicKey, type: "spki" | "pkcs8"): string =>
      key.export({ type, format: "pem" } as never).toString();
    const app = github.server.accounts.addApp("loom", pem(publicKey, "spki"), { issues: "write" });
    let now = Date.now();
    const options = {
      appId: `${app.id}`,
      repo: "acme/app",
      apiUrl: github.apiUrl,
      send: sendOnce,
      clock: { now: () => now },
    };
    const source = appToken({ ...options, key: () => pem(privateKey, "pkcs8") });
    const first = await source.get();
    assert.match(String(first), /^ghs_/);
    assert.equal(await source.get(), first);
    now += 56 * 60_000;
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 });
    // Taken away and installed anew it has another id, which is asked for at the next call.
    Object.assign(app, { installation: app.installation + 1 });
    source.forget?.();
    assert.match(JSON.stringify(await source.get()), /is the app installed there\?/);
    assert.equal(typeof (await source.get()), "string");
    assert.deepEqual(await appToken({ ...options, key: () => pem(other.privateKey, "pkcs8") }).get(), {
      missing: `GitHub gave the app ${app.id} no token: A JSON web token could not be decoded (github.app.id and the key belong to each other, and the clock is right?)`,
    });
    assert.notEqual(await source.get(), first);
    now = Date.now();
    assert.equal(await source.botLogin?.(), "loom[bot]");
    assert.deepEqual(await appToken({ ...options, key: () => "secret" }).get(), {
      missing: `the key of the GitHub App ${app.id} is not a private key in PEM`,
    });
    const second = await source.get();
    source.forget?.();
    assert.notEqual(await source.get(), second);
    const variable = environmentToken({ TOKEN: "ghp_1" }, "TOKEN");
    assert.equal(await firstToken([variable, source]).get(), "ghp_1");
    const both = firstToken([environmentToken({}, "TOKEN"), source]);
    assert.deepEqual([await both.get(), both.from], [await source.get(), `the GitHub App ${app.id}`]);
  });
});
