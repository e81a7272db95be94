import { lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import type { Files } from "./paths.ts";

/** The file system of this machine. What it does not tell is as good as absent: a program would not get there either. */
export const realFiles: Files = {
  link(path) {
    try {
      // Most are not links, and asking for the target of those would throw, which takes longer than all the rest.
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (!stats) return null;
      return stats.isSymbolicLink() ? readlinkSync(path) : undefined;
    } catch {
      return undefined;
    }
  },
  kind(path) {
    try {
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats?.isDirectory() ? "folder" : stats && "file";
    } catch {
      return undefined;
    }
  },
  entries(path) {
    try {
      const all = readdirSync(path, { withFileTypes: true });
      return {
        links: all.filter((one) => one.isSymbolicLink()).map(({ name }) => name),
        folders: all.filter((one) => one.isDirectory()).map(({ name }) => name),
        others: all.filter((one) => !one.isSymbolicLink() && !one.isDirectory()).map(({ name }) => name),
      };
    } catch {
      return { links: [], folders: [], others: [] };
    }
  },
};
