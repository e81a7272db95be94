import { reaches, type Token } from "../tokens.ts";
import { fullNameOf, mayDo, permissionOf, type World } from "../world.ts";
import { checkRoutes } from "./checks.ts";
import { issueRoutes } from "./issues.ts";
import { pullRoutes } from "./pulls.ts";
import { repositoryRoutes } from "./repository.ts";
import { reviewCommentRoutes } from "./review-comments.ts";
import { type Answer, matchPath, type Needs, notFound, Refusal, type Route } from "./route.ts";

const ROUTES: readonly Route[] = [
  ...repositoryRoutes,
  ...issueRoutes,
  ...reviewCommentRoutes,
  ...pullRoutes,
  ...checkRoutes,
];

export interface RepositoryCall {
  readonly world: World;
  readonly api: string;
  readonly token: Token;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Everything below `/repos/<owner>/<name>`. */
export function answerRepository({ method, path, ...call }: RepositoryCall): Answer {
  const [, owner = "", repo = "", rest = ""] = /^\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  const found = call.world.find(decodeURIComponent(owner), decodeURIComponent(repo));
  const { token } = call;
  if (!found || permissionOf(found.repository, token.user) === "none") throw notFound();
  const { repository, moved } = found;
  if (moved) {
    const location = `${call.api}/repos/${fullNameOf(repository)}${rest}`;
    throw new Refusal(method === "GET" ? 301 : 307, "Moved Permanently", { headers: { location } });
  }
  for (const route of ROUTES) {
    const params = route.method === method ? matchPath(route.path, rest) : undefined;
    if (!params) continue;
    requireAllowed(route.needs, repository, token);
    return route.handle({ ...call, user: token.user, repository, params: { ...params, owner, repo } });
  }
  throw notFound();
}

function requireAllowed(
  { scope, level, least = "read" }: Needs,
  repository: Parameters<typeof mayDo>[0],
  token: Token,
): void {
  if (!reaches(token, scope, level)) {
    throw new Refusal(
      403,
      `Resource not accessible by ${token.kind === "app" ? "integration" : "personal access token"}`,
    );
  }
  if (!mayDo(repository, token.user, least)) throw new Refusal(403, "Must have admin rights to Repository.");
}
