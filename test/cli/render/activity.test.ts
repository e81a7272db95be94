import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Output } from "../../../src/cli/output.ts";
import { agentsState } from "../../../src/cli/render/agents-state.ts";
import { plain } from "../../../src/cli/render/colour.ts";
import { dollars, spendingInWords, tokensInWords } from "../../../src/cli/render/spending.ts";
import type { AgentsReport } from "../../../src/dispatcher/report/read-agents.ts";
import { thorough } from "../../testing/thorough.ts";
import { testRepository } from "../fixture.ts";

const MINUTE = 60_000;

describe("what an agent is doing", () => {
  const repository = testRepository();
  const { root, run } = repository;
  const dir = join(root, ".git", "prloom", "plans", "watched", "runs", "1");
  after(async () => {
    await run(["stop"]);
    repository.close();
  });

  const activity = async () => {
    const { plans, agents } = JSON.parse((await run(["status", "--json"])).stdout);
    return { ...plans[0].activity, running: agents[0].running };
  };
  /** Lets the run look as if it had begun long ago and said nothing for so many minutes. */
  const lookSilentFor = (minutes: number): void => {
    const record = JSON.parse(readFileSync(join(dir, "run.json"), "utf8"));
    const startedAt = new Date(Date.now() - 90 * MINUTE).toISOString();
    writeFileSync(join(dir, "run.json"), JSON.stringify({ ...record, startedAt }));
    const at = (Date.now() - minutes * MINUTE) / 1000;
    utimesSync(join(dir, "output.log"), at, at);
  };

  it("is told by status and show, with the evidence", async () => {
    await run(["new", "Watched", "--id", "watched", "--todo", "gated", "--queue"]);
    await run(["start", "--detach"]);
    while (!(await run(["logs", "watched"])).stdout.includes("working on gated")) await sleep(50);
    const { state, run: number, agent, evidence, running } = await activity();
    assert.deepEqual([state, number, agent, running], ["working", 1, "test", 1]);
    assert.match(evidence, /^last output \d+ s ago; last: working on gated$/);
    assert.match((await run(["status"])).stdout, /^watched +active, working /m);
    assert.match((await run(["show", "watched"])).stdout, /^agent: test \(run 1\): working \(last output/m);
    assert.equal(JSON.parse((await run(["show", "watched", "--json"])).stdout).activity.state, "working");
  });

  it("is silent after a while, and stuck only when it is not ended", thorough, async () => {
    lookSilentFor(12);
    const { state, evidence } = await activity();
    assert.deepEqual([state, evidence], ["silent", "no output for 12 min; last: working on gated"]);
    lookSilentFor(45);
    assert.equal((await activity()).state, "stuck");
    assert.match((await run(["status"])).stdout, /^watched +active, stuck /m);
    await run(["pause", "watched"]);
    assert.equal((await activity()).state, "silent", "a plan that is paused is never stuck");
    await run(["resume", "watched"]);
  });

  it("is waiting when it asks", async () => {
    const at = new Date().toISOString();
    appendFileSync(join(dir, "events.jsonl"), `${JSON.stringify({ at, type: "waiting", question: "May I?" })}\n`);
    const { state, evidence } = await activity();
    assert.deepEqual([state, evidence], ["waiting-for-input", "asks: May I?"]);
    assert.match(
      (await run(["show", "watched"])).stdout,
      /^agent: test \(run 1\): waiting for input \(asks: May I\?\)$/m,
    );
  });

  it("is nothing when its dispatcher was stopped", thorough, async () => {
    await run(["stop"]);
    const { plans, agents } = JSON.parse((await run(["status", "--json"])).stdout);
    assert.deepEqual([plans[0].activity, agents[0].running], [undefined, 0]);
    const shown = JSON.parse((await run(["show", "watched", "--json"])).stdout);
    assert.match(shown.activity.evidence, /^interrupted with its dispatcher; `prloom start` goes on$/);
    assert.match((await run(["status"])).stdout, /^watched +active +0\/1 /m);
  });

  it("was no result when it ended with nothing", thorough, async () => {
    await run(["new", "Never", "--id", "never", "--todo", "never", "--queue"]);
    await run(["delete", "watched", "--yes"]);
    await run(["start", "--until-idle"]);
    const { activity: last, blocked } = JSON.parse((await run(["show", "never", "--json"])).stdout);
    assert.ok(blocked);
    assert.deepEqual([last.state, last.run], ["finished-without-result", 3]);
    assert.match(last.evidence, /^ended with exit code 0, and nothing that could be accepted; last: working on never$/);
  });
});

describe("agents in status", () => {
  it("that were refused are told with the reason, and what today cost beside the budget", async (t) => {
    const repository = testRepository();
    t.after(() => repository.close());
    const { root, run } = repository;
    const configFile = join(root, "prloom", "config.json");
    const config = JSON.parse(readFileSync(configFile, "utf8"));
    writeFileSync(configFile, JSON.stringify({ ...config, limits: { dailyBudget: { usd: 20 } } }));
    assert.match((await run(["status"])).stdout, /^today: \$0 of \$20, 0 min$/m);
    const until = new Date(Date.now() + 30 * MINUTE).toISOString();
    const two = (value: number) => String(value).padStart(2, "0");
    const now = new Date();
    const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
    const desk = {
      schemaVersion: 1,
      agents: { test: { kind: "rate-limit", reason: "429: slow down\nplease", until, count: 2, since: until } },
      today: { day, tokens: 1_500_000, usd: 3.4, ms: 45 * MINUTE },
    };
    mkdirSync(join(root, ".git", "prloom"), { recursive: true });
    writeFileSync(join(root, ".git", "prloom", "agents.json"), JSON.stringify(desk));
    const { stdout } = await run(["status"]);
    assert.match(stdout, /^agent test: backs off, next try in 30 min \(rate-limit: 429: slow down\)$/m);
    assert.match(stdout, /^today: 1\.5M tokens, \$3\.40 of \$20, 45 min$/m);
    const { agents, today, dailyBudget } = JSON.parse((await run(["status", "--json"])).stdout);
    assert.partialDeepStrictEqual(agents[0], { name: "test", level: "none", backsOff: { until, kind: "rate-limit" } });
    assert.deepEqual([today.usd, dailyBudget], [3.4, { usd: 20 }]);
    writeFileSync(join(root, ".git", "prloom", "agents.json"), "{ torn");
    assert.equal((await run(["status"])).code, 0);
  });

  const lines = (report: Partial<AgentsReport>): string[] => {
    const told: string[] = [];
    const output = { paint: plain, line: (text: string) => void told.push(text) } as unknown as Output;
    const nothing = { day: "2030-01-01", tokens: 0, usd: 0, ms: 0 };
    agentsState(output, { sandbox: "sandbox", agents: [], today: nothing, dailyBudget: {}, ...report }, 0);
    return told;
  };
  const agent = (name: string, level: "sandbox" | "none" | "refused") =>
    ({ name, adapter: "command", level, running: 0 }) as const;

  it("say how they are enclosed, each where they differ", () => {
    assert.deepEqual(lines({}), ["sandbox: bubblewrap"]);
    assert.deepEqual(lines({ sandbox: "none", sandboxWhy: "no bwrap" }), [
      "sandbox: none: agents run with your rights (no bwrap)",
    ]);
    assert.deepEqual(lines({ agents: [agent("a", "sandbox"), agent("b", "none")] }), [
      "sandbox: bubblewrap; none for b: with your rights",
    ]);
    assert.deepEqual(lines({ agents: [agent("b", "none")] }), ["sandbox: none: agents run with your rights"]);
    const [, refused] = lines({ sandbox: "none", agents: [agent("a", "refused")] });
    assert.match(refused ?? "", /^agent a: does not run without a sandbox/);
  });
});

describe("spending in words", () => {
  it("is short, and what is little is not nothing", () => {
    assert.deepEqual([0, 999, 1000, 12_345, 123_456, 999_949, 999_999, 4_100_000].map(tokensInWords), [
      "0",
      "999",
      "1k",
      "12.3k",
      "123k",
      "1M",
      "1M",
      "4.1M",
    ]);
    assert.deepEqual([0, 0.004, 0.01, 1.2, 5, 1234.5].map(dollars), [
      "$0",
      "<$0.01",
      "$0.01",
      "$1.20",
      "$5",
      "$1234.50",
    ]);
    assert.equal(spendingInWords({ tokens: 0, usd: 0, ms: 30_000 }, {}), "<1 min");
    assert.equal(
      spendingInWords({ tokens: 5000, usd: 0, ms: 0 }, { tokens: 10_000, usd: 1, minutes: 30 }),
      "5k of 10k tokens, $0 of $1, 0 min of 30 min",
    );
  });
});
