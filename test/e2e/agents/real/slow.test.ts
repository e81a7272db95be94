import { describe } from "node:test";
import type { RealAgent } from "../../../testing/agents/real-agent-bench.ts";
import { realAgentSuite } from "../../../testing/agents/real-agent-suite.ts";
import { oneOf, SEED_NOTE } from "../../../testing/sample.ts";

const AGENTS: readonly RealAgent[] = [
  { program: "opencode", config: { adapter: "opencode" }, refusal: 429, startSeconds: 12, brief: true },
  {
    program: "gemini",
    // Through ACP, as any other program that speaks it.
    config: { adapter: "acp", args: ["--acp"] },
    refusal: 429,
    startSeconds: 8,
    // Version 0.61 does not find a conversation that is not older than a minute.
    forgets: true,
    brief: true,
  },
];

/** Each start of them takes seconds of a processor; what their adapters do is shown in every run, without a dispatcher. */
describe(`programs that start slowly (${SEED_NOTE})`, () => {
  for (const agent of oneOf(AGENTS)) realAgentSuite(agent);
});
