import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../../kernel/clock.ts";
import { type Bucket, MADE_ENOUGH, RateBudget } from "./budget.ts";
import { judgeAnswer, judgeGraphql, type Outcome } from "./outcome.ts";
import type { MissingToken, TokenSource } from "./tokens.ts";
import { HEADERS, type Lost, type WireAnswer, type WireRequest } from "./transport.ts";

export interface GitHubClientOptions {
  /** Without a slash at the end. */
  readonly apiUrl: string;
  readonly token: TokenSource;
  readonly clock: Clock;
  /** The share of each limit that is left to people, from 0 to 1. */
  readonly reserve: number;
  send(request: WireRequest): Promise<WireAnswer | Lost>;
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number>>;
  /** Whom it is counted for; the repository where absent. */
  readonly plan?: string | undefined;
}

interface Remembered {
  readonly etag: string;
  readonly outcome: Outcome & { kind: "ok" };
  readonly size: number;
}

const MINUTES_KEPT = 60;
const minuteOf = (ms: number): number => Math.floor(ms / 60_000);

/** Characters of answers that are remembered: strangers decide how long their issues are, and how often they change. */
const MAX_REMEMBERED = 16 * 1024 * 1024;

/** All talk with one GitHub, for one token: counted, within its limits, and never asked twice for what is under way. */
export class GitHubClient {
  readonly #options: GitHubClientOptions;
  readonly budget: RateBudget;
  readonly #calls = new Map<string, number>();
  /** How many in each of the last sixty minutes. */
  readonly #minutes = new Map<number, number>();
  readonly #whose = new AsyncLocalStorage<string>();
  readonly #underWay = new Map<string, Promise<Outcome>>();
  readonly #remembered = new Map<string, Remembered>();
  #rememberedFor: string | undefined;
  #tokensSeen = 0;
  #aheadMs = 0;

  constructor(options: GitHubClientOptions) {
    this.#options = options;
    this.budget = new RateBudget(options.reserve);
  }

  get apiUrl(): string {
    return this.#options.apiUrl;
  }

  /** What time it is there: what is compared with times of GitHub is told in its own. */
  timeThere(): number {
    return this.#options.clock.now() + this.#aheadMs;
  }

  /** Grows with each other token: whom it belongs to may be another question then. */
  get tokensSeen(): number {
    return this.#tokensSeen;
  }

  /** Where the token comes from, for people; never the token. */
  get tokenFrom(): string {
    return this.#options.token.from;
  }

  /** The login that an app writes under; undefined where the token is a person's. */
  async botLogin(): Promise<string | undefined | MissingToken> {
    return this.#options.token.botLogin?.();
  }

  /** Requests so far by plan id; those of the repository under "". */
  calls(): ReadonlyMap<string, number> {
    return this.#calls;
  }

  /** Requests in the last hour, to the minute. */
  callsInHour(now: number): number {
    const first = minuteOf(now) - MINUTES_KEPT;
    for (const minute of this.#minutes.keys()) if (minute <= first) this.#minutes.delete(minute);
    return this.#minutes.values().reduce((sum, calls) => sum + calls, 0);
  }

  /** What is asked for meanwhile is counted for this plan. */
  countFor<T>(plan: string, act: () => Promise<T>): Promise<T> {
    return this.#whose.run(plan, act);
  }

  /** Reads. What GitHub says is unchanged comes from memory, with `kind: "ok"` as before. */
  get(path: string, { query = {}, plan }: CallOptions = {}): Promise<Outcome> {
    const params = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`]),
    );
    const url = `${this.#options.apiUrl}${path}${params.size > 0 ? `?${params}` : ""}`;
    const underWay = this.#underWay.get(url);
    if (underWay) return underWay;
    const asked = this.#get(url, plan).finally(() => this.#underWay.delete(url));
    this.#underWay.set(url, asked);
    return asked;
  }

  /** Writes, once: with `mayHaveHappened` the caller looks before it asks again. */
  send(
    method: "POST" | "PATCH" | "PUT" | "DELETE",
    path: string,
    call: { body?: unknown; plan?: string | undefined } = {},
  ): Promise<Outcome> {
    const bucket = method === "POST" || method === "PUT" ? "content" : "core";
    return this.#ask({ method, url: this.#options.apiUrl + path, body: call.body, bucket, plan: call.plan });
  }

  graphql(query: string, variables: Readonly<Record<string, unknown>>, plan?: string): Promise<Outcome> {
    const { apiUrl } = this.#options;
    return this.#ask({
      ...{ method: "POST", url: graphqlUrl(apiUrl), body: { query, variables }, bucket: "graphql", plan },
      judge: (answer, now) => judgeGraphql(judgeAnswer(answer, now)),
    });
  }

