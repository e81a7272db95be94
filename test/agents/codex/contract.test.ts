import { codexAdapter } from "../../../src/agents/codex/adapter.ts";
import { agentContract } from "../../testing/agents/agent-contract.ts";

const adapterModule = new URL("../../../src/agents/codex/adapter.ts", import.meta.url).href;

agentContract("codex", {
  make: (program) => codexAdapter({ name: "test", command: program, projectSettings: false }),
  source: `import { codexAdapter } from ${JSON.stringify(adapterModule)};
    export const make = (program) => codexAdapter({ name: "test", command: program, projectSettings: false });`,
  brief: true,
});
