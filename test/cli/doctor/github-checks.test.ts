import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { checkGitHub } from "../../../src/cli/doctor/github-checks.ts";
import type { Call } from "../../../src/cli/output.ts";
import type { GitHubSettings } from "../../../src/config/schema/github-schema.ts";
import { githubSchema } from "../../../src/config/schema/github-schema.ts";
import { Board } from "../../testing/github/boards.ts";
import { type FakeGitHub, startFakeGitHub } from "../../testing/github/fake-github.ts";
import { repositoryFor } from "../fixture.ts";

interface Setting {
  readonly github: FakeGitHub;
  readonly settings: GitHubSettings;
  ask(token: string): Promise<string[]>;
}

async function setUp(t: TestContext): Promise<Setting> {
  const github = await startFakeGitHub();
  t.after(() => github.close());
  github.repository("acme/app", { bot: "write" });
  const settings = githubSchema.parse({ repo: "acme/app", apiUrl: github.apiUrl, tokenEnv: "TOKEN" });
  const ask = async (token: string): Promise<string[]> =>
    (await checkGitHub({ env: { TOKEN: token } } as unknown as Call, settings)).map(
      ({ state, text }) => `${state} ${text}`,
    );
  return { github, settings, ask };
}

test("a token that can do what is needed", async (t) => {
  const { github, ask } = await setUp(t);
  const [told = ""] = await ask(github.server.accounts.add("bot"));
  assert.match(told, /^ok acme\/app as bot, by the variable TOKEN; 49[89]\d of 5000 calls are left in this hour$/);
});

test("a token that is missing, revoked, or for nothing of it", async (t) => {
  const { github, ask } = await setUp(t);
  const { accounts } = github.server;
  assert.deepEqual(await ask(""), [
    "bad who the token belongs to cannot be asked: TOKEN is not set; gh is not installed",
  ]);
  assert.deepEqual(await ask("ghp_123"), ["bad who the token belongs to cannot be asked: Bad credentials"]);
  const blind = accounts.add("bot", { kind: "fine-grained", permissions: { contents: "read" } });
  assert.deepEqual(await ask(blind), [
    "bad issues of acme/app cannot be read: Resource not accessible by personal access token",
  ]);
  const [reader = ""] = await ask(accounts.add("eve"));
  assert.match(reader, /^warn acme\/app as eve.*who may only read there/);
});

test("a repository that is a fork, and an account that may not push: no pull requests from forks", async (t) => {
  const { github, settings } = await setUp(t);
  const forkOf = github.world.repositories[0];
  const fork = github.world.addRepository("eve/app", forkOf ? { forkOf } : {});
  fork.permissions.set(github.world.user("eve"), "write");
  github.person(fork, "eve").pushes("main", { "a.txt": "a\n" });
  const eve = { env: { TOKEN: github.server.accounts.add("eve") } } as unknown as Call;
  const ask = async (repo: string): Promise<string> =>
    (await checkGitHub(eve, { ...settings, repo }, "github"))
      .map(({ state, text, hint = "" }) => `${state} ${text} ${hint}`)
      .join("\n");
  assert.match(
    await ask("eve/app"),
    /^warn eve\/app is a fork: pull requests are made in it.* no pull requests from forks/m,
  );
  const stranger = await ask("acme/app");
  assert.match(
    stranger,
    /^bad may not write contents: .* the role Write\. prloom makes no pull requests from forks\.$/m,
  );
  assert.doesNotMatch(stranger, /is a fork/);
});

