import { realAgentSuite } from "../../../testing/agents/real-agent-suite.ts";

realAgentSuite({ program: "codex", config: { adapter: "codex" }, startSeconds: 5 });