  async #get(url: string, plan: string | undefined): Promise<Outcome> {
    const outcome = await this.#ask({ method: "GET", url, bucket: bucketOf(url, this.#options.apiUrl), plan });
    const known = this.#remembered.get(url);
    if (outcome.kind === "unchanged")
      return known?.outcome ?? { kind: "failed", reason: "unchanged since never", mayHaveHappened: false };
    const etag = outcome.kind === "ok" ? outcome.headers.etag : undefined;
    this.#remembered.delete(url);
    if (outcome.kind === "ok" && etag !== undefined) {
      this.#remembered.set(url, { etag, outcome, size: JSON.stringify(outcome.data).length });
      this.#forgetOldest();
    }
    return outcome;
  }

  #forgetOldest(): void {
    let size = this.#remembered.values().reduce((sum, one) => sum + one.size, 0);
    for (const [url, one] of this.#remembered) {
      if (size <= MAX_REMEMBERED) return;
      this.#remembered.delete(url);
      size -= one.size;
    }
  }

  async #ask({
    plan = this.#whose.getStore() ?? "",
    bucket,
    judge = judgeAnswer,
    ...request
  }: Asked): Promise<Outcome> {
    const { clock, token: source, send } = this.#options;
    const isContent = bucket === "content";
    const limited = this.#limited(bucket);
    if (limited) return limited;
    const token = await source.get();
    if (typeof token !== "string") return { kind: "unauthorised", reason: token.missing, unasked: true };
    this.#forgetOthers(token);
    this.#calls.set(plan, (this.#calls.get(plan) ?? 0) + 1);
    const minute = minuteOf(clock.now());
    this.#minutes.set(minute, (this.#minutes.get(minute) ?? 0) + 1);
    if (this.#minutes.size > 2 * MINUTES_KEPT) this.callsInHour(clock.now());
    if (isContent) this.budget.makesContent(clock.now());
    const known = request.method === "GET" ? this.#remembered.get(request.url) : undefined;
    const tag = known ? { "if-none-match": known.etag } : {};
    const answer = await send({ ...request, headers: { ...HEADERS, ...tag, authorization: `Bearer ${token}` } });
    if (!("lost" in answer)) {
      this.budget.learn(answer);
      // What stands before GitHub, and answers in its place, has another clock.
      if ("x-github-request-id" in answer.headers) this.#aheadMs = aheadOf(answer, clock.now());
    }
    const outcome = withoutSecrets(judge(answer, this.timeThere()), token);
    if (outcome.kind === "unauthorised") source.forget?.();
    if (outcome.kind === "limited" && !isUsedUp(answer)) this.budget.holdFor(outcome.retryAfterMs, clock.now());
    return outcome;
  }

  /** What was made is counted here, and by our clock. */
  #limited(bucket: Bucket): Outcome | undefined {
    const heldMs = this.budget.heldMs(this.#options.clock.now());
    if (heldMs > 0) return { kind: "limited", retryAfterMs: heldMs, reason: HELD, unasked: true };
    const isContent = bucket === "content";
    const madeMs = isContent ? this.budget.waitMs(bucket, this.#options.clock.now()) : 0;
    const leftMs = this.budget.waitMs(isContent ? "core" : bucket, this.timeThere());
    if (madeMs === 0 && leftMs === 0) return undefined;
    const reason = madeMs >= leftMs ? MADE_ENOUGH : "what is left of the token's limit is kept for people";
    return { kind: "limited", retryAfterMs: Math.max(madeMs, leftMs), reason, unasked: true };
  }

  /** What one token may see, another may not. */
  #forgetOthers(token: string): void {
    if (this.#rememberedFor === token) return;
    this.#remembered.clear();
    this.#rememberedFor = token;
    this.#tokensSeen += 1;
  }
}

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly body?: unknown;
  readonly judge?: typeof judgeAnswer;
  readonly bucket: Bucket;
  readonly plan: string | undefined;
}

/** Its times have whole seconds, and an answer takes some: less does not count as one. */
const SAME_TIME_MS = 5000;

/** Pure: how far its clock is ahead of ours; rather too far, so that nothing of ours seems older than it is. */
function aheadOf({ headers: { date } }: WireAnswer, now: number): number {
  const ahead = Date.parse(date ?? "") - now;
  return Math.abs(ahead) < SAME_TIME_MS || Number.isNaN(ahead) ? 0 : ahead + 1000;
}

const HELD = "GitHub asked to be left alone for a while (a secondary rate limit)";

/** The limit of one bucket, of which answers tell by themselves; not a secondary one, which is for everything. */
const isUsedUp = (answer: WireAnswer | Lost): boolean =>
  "headers" in answer && answer.headers["x-ratelimit-remaining"] === "0";

/** What is searched for is counted apart. */
const bucketOf = (url: string, apiUrl: string): Bucket => (url.startsWith(`${apiUrl}/search/`) ? "search" : "core");

/** GitHub Enterprise has it beside the other API, not below it. */
const graphqlUrl = (apiUrl: string): string => `${apiUrl.replace(/\/v3$/, "")}/graphql`;

/** Whatever is told to people, and kept in files, has been through here. */
function withoutSecrets(outcome: Outcome, token: string): Outcome {
  if (!("reason" in outcome)) return outcome;
  return {
    ...outcome,
    reason: outcome.reason.replaceAll(token, "(token)").replace(/\b(gh[pousr]|github_pat)_\w{10,}/g, "(token)"),
  };
}
