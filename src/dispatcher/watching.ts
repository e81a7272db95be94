import { type FSWatcher, statSync, watch } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../kernel/errors.ts";
import { ensureLinks } from "./layout.ts";
import type { Loom } from "./loom.ts";

export interface Watching {
  /** Watches again what was replaced since: `git clean -xfd` in the checkout takes the inbox away, and people put it back. */
  rearm(): void;
  close(): void;
}

/** Directories only, never recursive. A watch that cannot be had costs only time: the safety tick finds everything. */
export function watchDirs(loom: Loom, onChange: () => void): Watching {
  const watched = new Map<string, { inode: number; watcher: FSWatcher }>();
  const arm = (dir: string): void => {
    try {
      const inode = statSync(dir).ino;
      if (watched.get(dir)?.inode === inode) return;
      watched.get(dir)?.watcher.close();
      const watcher = watch(dir, onChange);
      watcher.on("error", (error) =>
        loom.report({ level: "warn", text: `watching ${dir} failed: ${messageOf(error)}` }),
      );
      watched.set(dir, { inode, watcher });
    } catch (error) {
      loom.report({ level: "warn", text: `cannot watch ${dir} (${messageOf(error)}); looking every 30 s instead` });
    }
  };
  const rearm = (): void => {
    ensureLinks(loom.paths);
    for (const dir of [loom.paths.inbox, join(loom.paths.commonDir, "refs", "heads")]) arm(dir);
  };
  rearm();
  return {
    rearm,
    close: () => {
      for (const { watcher } of watched.values()) watcher.close();
    },
  };
}
