import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, resolve } from "node:path";
import { errnoOf } from "../errors.ts";

/** Whether starting this file can work. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

/**
 * PATH without relative entries: programs of ours run in folders that agents write, and `./node_modules/.bin` would be the
 * agent's.
 */
export function absolutePath(path: string | undefined): string {
  return (path ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .join(delimiter);
}

/** The file that starting `command` would run, found as the system finds it: by path when it has a slash, else in PATH. */
export function findProgram(command: string, path: string | undefined, cwd: string): string | undefined {
  if (command === "") return undefined;
  if (command.includes("/")) {
    const file = isAbsolute(command) ? command : resolve(cwd, command);
    return isExecutable(file) ? file : undefined;
  }
  for (const folder of (path ?? "").split(delimiter)) {
    const file = resolve(cwd, folder, command);
    if (isExecutable(file)) return file;
  }
  return undefined;
}
