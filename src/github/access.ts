import type { GitHubSettings } from "../config/schema/github-schema.ts";
import type { Clock } from "../kernel/clock.ts";
import { GitHubClient } from "./client/client.ts";
import { environmentToken, type TokenSource } from "./client/tokens.ts";
import { sendOnce } from "./client/transport.ts";
import { Connection } from "./connection.ts";
import { Permissions } from "./tracker/permissions.ts";

export interface GitHubAccessOptions {
  readonly settings: GitHubSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** One token's way to one repository. All that talk to GitHub share it: what is kept of it, and its budget, are the token's. */
export interface GitHubAccess {
  readonly token: TokenSource;
  readonly client: GitHubClient;
  readonly connection: Connection;
  readonly permissions: Permissions;
}

export function githubAccess({ settings, environment, clock }: GitHubAccessOptions): GitHubAccess {
  const { apiUrl, reserve, repo, tokenEnv } = settings;
  const token = environmentToken(environment, tokenEnv);
  const client = new GitHubClient({ apiUrl, clock, reserve, token, send: sendOnce });
  const connection = new Connection(client, repo);
  return { token, client, connection, permissions: new Permissions(connection, clock) };
}
