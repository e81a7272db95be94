import { sep } from "node:path";

/** Whether `path` is `folder` or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === sep || path.startsWith(`${folder}${sep}`);
}
