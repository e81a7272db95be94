import { realAgentSuite } from "../../../testing/agents/real-agent-suite.ts";

/** Through ACP, as any other program that speaks it. */
realAgentSuite({
  program: "gemini",
  config: { adapter: "acp", args: ["--acp"] },
  refusal: 429,
  startSeconds: 8,
  // Version 0.61 does not find a conversation that is not older than a minute.
  forgets: true,
  brief: true,
});
