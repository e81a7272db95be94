import { realAgentSuite } from "../testing/real-agent-suite.ts";

/** Through ACP, as any other program that speaks it. */
realAgentSuite({
  program: "gemini",
  config: { adapter: "acp", args: ["--acp"] },
  refusal: 429,
  startSeconds: 8,
});
