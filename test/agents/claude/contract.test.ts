import { claudeAdapter } from "../../../src/agents/claude/adapter.ts";
import { agentContract } from "../../testing/agents/agent-contract.ts";

const adapterModule = new URL("../../../src/agents/claude/adapter.ts", import.meta.url).href;

/** The first line is the prompt; none follows while the stubs run. */
const PROMPT_OF_LINE = `const { message } = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(message.content[0].text);`;

agentContract("claude", {
  make: (program) => claudeAdapter({ name: "test", command: program, projectSettings: false }),
  source: `import { claudeAdapter } from ${JSON.stringify(adapterModule)};
    export const make = (program) => claudeAdapter({ name: "test", command: program, projectSettings: false });`,
  readPrompt: `head -n 1 | '${process.execPath}' -e '${PROMPT_OF_LINE}'`,
  brief: true,
});
