import { realAgentSuite } from "../testing/real-agent-suite.ts";

realAgentSuite({ program: "codex", config: { adapter: "codex" }, refusal: 529, startSeconds: 5 });
