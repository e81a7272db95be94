import { describe } from "node:test";
import type { RealAgent } from "../../../testing/agents/real-agent-bench.ts";
import { realAgentSuite } from "../../../testing/agents/real-agent-suite.ts";
import { thorough } from "../../../testing/thorough.ts";

const AGENTS: readonly RealAgent[] = [
  { program: "opencode", config: { adapter: "opencode" }, startSeconds: 12 },
  {
    program: "gemini",
    // Through ACP, as any other program that speaks it.
    config: { adapter: "acp", args: ["--acp"] },
    startSeconds: 8,
    // Version 0.61 does not find a conversation that is not older than a minute.
    forgets: true,
  },
];

/** Each start of them takes seconds of a processor; the ordinary run shows their adapters with what they recorded. */
describe("programs that start slowly", thorough, () => {
  for (const agent of AGENTS) realAgentSuite(agent);
});
