import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Accounts } from "./accounts.ts";
import { followBranches } from "./deeds.ts";
import { type Fault, Faults } from "./faults.ts";
import { serveGit } from "./git-http.ts";
import { answerGraphql } from "./graphql/execute.ts";
import { type Bucket, type LimitOptions, Limits } from "./limits.ts";
import { writePushRules } from "./push-rules.ts";
import { answerAccount, answerApp } from "./rest/account.ts";
import { answerRepository } from "./rest/repositories.ts";
import { type Answer, Refusal } from "./rest/route.ts";
import { reaches, type Token } from "./tokens.ts";
import { fullNameOf, mayDo, permissionOf, type Repository, type User, type World } from "./world.ts";

/** A request as it was answered. */
export interface Seen {
  readonly method: string;
  /** Behind the API's address, without the query. */
  readonly path: string;
  readonly query: string;
  readonly status: number;
  /** What it took from which bucket; a 304 takes nothing. */
  readonly bucket: Bucket;
  readonly points: number;
  readonly login: string | undefined;
}

export interface ServerOptions {
  readonly world: World;
  readonly limits?: Partial<LimitOptions>;
}

const API = "/api/v3";
const GRAPHQL = "/api/graphql";

/** GitHub on loopback, at the addresses that GitHub Enterprise has. */
export class GitHubServer {
  readonly world: World;
  readonly accounts: Accounts;
  readonly faults = new Faults();
  readonly seen: Seen[] = [];
  /** Called with each request before its answer goes out: what is done here happens between two calls. */
  onSeen: (seen: Seen) => Promise<void> | void = () => undefined;
  readonly #limits = new Map<User, Limits>();
  readonly #options: ServerOptions;
  // On a busy machine five seconds pass between two requests, and the second one meets a connection that is being closed.
  readonly #server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    response.on("error", () => response.destroy());
    this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  constructor(options: ServerOptions) {
    this.#options = options;
    this.world = options.world;
    this.accounts = new Accounts(options.world);
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get apiUrl(): string {
    return this.url + API;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? "/";
    if (url.startsWith(`${API}/`) || url.startsWith(GRAPHQL)) return this.#serveApi(request, response);
    const [, owner = "", name = "", rest = ""] = /^\/([^/]+)\/([^/]+?)\.git(\/.*)$/.exec(url) ?? [];
    const found = this.world.find(decodeURIComponent(owner), decodeURIComponent(name));
    const fault = this.faults.next(`${request.method} ${url.split("?")[0]}`);
    if (fault) return void response.destroy();
    const token = this.accounts.of(request.headers.authorization);
    const needsWrite = rest.includes("git-receive-pack");
    if (!token) return void response.writeHead(401, { "www-authenticate": 'Basic realm="GitHub"' }).end();
    if (!found || permissionOf(found.repository, token.user) === "none")
      return void response.writeHead(404).end("Repository not found.");
    const { repository, moved } = found;
    if (moved) {
      const location = `${this.url}/${fullNameOf(repository)}.git${rest}`;
      return void response.writeHead(301, { location }).end();
    }
    const denied = needsWrite && deniedPush(repository, token);
    if (denied) return void response.writeHead(403, { "content-type": "text/plain" }).end(denied);
    if (needsWrite) writePushRules(repository, token);
    await serveGit(request, response, { repository, rest, user: token.user.login });
    if (needsWrite) followBranches(this.world, repository);
  }

  async #serveApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const isGraphql = url.pathname === GRAPHQL;
    const path = isGraphql ? "/graphql" : url.pathname.slice(API.length);
    const method = request.method ?? "GET";
    const text = await textOf(request);
    const fault = this.faults.next(`${method} ${path}`);
    if (fault && HAPPENS_BEFORE.has(fault.kind)) return send(response, fault, faultAnswer(fault));
    const token = this.accounts.of(request.headers.authorization);
    const bucket: Bucket = isGraphql ? "graphql" : path.startsWith("/search") ? "search" : "core";
    let answer: Answer;
    try {
      answer = await this.#answer({ request, method, path, url, text, token, bucket });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      answer = refusalAnswer(error);
    }
    const final = this.#finish(request, answer, token, bucket);
    const points = final.status === 304 || !token ? 0 : 1;
    if (token && points > 0) this.#limitsOf(token.user).spend(bucket, points);
    const { status } = final;
    const seen: Seen = { method, path, query: url.search, status, bucket, points, login: token?.user.login };
    this.seen.push(seen);
    await this.onSeen(seen);
    await send(response, fault, final);
  }

