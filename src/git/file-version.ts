import { lstatSync } from "node:fs";

/**
 * Tells one version of a file from another without opening it: of its times, no program can set that of the last change. Git writes a file
 * beside the old one and puts it in its place, so a new version is another file, too. "" when there is none.
 */
export function fileVersion(path: string | Buffer): string {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(" ") : "";
}
