import type { BridgeContext, BridgeEvent, PollResult } from "../src/bridges/contract.ts";
import { githubSchema } from "../src/config/schema/github-schema.ts";
import { githubAccess } from "../src/github/access.ts";
import { githubBridge, POLL_EVERY_MS } from "../src/github/bridge/bridge.ts";
import { type FakeGitHub, startFakeGitHub } from "../test/testing/github/fake-github.ts";
import { type Person, reportCheck } from "../test/testing/github/people.ts";
import type { TokenOptions } from "../test/testing/github/tokens.ts";
import { measurePairs, timed } from "./harness/measure.ts";
import { type Also, type Bench, type Gate, type Result, result, type Sizes } from "./harness/result.ts";

const HOUR_MS = 3_600_000;
const PLANS = [1, 10, 100];

/** A repository whose plans all come from its issues, and a bridge that has looked at it once. Its time is made here. */
class Watched {
  #now = Date.parse("2026-01-01T00:00:00Z");
  readonly #plans: number;
  readonly #token: TokenOptions | undefined;
  #state: unknown;
  #bridge: ReturnType<typeof githubBridge> | undefined;
  #ctx: BridgeContext | undefined;
  #ada: Person | undefined;
  github: FakeGitHub | undefined;

  /** @param token its plans have pull requests with red checks then, seen with this token */
  constructor(plans: number, token?: TokenOptions) {
    this.#plans = plans;
    this.#token = token;
  }

  async begin(): Promise<void> {
    const github = await startFakeGitHub({ now: () => this.#now });
    this.github = github;
    const repository = github.repository("acme/app", { ada: "write", bot: "write" });
    this.#ada = github.person(repository, "ada");
    const plans: unknown[] = [];
    const bot = github.person(repository, "bot");
    for (let count = 0; count < this.#plans; count += 1) {
      if (this.#token) {
        const sha = bot.pushes(`plan-${count}`, { [`${count}.txt`]: "x\n" });
        const { number } = bot.opensPull({ head: `plan-${count}`, base: "main", title: `Plan ${count}` });
        reportCheck(github.world, repository, { sha, name: "test", conclusion: "failure" });
        const changeRequest = { forge: "github", ref: `${repository.id}#${number}`, state: "open", ready: true };
        plans.push({ planId: `plan-${number}`, changeRequest });
        continue;
      }
      const { number } = this.#ada.opens({ title: `Issue ${count}`, body: "## Tasks\n\n- [ ] one\n" });
      plans.push({ planId: `plan-${number}`, source: { system: "github", id: `${repository.id}#${number}` } });
    }
    this.#ctx = { listPlans: async () => plans, log: { warn: () => undefined } } as unknown as BridgeContext;
    const clock = { now: () => this.#now };
    const settings = githubSchema.parse({ repo: "acme/app", apiUrl: github.apiUrl, tokenEnv: "TOKEN" });
    const environment = { TOKEN: github.server.accounts.add("bot", this.#token) };
    this.#bridge = githubBridge(githubAccess({ settings, environment, clock }), { clock, hasPulls: true });
    this.#now += HOUR_MS;
  }

  async poll(): Promise<readonly BridgeEvent[]> {
    if (!this.#bridge || !this.#ctx) throw new Error("not begun");
    const heard = (await this.#bridge.events?.(this.#ctx, this.#state as never)) as PollResult;
    this.#state = heard.state;
    this.#now += POLL_EVERY_MS;
    return heard.events;
  }

  /** An hour from the start of a dispatcher on. Busy: one comment on each plan, spread over it, each answered by one of ours. */
  async hour(isBusy: boolean): Promise<{ counted: number; points: number; requests: number }> {
    const polls = HOUR_MS / POLL_EVERY_MS;
    let said = 0;
    for (let poll = 0; poll < polls; poll += 1) {
      for (; isBusy && said < ((poll + 1) * this.#plans) / polls && poll > 0 && said < this.#plans; said += 1)
        this.#ada?.comments(said + 1, "Is it done?");
      for (const { id, replyTo } of await this.poll()) {
        const payload = { type: "comment" as const, message: "Not yet." };
        if (replyTo)
          await this.#bridge?.actions?.(this.#ctx as BridgeContext, { id, target: replyTo, payload } as never);
      }
    }
    const seen = this.github?.server.seen ?? [];
    const sum = (isGraphql: boolean): number =>
      seen.filter(({ bucket }) => (bucket === "graphql") === isGraphql).reduce((all, { points }) => all + points, 0);
    return { counted: sum(false), points: sum(true), requests: seen.length };
  }
}

const TOKENS: Readonly<Record<string, TokenOptions>> = {
  "red checks": {},
  "red checks, fine-grained token": {
    kind: "fine-grained",
    permissions: {
      ...({ issues: "write", pull_requests: "write", contents: "write" } as const),
      ...({ actions: "read", statuses: "read" } as const),
    },
  },
};

async function hourWith(plans: number, isBusy: boolean, kind = ""): Promise<{ gates: Gate[]; also: Also[] }> {
  const watched = new Watched(plans, TOKENS[kind]);
  try {
    await watched.begin();
    // An hour in which checks become red is not quiet.
    if (kind) await watched.hour(false);
    watched.github?.server.seen.splice(0);
    const { counted, points, requests } = await watched.hour(isBusy);
    const names = ["calls", "points", "requests"].map(
      (what) => `${what} (${[plans, kind].filter(Boolean).join(", ")})`,
    );
    const [calls = "", graphql = "", all = ""] = names;
    if (isBusy)
      return {
        gates: [],
        also: [
          { what: calls, value: counted, unit: "" },
          { what: graphql, value: points, unit: "" },
        ],
      };
    return {
      gates: [
        { what: calls, counted, most: 12 },
        { what: graphql, counted: points, most: 30 },
        { what: all, counted: requests, most: 260 },
      ],
      also: [],
    };
  } finally {
    await watched.github?.close();
  }
}

async function hours(isBusy: boolean, pairs: number): Promise<Result> {
  const measured = [];
  for (const plans of PLANS) measured.push(await hourWith(plans, isBusy));
  for (const kind of isBusy ? [] : Object.keys(TOKENS)) measured.push(await hourWith(100, false, kind));
  const watched = new Watched(100);
  try {
    await watched.begin();
    await watched.poll();
    const { apiUrl = "" } = watched.github ?? {};
    const times = await measurePairs({
      floor: () => timed(async () => (await fetch(`${apiUrl}/rate_limit`)).text()),
      ours: () => timed(() => watched.poll()),
      pairs,
    });
    return result({
      name: "github",
      what: isBusy ? "an hour in which each plan is asked once and answers" : "an hour in which nothing happens",
      floorIs: "one request, against a poll that finds nothing",
      gates: measured.flatMap(({ gates }) => gates),
      also: measured.flatMap(({ also }) => also),
      ...{ budget: {}, times },
    });
  } finally {
    await watched.github?.close();
  }
}

export const github: Bench = {
  name: "github",
  // An hour in which something happens is told, and has no gate.
  run: async ({ pairs }: Sizes) => [await hours(false, pairs), ...(pairs === 0 ? [] : [await hours(true, pairs)])],
};
