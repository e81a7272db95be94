import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { makeWorkshop, type RealAgent } from "../../../testing/agents/real-agent-bench.ts";
import { promptOf, tick } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

const AGENTS: readonly RealAgent[] = [
  { program: "opencode", config: { adapter: "opencode" }, startSeconds: 12 },
  { program: "claude", config: { adapter: "claude" }, startSeconds: 5 },
];

/** Each by the name of its test file, and whether it is evidence that tests passed. */
const COMMANDS: readonly (readonly [command: string, ok: boolean])[] = [
  ["node --test good.test.mjs", true],
  ["node --test bad.test.mjs", false],
  ["set -o pipefail; node --test bad.test.mjs 2>&1 | grep -v nothing", false],
  ["node --test bad.test.mjs && diff README.md src/a.txt", false],
  ["node --test bad.test.mjs && grep -c nothing README.md", false],
];

for (const agent of AGENTS)
  describe(`tests that ran in ${agent.program}`, () => {
    const workshop = makeWorkshop(agent);
    after(() => workshop.close());

    test("have passed where they did, whatever stands behind them", thorough, async (t) => {
      const steps = [
        { write: "good.test.mjs", content: "\n" },
        { write: "bad.test.mjs", content: "process.exit(1);\n" },
        ...COMMANDS.map(([shell]) => ({ shell })),
        tick,
        { say: "Done." },
      ];
      const bench = await workshop.bench(t, { script: [{ when: promptOf("worker"), steps }] });
      if (!bench) return;
      const { project } = bench;
      project.plan("governed", ["Build the form"]);
      const { stdout } = await project.work();
      assert.equal(project.record("governed").status, "review", stdout);
      const { workPlans } = JSON.parse((await project.cli(["tasks", "governed", "--json"])).stdout);
      const checkpoints: { kind: string; ok: boolean }[] = workPlans[0].tasks[0].checkpoints;
      const told = checkpoints.filter(({ kind }) => kind === "test").map(({ ok }) => ok);
      assert.deepEqual(
        told,
        COMMANDS.map(([, ok]) => ok),
      );
    });
  });
