import { openCodeAdapter } from "../../../src/agents/opencode/adapter.ts";
import { agentContract } from "../../testing/agents/agent-contract.ts";

const adapterModule = new URL("../../../src/agents/opencode/adapter.ts", import.meta.url).href;

agentContract("opencode", {
  make: (program) => openCodeAdapter({ name: "test", command: program, projectSettings: false }),
  source: `import { openCodeAdapter } from ${JSON.stringify(adapterModule)};
    export const make = (program) => openCodeAdapter({ name: "test", command: program, projectSettings: false });`,
  brief: true,
});
