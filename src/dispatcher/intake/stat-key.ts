import { lstatSync, type Stats } from "node:fs";

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
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? statKeyOf(stat) : undefined;
}
