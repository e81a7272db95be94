import { compareConfigs } from "../../config/compare.ts";
import type { Config } from "../../config/config.ts";
import { CONFIG_FILE, loadConfig } from "../../config/load.ts";
import type { Pin } from "../../config/pin.ts";
import { changesLine } from "../../dispatcher/settings/pinned.ts";
import { PrloomError } from "../../kernel/errors.ts";

interface InForce {
  readonly config: Config;
  readonly pin?: Pin | undefined;
  readonly problem?: PrloomError | undefined;
}

/** What a person who reads `prloom/config.json` would not expect of an answer: other settings are in force. */
export function settingsWarnings({ config, pin, problem }: InForce, root: string): string[] {
  // Before `prloom init` there is none, and nothing is wrong.
  if (problem)
    return problem.code === "config-missing" ? [] : [`judged with the usual settings: ${mistakeIn(problem)}`];
  if (!pin) return [];
  try {
    const changes = compareConfigs(config, loadConfig(root)).filter(({ key }) => key.startsWith("governance."));
    if (changes.length === 0) return [];
    return [`judged as pinned, and ${CONFIG_FILE} differs: ${changesLine(changes)}. \`prloom reload\` applies it`];
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
    return [`judged as pinned: ${mistakeIn(error)}`];
  }
}

/** The first of the mistakes that an error lists. */
function mistakeIn({ message }: PrloomError): string {
  const [what = "", first] = message.split("\n").map((line) => line.trim().replace(/\s+/g, " "));
  return `${first === undefined ? what : `${what} ${first}`} (\`prloom doctor\` tells more)`;
}
