import { realAgentSuite } from "../../../testing/agents/real-agent-suite.ts";

realAgentSuite({
  program: "claude",
  // By itself it tries for minutes before it tells that it was refused.
  config: { adapter: "claude", env: { CLAUDE_CODE_MAX_RETRIES: "2" } },
  startSeconds: 5,
});
