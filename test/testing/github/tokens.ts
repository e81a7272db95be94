import type { User } from "./world.ts";

/** What a fine-grained token or an app may be given, as far as prloom asks for it. */
export type Scope =
  | "contents"
  | "issues"
  | "pull_requests"
  | "checks"
  | "statuses"
  | "actions"
  | "metadata"
  | "workflows"
  | "organization_projects";
export type Level = "read" | "write";

export interface Token {
  readonly user: User;
  readonly kind: "classic" | "fine-grained" | "app";
  /** Of a classic token; the others tell none. */
  readonly scopes: readonly string[];
  /** Of the others. */
  readonly permissions: Partial<Record<Scope, Level>>;
  /** Named in what it writes for a person. */
  readonly app?: string;
  isRevoked: boolean;
}

export type TokenOptions = Partial<Pick<Token, "kind" | "scopes" | "permissions" | "app">>;

export function newToken(user: User, options: TokenOptions = {}): Token {
  const { kind = "classic", scopes = ["repo", "workflow", "project"], permissions = {}, app } = options;
  return {
    user,
    kind,
    scopes: kind === "classic" ? scopes : [],
    permissions,
    ...(app ? { app } : {}),
    isRevoked: false,
  };
}

/** Whether the token itself allows it; what its user may do in a repository is another question. */
export function reaches({ kind, scopes, permissions }: Token, scope: Scope, level: Level): boolean {
  if (kind === "classic")
    return level === "read" || scopes.includes("repo") || (scopes.includes("public_repo") && scope !== "workflows");
  if (scope === "metadata") return level === "read";
  // There is no such permission for people's fine-grained tokens.
  if (kind === "fine-grained" && scope === "checks") return false;
  const given = permissions[scope];
  return given === "write" || given === level;
}
