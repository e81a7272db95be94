import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";
import { isMissing } from "../../kernel/errors.ts";

const POLL_MS = 1000;

/**
 * Calls back when something changes in a directory that need not exist yet: then its nearest existing parent is
 * watched. Each call re-arms the watch, so the directory may also be replaced. Returns the end of it.
 */
export function watchDirectory(dir: string, onChange: () => void): () => void {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  let watched: number | undefined;
  let ended = false;

  const arm = (): void => {
    const inode = statSync(dir, { throwIfNoEntry: false })?.ino;
    if (watcher && inode !== undefined && inode === watched) return;
    watcher?.close();
    watcher = undefined;
    for (let path = dir; ; path = dirname(path)) {
      try {
        watcher = watch(path, () => changed());
        watcher.on("error", () => lost());
        watched = path === dir ? inode : undefined;
        return;
      } catch (error) {
        if (isMissing(error) && dirname(path) !== path) continue;
        // Out of watches: looking once a second is slower, and still right.
        timer ??= setInterval(onChange, POLL_MS);
        return;
      }
    }
  };
  const lost = (): void => {
    watched = undefined;
    changed();
  };
  const changed = (): void => {
    if (ended) return;
    arm();
    onChange();
  };

  arm();
  return () => {
    ended = true;
    watcher?.close();
    clearInterval(timer);
  };
}
