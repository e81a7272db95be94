import type { Accounts, App } from "../accounts.ts";
import type { Limits } from "../limits.ts";
import { installationShape } from "../shapes/app.ts";
import { appShape } from "../shapes/issue.ts";
import { userShape } from "../shapes/people.ts";
import { fullRepositoryShape } from "../shapes/repository.ts";
import type { Token } from "../tokens.ts";
import { fullNameOf, permissionOf, type World } from "../world.ts";
import { type Answer, created, notFound, ok, Refusal } from "./route.ts";
import { searchIssues } from "./search.ts";

export interface AccountCall {
  readonly world: World;
  readonly api: string;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accounts: Accounts;
  readonly authorization: string | undefined;
}

/** What an app asks with its key, before it has a token. */
export function answerApp({ world, api, method, path, accounts, authorization }: AccountCall): Answer | undefined {
  const [, owner, name] = /^\/repos\/([^/]+)\/([^/]+)\/installation$/.exec(path) ?? [];
  if (path !== "/app" && !path.startsWith("/app/") && name === undefined) return undefined;
  const app = accounts.appOf(authorization);
  if (!app) throw new Refusal(401, "A JSON web token could not be decoded");
  if (owner !== undefined && name !== undefined) return installationIn(world, app, { api, owner, name });
  if (path === "/app") return ok(appShape(api, app.slug));
  if (method !== "POST" || path !== `/app/installations/${app.installation}/access_tokens`) throw notFound();
  const expires = new Date(world.now() + 3_600_000).toISOString().replace(/\.\d+Z$/, "Z");
  return created({
    token: accounts.installationToken(app),
    expires_at: expires,
    permissions: app.permissions,
    repository_selection: "all",
  });
}

function installationIn(
  world: World,
  app: App,
  { api, owner, name }: Record<"api" | "owner" | "name", string>,
): Answer {
  const found = world.find(owner, name);
  if (!found || permissionOf(found.repository, app.bot) === "none") throw notFound();
  const { repository, moved } = found;
  const location = `${api}/repos/${fullNameOf(repository)}/installation`;
  if (moved) throw new Refusal(301, "Moved Permanently", { headers: { location } });
  return ok(installationShape(api, app, repository.owner));
}

/** What is about the caller rather than about a repository. */
export function answerAccount(
  { world, api, path, query }: AccountCall,
  token: Token,
  limits: Limits,
): Answer | undefined {
  if (path === "/rate_limit") {
    const shape = (bucket: "core" | "search" | "graphql") => {
      const { limit, used, remaining, reset } = limits.counted(bucket);
      return { limit, used, remaining, reset };
    };
    return ok({
      resources: { core: shape("core"), search: shape("search"), graphql: shape("graphql") },
      rate: shape("core"),
    });
  }
  if (path === "/search/issues") return ok(searchIssues({ world, api, query: query.get("q") ?? "" }, token));
  if (path === "/user") {
    // An installation is not a user.
    if (token.kind === "app") throw new Refusal(403, "Resource not accessible by integration");
    return ok(ownShape(api, token));
  }
  const [, login] = /^\/users\/([^/]+)$/.exec(path) ?? [];
  if (login !== undefined) {
    const user = world.users.get(decodeURIComponent(login).toLowerCase());
    if (!user) throw notFound();
    return ok({ ...userShape(api, user), ...PUBLIC_PARTS });
  }
  const [, id] = /^\/repositories\/(\d+)$/.exec(path) ?? [];
  const repository = id && world.repositories.find((one) => one.id === Number(id));
  if (!repository) return undefined;
  if (permissionOf(repository, token.user) === "none") throw notFound();
  return ok(fullRepositoryShape(api, repository, token.user));
}

const PUBLIC_PARTS = {
  ...{
    name: null,
    company: null,
    blog: null,
    location: null,
    email: null,
    hireable: null,
    bio: null,
    twitter_username: null,
  },
  ...{
    public_repos: 0,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: "2020-01-01T00:00:00Z",
    updated_at: "2020-01-01T00:00:00Z",
  },
};

const ownShape = (api: string, { user }: Token): Record<string, unknown> => ({
  ...{ ...userShape(api, user), ...PUBLIC_PARTS },
  ...{
    private_gists: 0,
    total_private_repos: 0,
    owned_private_repos: 0,
    disk_usage: 0,
    collaborators: 0,
    two_factor_authentication: true,
  },
});