test("what a token may do is tried without doing it, and what is missing is named with the next step", async (t) => {
  const { github, settings } = await setUp(t);
  const [repository] = github.world.repositories;
  const ask = async (token: string, forge: "local" | "github"): Promise<string[]> =>
    (await checkGitHub({ env: { TOKEN: token } } as unknown as Call, settings, forge))
      .slice(1)
      .map(({ state, text, hint = "" }) => `${state} ${text} ${hint}`.trim());
  const { accounts } = github.server;
  const all = "write issues, write contents, write pull requests";
  assert.deepEqual(await ask(accounts.add("bot"), "github"), [`ok may ${all}, read checks`]);
  const permissions = { issues: "write", contents: "write", pull_requests: "write", actions: "read" } as const;
  const fine = { kind: "fine-grained", permissions: { ...permissions, statuses: "read" } } as const;
  assert.deepEqual(await ask(accounts.add("bot", fine), "github"), [
    `ok may ${all}, read runs and statuses`,
    "ok may not read checks; runs of Actions and statuses are read instead",
  ]);
  const weak = accounts.add("bot", { kind: "fine-grained", permissions: { issues: "read" } });
  const told = await ask(weak, "github");
  assert.match(told[1] ?? "", /^bad may not write issues: GitHub says Resource not acc.*"Issues: read and write"/);
  assert.match(told[2] ?? "", /^bad may not write contents.*"Contents: read and write"/);
  assert.match(told[5] ?? "", /^warn may not read runs and statuses/);
  assert.equal((await ask(weak, "local")).length, 2, "nothing is published, so nothing else is missing");
  assert.equal(repository?.issues.size, 0);
});

test("a board is read, and what is missing of it is named with the next step", async (t) => {
  const { github, settings } = await setUp(t);
  new Board(github.world, "acme", { columns: ["Todo", "Done"], isOrganization: false });
  const { accounts } = github.server;
  const ask = async (token: string, number: number, column: string): Promise<string> => {
    const boards = [{ owner: "acme", number, columns: [column] }];
    const findings = await checkGitHub({ env: { TOKEN: token } } as unknown as Call, settings, "local", boards);
    const { state, text, hint = "" } = findings.find(({ name }) => name === "GitHub project") ?? assert.fail();
    return `${state} ${text} ${hint}`.trim();
  };
  const token = accounts.add("bot");
  assert.equal(await ask(token, 1, "todo"), 'ok acme/1 has "todo"');
  assert.match(await ask(token, 1, "Ready"), /^bad .*no column "Ready"; it has "Todo", "Done" Correct `column`/);
  assert.match(await ask(token, 2, "Todo"), /^bad the project acme\/2 is not there, or .*Correct `project` of/);
  const fine = { kind: "fine-grained", permissions: { issues: "write", organization_projects: "read" } } as const;
  assert.match(await ask(accounts.add("bot", fine), 1, "Todo"), /^bad the token may not read .*classic tokens only/);
  github.server.faults.add({ kind: "error-before", on: /graphql/ });
  assert.match(await ask(token, 1, "Todo"), /^bad the project acme\/1: GitHub says .*again later/);
});

test("a repository that was renamed, or is not there", async (t) => {
  const { github, ask } = await setUp(t);
  const token = github.server.accounts.add("bot");
  const [repository] = github.world.repositories;
  assert(repository);
  repository.formerNames.add("acme/app");
  repository.name = "shop";
  assert.match((await ask(token)).join(), /^warn acme\/shop as bot/);
  repository.formerNames.clear();
  assert.deepEqual(await ask(token), ["bad the repository acme/app cannot be read: Not Found"]);
});

test("a branch that is only checked out cannot have the token sent anywhere", async (t) => {
  const asked: string[] = [];
  const thief = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(404).end();
  });
  await once(thief.listen(0, "127.0.0.1"), "listening");
  t.after(() => thief.close());
  const { root, run } = repositoryFor(t);
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@localhost", ...args], {
      cwd: root,
      encoding: "utf8",
    });
  const file = join(root, "prloom", "config.json");
  git("add", "-f", "prloom/config.json");
  git("commit", "-qm", "Config");
  const apiUrl = `http://127.0.0.1:${(thief.address() as AddressInfo).port}`;
  const withGitHub = { ...JSON.parse(readFileSync(file, "utf8")), github: { repo: "acme/app", apiUrl } };
  const env = { GITHUB_TOKEN: "ghp_secret" };
  git("checkout", "-qb", "theirs");
  writeFileSync(file, JSON.stringify(withGitHub));
  git("commit", "-qam", "Look at this");
  await run(["doctor"], { env });
  assert.deepEqual(asked, []);
  git("branch", "-f", "main");
  await run(["doctor"], { env });
  assert.deepEqual(asked, ["/user"], "it is a person's own by now");
});
