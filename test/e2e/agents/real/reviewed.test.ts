import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { makeWorkshop, type RealAgent } from "../../../testing/agents/real-agent-bench.ts";
import type { Script, ScriptStep } from "../../../testing/model/script.ts";
import { promptOf, tick, writesResult } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

const AGENTS: readonly RealAgent[] = [
  { program: "opencode", config: { adapter: "opencode" }, startSeconds: 12 },
  { program: "claude", config: { adapter: "claude" }, startSeconds: 5 },
];

for (const agent of AGENTS)
  describe(`a review in ${agent.program}`, () => {
    const workshop = makeWorkshop(agent);
    after(() => workshop.close());

    test("of what a worker leaves as it was is begun anew, with what was found before", thorough, async (t) => {
      const again = promptOf("reviewer", ({ text }) => text.includes("## What was found before"));
      const comments = [{ path: "src/form.txt", line: 1, message: "x is no name" }];
      const verdict = (verdict: string): ScriptStep =>
        writesResult({ verdict, summary: "", comments: verdict === "approve" ? [] : comments });
      const script: Script = [
        { when: again, steps: [verdict("approve"), { say: "Reviewed." }] },
        { when: promptOf("reviewer"), steps: [verdict("request_changes"), { say: "Reviewed." }] },
        {
          when: promptOf("worker", ({ prompt }) => prompt.refused),
          steps: [{ read: "src/form.txt" }, tick, { say: "It is a name." }],
        },
        { when: promptOf("worker"), steps: [{ write: "src/form.txt", content: "x\n" }, tick, { say: "Done." }] },
      ];
      const bench = await workshop.bench(t, { script, limits: { reviewRounds: 2 }, config: { review: "todo" } });
      if (!bench) return;
      const { project } = bench;
      project.plan("governed", ["Build the form"]);
      const { stdout } = await project.work();
      assert.equal(project.record("governed").status, "review", stdout);
      assert.match(stdout, /the reviewer approved/);
      assert.doesNotMatch(stdout, /reviewer started \(run \d+, agent real, going on/);
      const said = bench.asked("reviewer").map(({ text }) => text);
      assert.doesNotMatch(said.join("\n"), /Your last run was interrupted/);
      assert.match(said.at(-1) ?? "", /found before[\s\S]*x is no name/);
    });
  });
