import type { TestContext } from "node:test";
import type { BridgeContext, BridgeEvent, BuiltinBridge, PollResult } from "../../src/bridges/contract.ts";
import type { GitHubSettings } from "../../src/config/schema/github-schema.ts";
import { githubSchema } from "../../src/config/schema/github-schema.ts";
import { githubAccess } from "../../src/github/access.ts";
import { type GitHubBridgeOptions, githubBridge } from "../../src/github/bridge/bridge.ts";
import { type FakeGitHub, startFakeGitHub } from "../testing/github/fake-github.ts";
import type { Person } from "../testing/github/people.ts";
import type { TokenOptions } from "../testing/github/tokens.ts";
import type { Issue, Repository } from "../testing/github/world.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

export interface PullSetting {
  readonly github: FakeGitHub;
  readonly repository: Repository;
  readonly bridge: BuiltinBridge;
  readonly ctx: BridgeContext;
  readonly ada: Person;
  readonly eve: Person;
  readonly warnings: string[];
  /** Polls. */
  look(): Promise<readonly BridgeEvent[]>;
  /** Lets time go by. */
  pass(seconds: number): void;
  /** A pull request of the bot, which is that of the plan `plan-<number>`. */
  pull(branch?: string): Issue & { readonly token: string };
}

export interface PullOptions extends Partial<Omit<GitHubBridgeOptions, "clock">> {
  readonly settings?: Partial<GitHubSettings>;
  readonly token?: TokenOptions;
}

/** A bridge to acme/app, in which ada and the bot may write and eve may read. */
export async function pullSetting(
  t: TestContext,
  { settings, token, ...options }: PullOptions = {},
): Promise<PullSetting> {
  let now = START;
  const github = await startFakeGitHub({ now: () => now });
  t.after(() => github.close());
  const repository = github.repository("acme/app", { ada: "write", bot: "write", eve: "read" });
  const warnings: string[] = [];
  const plans: unknown[] = [];
  const ctx = {
    listPlans: async () => plans,
    log: { warn: (text: string) => void warnings.push(text) },
  } as unknown as BridgeContext;
  const clock = { now: () => now };
  const access = githubAccess({
    settings: githubSchema.parse({ repo: "acme/app", apiUrl: github.apiUrl, tokenEnv: "TOKEN", ...settings }),
    environment: { TOKEN: github.server.accounts.add("bot", token) },
    clock,
  });
  const bridge = githubBridge(access, { clock, hasPulls: true, rerun: settings?.rerun ?? false, ...options });
  const bot = github.person(repository, "bot");
  const pushed = new Set<string>();
  let state: unknown;
  return {
    ...{ github, repository, bridge, ctx, warnings },
    ...{ ada: github.person(repository, "ada"), eve: github.person(repository, "eve") },
    async look() {
      const result = (await bridge.events?.(ctx, state as never)) as PollResult;
      state = result.state;
      return result.events;
    },
    pass(seconds) {
      now += seconds * 1000;
    },
    pull(branch = "prloom/dark") {
      if (!pushed.has(branch)) bot.pushes(branch, { "dark.css": "dark\n" });
      pushed.add(branch);
      const issue = bot.opensPull({ head: branch, base: "main", title: "Dark mode" });
      const ref = `${repository.id}#${issue.number}`;
      plans.push({
        planId: `plan-${issue.number}`,
        changeRequest: { forge: "github", ref, state: "open", ready: true },
      });
      return Object.assign(issue, { token: ref });
    },
  };
}
