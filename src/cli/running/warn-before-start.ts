import type { Config } from "../../config/config.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { startNotes } from "../../dispatcher/settings/start-notes.ts";
import { checkCommitted } from "../doctor/agent-checks.ts";
import { missingKeygen } from "../doctor/signing-checks.ts";
import type { Call } from "../output.ts";
import { visible } from "../render/safe-text.ts";
import { checkProgram } from "../setup/agent-program.ts";

/** What to know about the settings that a start applies, on stderr. */
export async function warnBeforeStart(call: Call, { repo, config, paths }: Loom): Promise<void> {
  const unchecked = missingKeygen(call.env, config);
  const warnings = [
    ...missingPrograms(call, config, paths.root),
    ...(await checkCommitted(config, repo)).map(({ name, text, hint }) => `${name}: ${text}. ${hint}`),
    ...(unchecked === undefined ? [] : [unchecked]),
    ...(await startNotes(repo, config, paths.pinFile)),
  ];
  for (const warning of warnings) call.output.note(`warning: ${visible(warning)}`);
}

/** Said and not refused: plans that use other agents are not to suffer. */
function missingPrograms(call: Call, config: Config, root: string): string[] {
  const used = Object.entries(config.agents).filter(([name]) => Object.values(config.stages).flat().includes(name));
  return used.flatMap(([name, agent]) => {
    const check = checkProgram(agent, { path: call.env.PATH, root });
    if (check.kind !== "missing") return [];
    return [
      `the agent "${name}" cannot work: the program "${check.program}" was not found. Set agents.${name}.command in prloom/config.json.`,
    ];
  });
}
