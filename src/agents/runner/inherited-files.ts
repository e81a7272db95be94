import { closeSync, readdirSync, readFileSync } from "node:fs";
import { unlessRefused } from "../../kernel/errors.ts";

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
  for (const name of unlessRefused(() => readdirSync("/proc/self/fd")) ?? []) {
    const fd = Number(name);
    // The one that the list itself was read with is gone by now.
    unlessRefused(() => {
      if (fd > 2 && isPassedOn(readFileSync(`/proc/self/fdinfo/${name}`, "utf8"))) closeSync(fd);
    });
  }
}
