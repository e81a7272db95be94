import { acpAdapter } from "../../../src/agents/acp/adapter.ts";
import { agentContract } from "../../testing/agents/agent-contract.ts";

const adapterModule = new URL("../../../src/agents/acp/adapter.ts", import.meta.url).href;
const stub = new URL("../fixtures/acp/stub.mjs", import.meta.url).pathname;

agentContract("acp", {
  make: (program) => acpAdapter({ name: "test", command: program, projectSettings: false }),
  source: `import { acpAdapter } from ${JSON.stringify(adapterModule)};
    export const make = (program) => acpAdapter({ name: "test", command: program, projectSettings: false });`,
  readPrompt: `'${process.execPath}' '${stub}'`,
  brief: true,
});
