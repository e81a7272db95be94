import type { TestContext } from "node:test";
import { GitHubClient } from "../../src/github/client/client.ts";
import { environmentToken } from "../../src/github/client/tokens.ts";
import { sendOnce } from "../../src/github/client/transport.ts";
import { RepositoryCalls } from "../../src/github/repository.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { type FakeGitHub, type FakeGitHubOptions, startFakeGitHub } from "../testing/github/fake-github.ts";
import type { Person } from "../testing/github/people.ts";
import type { TokenOptions } from "../testing/github/tokens.ts";
import type { Repository } from "../testing/github/world.ts";

export interface Setting {
  readonly github: FakeGitHub;
  readonly repository: Repository;
  readonly client: GitHubClient;
  readonly calls: RepositoryCalls;
  readonly ada: Person;
  /** `TOKEN` is the bot's. */
  readonly env: Record<string, string>;
}

interface SettingOptions extends FakeGitHubOptions {
  readonly reserve?: number;
  readonly token?: TokenOptions;
}

/** A client for the repository acme/app, in which ada and the bot may write. */
export async function setUp(t: TestContext, options: SettingOptions = {}): Promise<Setting> {
  const github = await startFakeGitHub(options);
  t.after(() => github.close());
  const repository = github.repository("acme/app", { ada: "write", bot: "write", eve: "read" });
  const env = { TOKEN: github.server.accounts.add("bot", options.token) };
  const client = new GitHubClient({
    ...{ apiUrl: github.apiUrl, token: environmentToken(env, "TOKEN"), clock: systemClock },
    ...{ reserve: options.reserve ?? 0.2, send: sendOnce },
  });
  const calls = new RepositoryCalls(client, { id: repository.id, fullName: "acme/app" });
  return { github, repository, client, calls, ada: github.person(repository, "ada"), env };
}
