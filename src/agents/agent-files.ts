import { statSync } from "node:fs";
import { join } from "node:path";
import type { AgentConfig } from "../config/config.ts";

type CommandLine = Pick<AgentConfig, "command" | "args">;

/** How the name of a script ends: a word without such an ending may be a model or a mode. */
const SCRIPT = /\.(?:[cm]?[jt]s|sh|bash|py|rb|pl)$/;

/** Files of the repository that an agent is started from, such as `prloom/agent.mjs`: a worktree has only what is committed. */
export function agentFiles(root: string, agent: CommandLine): string[] {
  return pathsIn(wordsOf(agent)).filter((path) => isFile(root, path));
}

/** Scripts that the program of an agent is given and that the checkout does not have. */
export function missingScripts(root: string, agent: CommandLine): string[] {
  const [, ...given] = wordsOf(agent);
  return pathsIn(given).filter((path) => SCRIPT.test(path) && !isFile(root, path));
}

function wordsOf({ command, args = [] }: CommandLine): string[] {
  return [command, ...args].join(" ").split(/\s+/);
}

/** Words that can be paths below the root of the repository. */
function pathsIn(words: readonly string[]): string[] {
  const paths = words
    .map((word) => word.replace(/^(['"])(.*)\1$/, "$2").replace(/^(?:\.\/)+/, ""))
    .filter((word) => /^\.?\w[\w./-]*$/.test(word) && !word.split("/").includes(".."));
  return [...new Set(paths)];
}

function isFile(root: string, path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true;
}
