import { realAgentSuite } from "../../../testing/agents/real-agent-suite.ts";
import { thorough } from "../../../testing/thorough.ts";

// The ordinary run has Codex's story, and this program at work under the policy (governed-claude.test.ts).
realAgentSuite(
  {
    program: "claude",
    // By itself it tries for minutes before it tells that it was refused.
    config: { adapter: "claude", env: { CLAUDE_CODE_MAX_RETRIES: "2" } },
    startSeconds: 5,
  },
  thorough,
);
