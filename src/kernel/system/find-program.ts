import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, resolve } from "node:path";
import { unlessRefused } from "../errors.ts";
import { isWithin } from "../paths.ts";

/** Whether starting this file can work. */
export function isExecutable(path: string): boolean {
  return isAccessible(path, constants.X_OK) && unlessRefused(() => statSync(path).isFile()) === true;
}

/** Whether we may do this to what lies at a path: one of `constants`, `R_OK` say. */
export function isAccessible(path: string, mode: number): boolean {
  return unlessRefused(() => accessSync(path, mode) === undefined) === true;
}

/** Working trees that this process was started for, without links. */
const checkouts = new Set<string>();

/**
 * Folders of PATH that were found outside of them, with no link on the way there. They are asked about for every git; putting a link in
 * place of one takes the right to put a program into it.
 */
const outside = new Set<string>();

/** From now on no program of ours is looked for in these working trees: whatever branch is checked out can bring one. */
export function distrustPrograms(roots: readonly string[]): void {
  for (const root of roots) checkouts.add(root);
  outside.clear();
}

/**
 * PATH without relative entries: programs run in folders that agents write, and `./node_modules/.bin` would be the
 * agent's.
 */
export function absolutePath(path: string | undefined): string {
  return (path ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .join(delimiter);
}

/** Where programs that run with our rights are looked for: not in the checkout either, of which `npx` puts folders into PATH. */
export function trustedPath(path: string | undefined): string {
  return absolutePath(path)
    .split(delimiter)
    .filter((folder) => !isCheckedOut(folder))
    .join(delimiter);
}

function isCheckedOut(folder: string): boolean {
  const path = resolve(folder);
  if (outside.has(path)) return false;
  const real = unlessRefused(() => realpathSync.native(path));
  // One that is not there may come with the next branch.
  const isInside = [...checkouts].some((root) => isWithin(real ?? path, root));
  if (!isInside && real === path) outside.add(path);
  return isInside;
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
