import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "../../src/config/load.ts";

/** Everything that has a default: all but the agents, which only the user can name. */
const DEFAULTS = {
  forge: "local",
  worktreesDir: "prloom/.local/worktrees",
  copyFiles: [],
  trustedFilters: [],
  initCommands: [],
  ports: { from: 41_000 },
  checks: [],
  review: "off",
  commit: { signoff: false },
  limits: {
    maxRunningAgents: 3,
    maxOpenPlans: 20,
    attemptsPerTodo: 3,
    runTimeoutMs: 7_200_000,
    silenceTimeoutMs: 1_800_000,
    checkTimeoutMs: 900_000,
    stopGraceMs: 5000,
    maxOutputBytes: 16 * 1024 ** 2,
    maxProcesses: 2048,
    maxDeletions: { files: 200, percent: 20 },
    budget: {},
    dailyBudget: {},
    reviewRounds: 2,
    ciAttempts: 3,
    commentsPerHour: 30,
    perSource: { plans: 3 },
  },
  bus: {
    maxAttempts: 10,
    retryMinMs: 1000,
    retryMaxMs: 300_000,
    maxAgeMs: 72 * 3_600_000,
    hookTimeoutMs: 300_000,
    bridgeTimeoutMs: 60_000,
    pollEveryMs: 30_000,
    gatherReviewsMs: 30_000,
  },
  plugins: [],
  globalPlugins: [],
  bridges: [],
  globalBridges: [],
  triggers: [],
  notify: { channels: {}, routes: {}, default: [] },
  gates: { plan: false, pr: false, advisory: false, remindAfterMs: 86_400_000 },
  authors: {},
  writeback: { investigating: true, planning: true, plan: true, implementing: true, pr: true, done: true, body: false },
  governance: {
    roles: {},
    mcp: { reads: [], writes: [] },
    secrets: [],
    interpreters: [],
    protected: [],
    maxRepeatedDenials: 3,
    purgeAfterMs: 172_800_000,
  },
  presets: {},
  cleanAfterMs: 7 * 86_400_000,
};

test("the smallest config gets every default", () => {
  assert.deepEqual(
    parseConfig(JSON.stringify({ agents: { echo: { command: "echo" } }, stages: { default: "echo" } }), "x"),
    {
      ...DEFAULTS,
      agents: {
        echo: {
          adapter: "command",
          command: "echo",
          env: {},
          passEnv: [],
          sandbox: "auto",
          readable: [],
          keeps: [],
          projectSettings: false,
          session: "todo",
        },
      },
      stages: { default: ["echo"] },
    },
  );
});

test("everything that can be said is taken over, with units resolved", () => {
  const agent = {
    adapter: "command",
    command: "a",
    args: ["-x", ""],
    env: { K: "v" },
    passEnv: ["KEY"],
    model: "m",
    sandbox: "bwrap",
    readable: ["~/tools"],
    keeps: [".mine/*.jsonl"],
    projectSettings: true,
    session: "plan",
    maxRunning: 2,
    price: { input: 3, output: 0.5 },
  };
  const text = JSON.stringify({
    $schema: "https://example.com/schema.json",
    forge: "local",
    baseBranch: "develop",
    worktreesDir: "../trees",
    copyFiles: [".env"],
    trustedFilters: ["nbstripout"],
    initCommands: ["npm ci"],
    checks: ["npm test"],
    agents: { a: agent },
    stages: { default: "a", worker: ["a"] },
    review: "end",
    limits: {
      maxRunningAgents: 1,
      runTimeout: "90s",
      silenceTimeout: "500ms",
      checkTimeout: "1.5h",
      stopGrace: "0s",
      maxOutput: "512KB",
      maxProcesses: 100,
      maxDeletions: { files: 0 },
      budget: { usd: 2.5 },
      dailyBudget: { tokens: 1_000_000, minutes: 90 },
      reviewRounds: 1,
    },
    bus: {
      maxAttempts: 2,
      retryMin: "2s",
      retryMax: "2s",
      maxAge: "30d",
      hookTimeout: "10s",
      bridgeTimeout: "5s",
      pollEvery: "100ms",
      gatherReviews: "1s",
    },
    presets: { fast: { limits: { runTimeout: "1m" }, stages: { worker: "b" }, agents: { b: { command: "b" } } } },
    cleanAfter: "30d",
  });
  const config = parseConfig(text, "x");
  assert.deepEqual(config.trustedFilters, ["nbstripout"]);
  assert.deepEqual(config.limits, {
    ...DEFAULTS.limits,
    maxRunningAgents: 1,
    runTimeoutMs: 90_000,
    silenceTimeoutMs: 500,
    checkTimeoutMs: 5_400_000,
    stopGraceMs: 0,
    maxOutputBytes: 524_288,
    maxProcesses: 100,
    maxDeletions: { files: 0, percent: 20 },
    budget: { usd: 2.5 },
    dailyBudget: { tokens: 1_000_000, minutes: 90 },
    reviewRounds: 1,
  });
  assert.deepEqual([config.review, config.stages], ["end", { default: ["a"], worker: ["a"] }]);
  assert.deepEqual(config.bus, {
    maxAttempts: 2,
    retryMinMs: 2000,
    retryMaxMs: 2000,
    maxAgeMs: 30 * 86_400_000,
    hookTimeoutMs: 10_000,
    bridgeTimeoutMs: 5000,
    pollEveryMs: 100,
    gatherReviewsMs: 1000,
  });
  assert.deepEqual(config.agents.a, agent);
  assert.equal(config.cleanAfterMs, 30 * 86_400_000);
  assert.equal(config.presets.fast?.agents.b?.command, "b");
});
