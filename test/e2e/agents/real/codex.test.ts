import { realAgentSuite } from "../../../testing/agents/real-agent-suite.ts";

realAgentSuite({ program: "codex", config: { adapter: "codex" }, refusal: 529, startSeconds: 5, brief: true });
