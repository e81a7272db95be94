import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { makeWorkshop, type RealAgent } from "../../../testing/agents/real-agent-bench.ts";
import type { Fault, Script } from "../../../testing/model/script.ts";
import { worksTodos } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

const LIMIT = 18_000;

const AGENTS: readonly RealAgent[] = [
  {
    program: "claude",
    // Only a subscription has limits with an end.
    config: { adapter: "claude", env: { CLAUDE_CODE_OAUTH_TOKEN: "scripted-token", ANTHROPIC_API_KEY: "" } },
    startSeconds: 5,
  },
  { program: "codex", config: { adapter: "codex" }, startSeconds: 5 },
  { program: "opencode", config: { adapter: "opencode" }, startSeconds: 12 },
  { program: "gemini", config: { adapter: "acp", args: ["--acp"] }, startSeconds: 8 },
];

describe("the limit of a provider, met by a real program", thorough, () => {
  for (const agent of AGENTS) {
    const workshop = makeWorkshop(agent);
    after(() => workshop.close());

    const limited = (name: string, script: Script): void => {
      test(`${agent.program}: ${name}`, async (t) => {
        const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1 } });
        if (!bench) return;
        const { project, model } = bench;
        project.plan("one", ["Make a file"]);
        const begun = Date.now();
        const worked = await project.work();
        assert.equal(worked.code, 0, worked.stderr);
        const { blocked, current } = project.record("one");
        assert.deepEqual([blocked, current?.attempt], [undefined, 1], worked.stdout);
        const { real } = JSON.parse(readFileSync(join(project.authority, "agents.json"), "utf8")).agents;
        // Codex tells the minute only.
        assert.ok(Date.parse(real.resetsAt) >= begun + (LIMIT - 60) * 1000, JSON.stringify(real));
        assert.deepEqual(project.processes(), []);
        model.follow([worksTodos()]);
        const unblocked = await project.cli(["unblock", "one"]);
        assert.match(unblocked.stdout, /Tried again now: real\./);
        const again = await project.work();
        assert.equal(project.record("one").status, "review", again.stdout);
      });
    };
    const limit: Fault = { fail: 429, limit: LIMIT };
    limited("at once", [{ steps: [limit] }]);
    limited("in the middle of its work", [{ steps: [{ shell: "echo half > half.txt" }, limit] }]);

    test(`${agent.program}: whose model says that a limit was reached has made an attempt`, async (t) => {
      const script: Script = [{ steps: [{ say: "You've hit your 5-hour limit, says the test I wrote." }] }];
      const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1 } });
      if (!bench) return;
      bench.project.plan("one", ["Make a file"]);
      await bench.project.work();
      assert.match(bench.blockedReason("one"), /failed after 1 attempt/);
    });
  }
});
