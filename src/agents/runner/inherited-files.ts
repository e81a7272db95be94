import { closeSync, readdirSync, readFileSync } from "node:fs";
import { errnoOf } from "../../kernel/errors.ts";

const CLOSE_ON_EXEC = 0o2000000;

/** From `/proc/<pid>/fdinfo/<fd>`: whether a program that is started gets this file, too. */
export function isPassedOn(fdinfo: string): boolean {
  const flags = /^flags:\s*([0-7]+)/m.exec(fdinfo)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}

/**
 * Closes files that our parent had open and that a program we start would get as well: through them it would reach
 * what no sandbox shows it. Node opens its own so that they are not passed on. Nothing to do where there is no /proc.
 */
export function closeInherited(): void {
  for (const name of openFiles()) {
    const fd = Number(name);
    try {
      if (fd > 2 && isPassedOn(readFileSync(`/proc/self/fdinfo/${name}`, "utf8"))) closeSync(fd);
    } catch (error) {
      // The one that the list itself was read with is gone by now.
      if (errnoOf(error) === undefined) throw error;
    }
  }
}

function openFiles(): string[] {
  try {
    return readdirSync("/proc/self/fd");
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}
