import type { GitHubSettings } from "../config/schema/github-schema.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Environment } from "../kernel/system/environment.ts";
import { readKey } from "./app-key.ts";
import { OwnEdits } from "./body/own-edits.ts";
import { appToken } from "./client/app.ts";
import { GitHubClient } from "./client/client.ts";
import { environmentToken, firstToken, ghToken, hostOf, type TokenSource } from "./client/tokens.ts";
import { sendOnce } from "./client/transport.ts";
import { Connection } from "./connection.ts";
import type { NamesStore } from "./names.ts";
import { Permissions } from "./tracker/permissions.ts";

export interface GitHubAccessOptions {
  readonly settings: GitHubSettings;
  readonly environment: Environment;
  readonly clock: Clock;
  /** What the repository was called before; nothing is remembered without it. */
  readonly names?: NamesStore;
}

/** One token's way to one repository. All that talk to GitHub share it: what is kept of it, and its budget, are the token's. */
export interface GitHubAccess {
  readonly client: GitHubClient;
  /** For what does not go through the client: git. */
  readonly token: TokenSource;
  readonly connection: Connection;
  readonly permissions: Permissions;
  readonly ownEdits: OwnEdits;
}

export function githubAccess(options: GitHubAccessOptions): GitHubAccess {
  const { settings, clock } = options;
  const { apiUrl, reserve, repo } = settings;
  const token = tokenFor(options);
  const client = new GitHubClient({ apiUrl, clock, reserve, token, send: sendOnce });
  const connection = new Connection(client, repo, options.names);
  const permissions = new Permissions(connection, clock, settings.trustedBots);
  return { client, token, connection, permissions, ownEdits: new OwnEdits(() => connection.self()) };
}

/** The variable first, which is set for one start; then the app, if the config has one; else what gh is logged in with. */
function tokenFor({ settings, environment, clock }: GitHubAccessOptions): TokenSource {
  const { apiUrl, app, repo, tokenEnv } = settings;
  const variable = environmentToken(environment, tokenEnv);
  if (!app) return firstToken([variable, ghToken(environment, hostOf(apiUrl), clock)]);
  const { id: appId, installation } = app;
  const key = (): ReturnType<typeof readKey> => readKey(app, environment);
  return firstToken([variable, appToken({ appId, installation, repo, key, apiUrl, clock, send: sendOnce })]);
}
