import { type Stats, statSync } from "node:fs";
import { unlessRefused } from "../../kernel/errors.ts";
import { lstatIfThere } from "../../kernel/lstat.ts";

/** Tells one version of a file from another without opening it. */
export type StatKey = string;

export function statKeyOf(stat: Stats): StatKey {
  return `${stat.mtimeMs}:${stat.size}:${stat.ino}`;
}

/** When the file was last written, ms since the epoch: the first part of its key. */
export function writtenAt(key: StatKey): number {
  return Number.parseFloat(key);
}

/** Undefined when there is no regular file at the path. */
export function statKey(path: string): StatKey | undefined {
  return keyIn(lstatIfThere(path));
}

/** The same of a stat that was taken, if it was of anything. */
export function keyIn(stat: Stats | undefined): StatKey | undefined {
  return stat?.isFile() ? statKeyOf(stat) : undefined;
}

/** The stat of the regular file that a path leads to; undefined when it leads to none, for whatever reason (a link to itself). */
export function statRegular(path: string): Stats | undefined {
  const stat = unlessRefused(() => statSync(path));
  return stat?.isFile() ? stat : undefined;
}
