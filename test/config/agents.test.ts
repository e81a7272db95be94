import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "../../src/config/load.ts";
import { configForPlan, type PlanWishes } from "../../src/config/presets.ts";
import { checkConfig } from "../../src/config/problems/problems.ts";

const MINIMAL = { agents: { echo: { command: "echo" } }, stages: { default: "echo" } };
const configOf = (over: Record<string, unknown>) => parseConfig(JSON.stringify({ ...MINIMAL, ...over }), "x");

function problemsOf(over: Record<string, unknown>): string[] {
  const checked = checkConfig(JSON.stringify({ ...MINIMAL, ...over }, null, 2));
  return checked.ok ? [] : checked.problems.map(({ key, message }) => `${key}: ${message}`);
}

test("an adapter that knows its program needs no command, and takes another one", () => {
  const agents = { claude: { adapter: "claude" }, codex: { adapter: "codex", command: "/opt/codex" } };
  const config = configOf({ agents, stages: { default: ["claude", "codex"] } });
  assert.deepEqual([config.agents.claude?.command, config.agents.codex?.command], ["claude", "/opt/codex"]);
  assert.deepEqual(config.stages, { default: ["claude", "codex"] });
});

const ONE_OR_MORE = "must be the name of an agent, or a list of names in the order in which they are tried";
const agent = (over: Record<string, unknown>) => ({ agents: { echo: { command: "x", ...over } } });
const mistakes: [over: Record<string, unknown>, problems: string[]][] = [
  [{ agents: { echo: {} } }, ["agents.echo.command: is missing: the program to start"]],
  [{ agents: { echo: { adapter: "acp" } } }, ["agents.echo.command: is missing: the program to start"]],
  [agent({ sandbox: "bubblewrap" }), ['agents.echo.sandbox: must be "auto" or "bwrap" or "none"']],
  [
    agent({ adapter: "claud" }),
    ['agents.echo.adapter: must be "command" or "opencode" or "claude" or "codex" or "acp", did you mean claude?'],
  ],
  [agent({ readable: "~/x" }), ["agents.echo.readable: must be a list of strings"]],
  ...["/x", "~/x", "a/../b", "."].map((path): [Record<string, unknown>, string[]] => [
    agent({ keeps: [path] }),
    ["agents.echo.keeps.0: must be a path below the home in the sandbox, like .local/share/my-agent"],
  ]),
  [agent({ projectSettings: "no" }), ["agents.echo.projectSettings: must be true or false"]],
  [agent({ session: "day" }), ['agents.echo.session: must be "todo" or "plan"']],
  [agent({ maxRunning: 0 }), ["agents.echo.maxRunning: must be a whole number of 1 or more"]],
  [agent({ price: { input: 1 } }), ["agents.echo.price.output: is missing: must be a number"]],
  [agent({ readabel: [] }), ["agents.echo.readabel: unknown key, did you mean readable?"]],
  [{ stages: {} }, [`stages.default: is missing: ${ONE_OR_MORE}`]],
  [{ stages: { default: 5 } }, [`stages.default: ${ONE_OR_MORE}`]],
  [{ stages: { default: [] } }, ["stages.default: must name an agent"]],
  [
    { stages: { default: "echo", worker: ["echo", "ehco"] } },
    ['stages.worker.1: there is no agent called "ehco", did you mean echo?'],
  ],
  [{ stages: { default: ["echo", "echo"] } }, ['stages.default.1: "echo" is in the list twice']],
  [{ review: "always" }, ['review: must be "off" or "todo" or "end"']],
  [{ limits: { budget: { usd: 0 } } }, ["limits.budget.usd: must be more than 0"]],
  [{ limits: { budget: { token: 5 } } }, ["limits.budget.token: unknown key, did you mean tokens?"]],
  [{ limits: { dailyBudget: { tokens: 1.5 } } }, ["limits.dailyBudget.tokens: must be a whole number of 1 or more"]],
  [{ limits: { reviewRounds: 0 } }, ["limits.reviewRounds: must be a whole number of 1 or more"]],
];

for (const [over, expected] of mistakes) {
  test(`refused: ${JSON.stringify(over)}`, () => assert.deepEqual(problemsOf(over), expected));
}

const layered = configOf({
  agents: { main: { command: "main" }, spare: { command: "spare" }, third: { command: "third" } },
  stages: { default: "main", worker: ["main", "spare"] },
  limits: { budget: { usd: 5, minutes: 60 } },
  presets: {
    careful: { review: "end", stages: { reviewer: ["third", "main"] }, limits: { budget: { usd: 10 } } },
    cheap: { stages: { default: ["third", "spare"] } },
  },
});

const agentsOf = (wishes: PlanWishes) => {
  const outcome = configForPlan(layered, wishes);
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.reason);
  const { agents, stages, review, limits } = outcome.config;
  for (const stage of ["designer", "worker", "triage", "reviewer"] as const) {
    assert.equal(stages[stage], agents[stage][0], "the stage's agent is the first of its list");
  }
  const names = (stage: keyof typeof agents) => agents[stage].map(({ name }) => name);
  return { worker: names("worker"), triage: names("triage"), reviewer: names("reviewer"), review, limits };
};

test("a stage's agents come in the order in which they are tried; a plan's own agent has no other beside it", () => {
  assert.deepEqual(agentsOf({}).worker, ["main", "spare"]);
  assert.deepEqual(agentsOf({}).triage, ["main"]);
  assert.deepEqual(agentsOf({ preset: "careful" }).reviewer, ["third", "main"]);
  assert.deepEqual(agentsOf({ preset: "cheap" }).worker, ["third", "spare"]);
  assert.deepEqual(agentsOf({ preset: "cheap", agent: "main" }).worker, ["main"]);
});

test("review and budgets: the preset's over the file's", () => {
  assert.deepEqual([agentsOf({}).review, agentsOf({ preset: "careful" }).review], ["off", "end"]);
  assert.deepEqual(agentsOf({ preset: "careful" }).limits.budget, { usd: 10, minutes: 60 });
  assert.deepEqual(agentsOf({ limits: { budget: { usd: 1 } } }).limits.budget, { usd: 1, minutes: 60 });
  assert.deepEqual(agentsOf({ limits: { budget: { tokens: 9 } } }).limits.budget, { usd: 5, minutes: 60, tokens: 9 });
});

test("a plan cannot give itself more money or minutes than the config allows", () => {
  const refused = (budget: Record<string, number>) => configForPlan(layered, { limits: { budget } });
  const only = "that the config allows; a plan may only lower it";
  assert.deepEqual(refused({ usd: 6 }), { ok: false, reason: `limits.budget.usd: 6 is more than the 5 ${only}` });
  assert.deepEqual(refused({ minutes: 61 }), {
    ok: false,
    reason: `limits.budget.minutes: 61 is more than the 60 ${only}`,
  });
});