  async #answer(asked: Asked): Promise<Answer> {
    const { request, method, path, url, text, token, bucket } = asked;
    const call = {
      world: this.world,
      api: this.apiUrl,
      method,
      path,
      query: url.searchParams,
      accounts: this.accounts,
      authorization: request.headers.authorization,
    };
    const log = /^\/_logs\/(\d+)\/(\d+)$/.exec(path);
    if (log) return this.#log(Number(log[1]), Number(log[2]));
    const ofApp = answerApp(call);
    if (ofApp) return ofApp;
    if (!token) throw new Refusal(401, request.headers.authorization ? "Bad credentials" : "Requires authentication");
    const limits = this.#limitsOf(token.user);
    if (path !== "/rate_limit" && limits.counted(bucket).remaining === 0) {
      throw new Refusal(403, `API rate limit exceeded for user ID ${token.user.id}.`);
    }
    if (method === "POST" && bucket === "core") {
      const wait = limits.makeContent();
      if (wait !== undefined) throw secondary(wait);
    }
    if (bucket === "graphql") {
      const { query = "", variables = {} } = parsed(text) as { query?: string; variables?: Record<string, unknown> };
      return {
        status: 200,
        body: await answerGraphql({
          world: this.world,
          token,
          query,
          variables,
          counted: () => limits.counted("graphql"),
        }),
      };
    }
    const account = answerAccount(call, token, limits);
    if (account) return account;
    return answerRepository({
      world: this.world,
      api: this.apiUrl,
      token,
      method,
      path,
      query: url.searchParams,
      body: parsed(text),
    });
  }

  #limitsOf(user: User): Limits {
    const known = this.#limits.get(user);
    if (known) return known;
    const limits = new Limits(() => this.world.now(), this.#options.limits);
    this.#limits.set(user, limits);
    return limits;
  }

  #log(repositoryId: number, checkId: number): Answer {
    const repository = this.world.repositories.find(({ id }) => id === repositoryId);
    const check = repository?.checkRuns.find(({ id }) => id === checkId);
    return check ? { status: 200, text: check.log } : { status: 404 };
  }

  #finish(request: IncomingMessage, answer: Answer, token: Token | undefined, bucket: Bucket): Answer {
    const date = new Date(this.world.now()).toUTCString();
    const headers: Record<string, string> = { "x-github-request-id": "FAKE:1", date, ...answer.headers };
    if (token) {
      const { limit, remaining, used, reset } = this.#limitsOf(token.user).counted(bucket);
      Object.assign(headers, {
        ...{ "x-ratelimit-limit": `${limit}`, "x-ratelimit-remaining": `${remaining}`, "x-ratelimit-used": `${used}` },
        ...{ "x-ratelimit-reset": `${reset}`, "x-ratelimit-resource": bucket },
      });
      if (token.kind === "classic") headers["x-oauth-scopes"] = token.scopes.join(", ");
    }
    if (request.method !== "GET" || answer.status !== 200) return { ...answer, headers };
    const etag = `W/"${createHash("sha256")
      .update(JSON.stringify(answer.body) + (answer.text ?? ""))
      .digest("hex")}"`;
    if (request.headers["if-none-match"] === etag) return { status: 304, headers: { ...headers, etag } };
    return { ...answer, headers: { ...headers, etag } };
  }
}

interface Asked {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly path: string;
  readonly url: URL;
  readonly text: string;
  readonly token: Token | undefined;
  readonly bucket: Bucket;
}

const HAPPENS_BEFORE: ReadonlySet<Fault["kind"]> = new Set([
  "cut-before",
  "error-before",
  "silence",
  "page",
  "secondary-limit",
]);

const secondary = (seconds: number): Refusal =>
  new Refusal(403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.", {
    headers: { "retry-after": `${seconds}` },
  });

function faultAnswer({ kind, status = 502, says }: Fault): Answer {
  if (kind === "secondary-limit") return refusalAnswer(secondary(1));
  if (kind === "page") return { status: 200, text: "<title>Log in</title>" };
  // What stands before GitHub, a login page say, answers in its place.
  if (status > 300 && status < 400) return { status, headers: { location: "https://login.example/" } };
  return { status, body: { message: "Server Error", ...says } };
}

function refusalAnswer({ status, message, errors, headers }: Refusal): Answer {
  return {
    status,
    body: {
      message,
      ...(errors ? { errors } : {}),
      documentation_url: "https://docs.github.com/rest",
      status: `${status}`,
    },
    headers,
  };
}

/** The answer, or what a fault leaves of it. */
async function send(response: ServerResponse, fault: Fault | undefined, answer: Answer): Promise<void> {
  if (fault?.kind === "silence") return;
  if (fault?.kind === "cut-before" || fault?.kind === "cut-after") return void response.destroy();
  const { status, body, text, headers } = fault?.kind === "error-after" ? faultAnswer(fault) : answer;
  const payload = text ?? (body === undefined ? "" : JSON.stringify(body));
  const kind = text !== undefined ? "text/plain" : body === undefined ? "text/html" : "application/json";
  const type = `${kind}; charset=utf-8`;
  response.writeHead(status, { "content-type": type, "content-length": `${Buffer.byteLength(payload)}`, ...headers });
  if (fault?.kind !== "truncated") return void response.end(payload);
  await new Promise<void>((sent) => response.write(payload.slice(0, payload.length / 2), () => sent()));
  response.destroy();
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): Record<string, unknown> {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, "Problems parsing JSON");
  }
}

/** Why a token may not push, in GitHub's words; git shows them. */
function deniedPush(repository: Repository, token: Token): string | undefined {
  if (!mayDo(repository, token.user, "write"))
    return `Permission to ${fullNameOf(repository)}.git denied to ${token.user.login}.`;
  return reaches(token, "contents", "write") ? undefined : "Write access to repository not granted.";
}
