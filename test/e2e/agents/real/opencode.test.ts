import { realAgentSuite } from "../../../testing/agents/real-agent-suite.ts";

realAgentSuite({
  program: "opencode",
  config: { adapter: "opencode" },
  refusal: 429,
  startSeconds: 12,
  brief: true,
});
