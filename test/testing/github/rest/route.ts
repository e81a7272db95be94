import type { Level, Scope, Token } from "../tokens.ts";
import type { Issue, Permission, Repository, User, World } from "../world.ts";
import { mayDo, permissionOf } from "../world.ts";

export interface Answer {
  readonly status: number;
  /** Sent as JSON; nothing when absent. */
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal in GitHub's words. */
export class Refusal extends Error {
  readonly status: number;
  readonly errors: readonly unknown[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    more: { errors?: readonly unknown[]; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.status = status;
    this.errors = more.errors;
    this.headers = more.headers ?? {};
  }
}

export const notFound = (): Refusal => new Refusal(404, "Not Found");

export const invalid = (...errors: readonly Record<string, unknown>[]): Refusal =>
  new Refusal(422, "Validation Failed", { errors });

/** A call whose caller and repository are known. */
export interface Call {
  readonly world: World;
  readonly api: string;
  readonly token: Token;
  readonly user: User;
  readonly repository: Repository;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Needs {
  readonly scope: Scope;
  readonly level: Level;
  /** What the caller must be to the repository; `read` unless told. */
  readonly least?: Permission;
}

export interface Route {
  readonly method: string;
  /** Behind `/repos/{owner}/{repo}`; `{name}` is one part, `{name...}` the rest. */
  readonly path: string;
  readonly needs: Needs;
  readonly handle: (call: Call) => Answer;
}

export const reads = (scope: Scope): Needs => ({ scope, level: "read" });
export const writes = (scope: Scope, least: Permission = "write"): Needs => ({ scope, level: "write", least });

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (body: unknown): Answer => ({ status: 201, body });

const NUMBERS: ReadonlySet<string> = new Set(["number", "comment", "check", "run", "job"]);

export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const names: string[] = [];
  const source = pattern.replace(/\{(\w+)(\.\.\.)?\}/g, (_, name: string, rest?: string) => {
    names.push(name);
    return rest ? "(.+)" : NUMBERS.has(name) ? "(\\d+)" : "([^/]+)";
  });
  const found = new RegExp(`^${source}$`).exec(path);
  return found
    ? Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1] ?? "")]))
    : undefined;
}

/** The issue or pull request of the path. One that was deleted or moved says so. */
export function issueOf(call: Call): Issue {
  const number = Number(call.params.number);
  const found = call.repository.issues.get(number);
  if (found) return found;
  const gone = call.repository.gone.get(number);
  if (gone?.why === "deleted") throw new Refusal(410, "This issue was deleted");
  // Of a place that it may not look at, GitHub tells nothing.
  if (gone?.why === "moved" && permissionOf(gone.repository, call.user) !== "none") {
    const { owner, name } = gone.repository;
    const url = `${call.api}/repos/${owner.login}/${name}/issues/${gone.to.number}`;
    throw new Refusal(301, "Moved Permanently", { headers: { location: url } });
  }
  throw notFound();
}

export function text(call: Call, name: string): string | undefined {
  const value = call.body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalid({ resource: "Body", field: name, code: "invalid" });
  return value;
}

export function requireText(call: Call, name: string, resource: string): string {
  const value = text(call, name);
  if (value === undefined || value.trim() === "") throw invalid({ resource, field: name, code: "missing_field" });
  return value;
}

const MAX_BODY = 65_536;

/** A body that fits. */
export function bodyText(value: string): string {
  if (value.length <= MAX_BODY) return value;
  throw invalid({
    resource: "IssueComment",
    code: "custom",
    field: "body",
    message: "body is too long (maximum is 65536 characters)",
  });
}

/** What a caller who may not write can still do to a thread that is not locked. */
export function requireUnlocked(call: Call, issue: Issue): void {
  if (!issue.locked || mayDo(call.repository, call.user, "write")) return;
  throw new Refusal(403, "Unable to create comment because issue is locked.");
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly headers: Record<string, string>;
}

/** One page of what is there now, with links to the others: what comes in between shifts the rest. */
export function page<T>(call: Call, path: string, all: readonly T[]): Page<T> {
  const size = Math.min(100, Math.max(1, Number(call.query.get("per_page") ?? 30) || 30));
  const at = Math.max(1, Number(call.query.get("page") ?? 1) || 1);
  const last = Math.max(1, Math.ceil(all.length / size));
  const link = (number: number, rel: string): string => {
    const query = new URLSearchParams(call.query);
    query.set("page", String(number));
    return `<${call.api}${path}?${query}>; rel="${rel}"`;
  };
  const links = [
    ...(at > 1 ? [link(at - 1, "prev"), link(1, "first")] : []),
    ...(at < last ? [link(at + 1, "next"), link(last, "last")] : []),
  ];
  return {
    items: all.slice((at - 1) * size, at * size),
    headers: links.length > 0 ? { link: links.join(", ") } : {},
  };
}

export function paged<T>(
  call: Call,
  path: string,
  { all, shape }: { all: readonly T[]; shape: (item: T) => unknown },
): Answer {
  const { items, headers } = page(call, `/repos/${call.params.owner}/${call.params.repo}${path}`, all);
  return { status: 200, body: items.map(shape), headers };
}

/** Those that changed since the moment of the query, in its order. */
export function byUpdate<T extends { updatedAt: string; createdAt: string }>(call: Call, items: readonly T[]): T[] {
  const since = call.query.get("since");
  const key = call.query.get("sort") === "updated" ? "updatedAt" : "createdAt";
  const wanted = since === null ? [...items] : items.filter((item) => Date.parse(item.updatedAt) >= Date.parse(since));
  const sign = call.query.get("direction") === "asc" ? 1 : -1;
  return wanted.sort((a, b) => sign * a[key].localeCompare(b[key]));
}
