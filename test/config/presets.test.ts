import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseConfig } from "../../src/config/load.ts";
import { configForPlan, type PlanWishes } from "../../src/config/presets.ts";
import { formatDuration, formatSize, parseDuration, parseSize } from "../../src/config/schema/units.ts";

const config = parseConfig(
  JSON.stringify({
    agents: { main: { command: "main", model: "big" }, side: { command: "side", args: ["-q"] } },
    stages: { default: "main", triage: "side" },
    checks: ["npm test"],
    limits: { runTimeout: "1h" },
    presets: {
      quick: {
        agents: { tiny: { command: "tiny" } },
        stages: { worker: "tiny" },
        checks: [],
        limits: { runTimeout: "10m", maxDeletions: { files: 5 } },
      },
      all: { stages: { default: "side" } },
      strict: { stages: { reviewer: "side" } },
    },
  }),
  "x",
);

function stagesOf(wishes: PlanWishes): Record<string, string> {
  const outcome = configForPlan(config, wishes);
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.reason);
  return Object.fromEntries(Object.entries(outcome.config.stages).map(([stage, agent]) => [stage, agent.name]));
}

test("stages: the file's, then the preset's, then the plan's own agent", () => {
  const all = (name: string) => ({ designer: name, worker: name, triage: name, reviewer: name });
  assert.deepEqual(stagesOf({}), { ...all("main"), triage: "side" });
  assert.deepEqual(stagesOf({ preset: "quick" }), { ...all("main"), worker: "tiny", triage: "side" });
  assert.deepEqual(stagesOf({ preset: "strict" }), { ...all("main"), triage: "side", reviewer: "side" });
  assert.deepEqual(stagesOf({ preset: "all" }), all("side"));
  assert.deepEqual(stagesOf({ agent: "side" }), all("side"));
  assert.deepEqual(stagesOf({ agent: "tiny", preset: "quick" }), all("tiny"));
});

test("what a stage's agent is, with the plan's own model", () => {
  const outcome = configForPlan(config, { model: "small" });
  assert.ok(outcome.ok);
  const { worker, triage } = outcome.config.stages;
  const defaults = {
    env: {},
    passEnv: [],
    sandbox: "auto",
    readable: [],
    keeps: [],
    projectSettings: false,
    session: "todo",
  };
  const shared = { adapter: "command", ...defaults, model: "small" };
  assert.deepEqual(worker, { name: "main", command: "main", ...shared });
  assert.deepEqual(triage, { name: "side", command: "side", args: ["-q"], ...shared });
});

test("limits and checks: a preset replaces, a plan may only lower", () => {
  const outcome = configForPlan(config, { preset: "quick", limits: { runTimeout: "90s", attemptsPerTodo: 1 } });
  assert.ok(outcome.ok);
  const { limits, checks } = outcome.config;
  assert.deepEqual(checks, []);
  assert.deepEqual([limits.runTimeoutMs, limits.attemptsPerTodo], [90_000, 1]);
  assert.deepEqual(limits.maxDeletions, { files: 5, percent: 20 });
});

const refusals: [wishes: PlanWishes, reason: string][] = [
  [
    { limits: { runTimeout: "3h" } },
    "limits.runTimeout: 3h is more than the 1h that the config allows; a plan may only lower it",
  ],
  [
    { preset: "quick", limits: { runTimeout: "1h" } },
    "limits.runTimeout: 1h is more than the 10m that the config allows; a plan may only lower it",
  ],
  [
    { limits: { maxOutput: "1GB" } },
    "limits.maxOutput: 1GB is more than the 16MB that the config allows; a plan may only lower it",
  ],
  [
    { limits: { maxDeletions: 201 } },
    "limits.maxDeletions.files: 201 is more than the 200 that the config allows; a plan may only lower it",
  ],
  [
    { limits: { maxDeletions: { percent: 100 } } },
    "limits.maxDeletions.percent: 100 is more than the 20 that the config allows; a plan may only lower it",
  ],
  [{ limits: { runTimeout: 5 } }, 'limits.runTimeout: must be a string with a unit, like "2h"'],
  [{ limits: { runTimeot: "5m" } }, "limits.runTimeot: unknown key, did you mean runTimeout?"],
  [{ preset: "quik" }, 'there is no preset called "quik", did you mean quick?'],
  [{ preset: "constructor" }, 'there is no preset called "constructor"'],
  [{ agent: "sid" }, 'there is no agent called "sid", did you mean side?'],
  [{ agent: "tiny" }, 'there is no agent called "tiny"'],
  [{ agent: "__proto__" }, 'there is no agent called "__proto__"'],
];

for (const [wishes, reason] of refusals) {
  test(`a plan that asks for ${JSON.stringify(wishes)} is refused`, () => {
    assert.deepEqual(configForPlan(config, wishes), { ok: false, reason });
  });
}

test("durations and sizes survive being written and read", () => {
  fc.assert(
    fc.property(fc.nat(), (value) => {
      assert.equal(parseDuration(formatDuration(value)), value);
      assert.equal(parseSize(formatSize(value)), value);
    }),
  );
  for (const text of ["", "5", "h", "-1s", "1 s", "1H", "1e3s", "１s"])
    assert.equal(parseDuration(text), undefined, text);
});
