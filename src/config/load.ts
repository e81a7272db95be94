import { join } from "node:path";
import { messageOf, PrloomError } from "../kernel/errors.ts";
import { readCheckedOut } from "../kernel/files.ts";
import { PARSED_ONCE } from "../kernel/json.ts";
import type { Config } from "./config.ts";
import { type ConfigProblem, checkConfig } from "./problems/problems.ts";
import { configSchema } from "./schema/schema.ts";

export const CONFIG_FILE = "prloom/config.json";

/** One line per problem, in the form that editors and terminals turn into links. */
export function problemLine(file: string, { line, column, key, message }: ConfigProblem): string {
  return `${file}:${line}:${column}  ${key === "" ? "" : `${key}: `}${message}`;
}

/** The config in the text of a file; throws one error that lists everything that is wrong. `file` is its name in messages. */
export function parseConfig(text: string, file: string): Config {
  const checked = checkConfig(text);
  if (checked.ok) return checked.config;
  const { problems } = checked;
  const count = problems.length === 1 ? "a mistake" : `${problems.length} mistakes`;
  throw new PrloomError(
    "config-invalid",
    [`${file} has ${count}:`, ...problems.map((problem) => `  ${problemLine(file, problem)}`)].join("\n"),
    `Fix ${problems.length === 1 ? "it" : "them"} in ${file} and run \`prloom doctor\`.`,
  );
}

/** The text of the repository's `prloom/config.json`, whatever it says. */
export function readConfig(repoRoot: string): string {
  let text: string | undefined;
  try {
    text = readCheckedOut(join(repoRoot, CONFIG_FILE));
  } catch (error) {
    const hint = `Make ${CONFIG_FILE} a file that you can read, then run \`prloom doctor\`.`;
    throw new PrloomError("config-invalid", `${CONFIG_FILE} cannot be read: ${messageOf(error)}`, hint, error);
  }
  if (text !== undefined) return text;
  const hint = "Run `prloom init` to make one.";
  throw new PrloomError("config-missing", `There is no ${CONFIG_FILE} in ${repoRoot}.`, hint);
}

/** Every default, and no agent: nothing can be started with it. */
export function configWithoutAgents(): Config {
  return configSchema.parse({ agents: {}, stages: { default: "none" } }, PARSED_ONCE);
}

/** Reads the repository's `prloom/config.json` from the working tree. */
export function loadConfig(repoRoot: string): Config {
  return parseConfig(readConfig(repoRoot), CONFIG_FILE);
}
